/** What a memory said before, and what it replaced. */
import { html, useEffect, useState } from "../../vendor/preact.js";
import { Dialog } from "../../shell/dialog.js";
import { Time } from "../../shell/format.js";
import { Loading, Problem } from "../../shell/states.js";
import { dataText } from "../rows.js";

/**
 * @param {object} props
 * @param {import("../rows.js").Memory} props.memory
 * @param {import("../sources.js").Source} props.source
 * @param {() => void} props.onClose
 */
export function History({ memory, source, onClose }) {
  const [past, setPast] = useState(null);
  const [error, setError] = useState(null);
  const read = () => {
    setError(null);
    source.history(memory.id).then(setPast, setError);
  };
  useEffect(read, []);
  return html`
    <${Dialog} title="History" class="large" onClose=${onClose}>
      ${error && html`<${Problem} error=${error} title="The history cannot be read" retry=${read} />`}
      ${!past && !error && html`<${Loading} rows=${2} />`}
      ${past && html`<${Versions} versions=${past.versions} now=${true} />`}
      ${past?.replaced.map(
        (one) => html`
          <h3 key=${one.id}>Replaced <${Time} at=${one.replaced_at} /></h3>
          <${Versions} versions=${one.versions} />
        `,
      )}
    <//>
  `;
}

function Versions({ versions, now = false }) {
  return html`
    <ol class="memory-versions">
      ${said(versions).map(
        (one, index) => html`
          <li key=${one.version}>
            <p class="memory-text" dir="auto">${one.text ?? one.content ?? dataText(one.data)}</p>
            <p class="memory-about">
              ${now && index === 0 && html`<span class="chip good">now</span>`}
              <span>version ${one.version}</span>
              <span><${Time} at=${one.at} /></span>
              ${one.category && html`<span>${one.category}</span>`}
              ${one.tainted && html`<span class="chip warning">Not confirmed</span>`}
            </p>
          </li>
        `,
      )}
    </ol>
  `;
}

/** Without versions that say what the one before them said: they only note that it replaced one. */
function said(versions) {
  const content = ({ version, at, ...rest }) => JSON.stringify(rest);
  return versions.filter(
    (one, index) => index === versions.length - 1 || content(one) !== content(versions[index + 1]),
  );
}
