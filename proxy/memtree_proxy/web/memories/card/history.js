/** What a memory said before, what it replaced, and what it may replace. */
import { html, useEffect, useState } from "../../vendor/preact.js";
import { Dialog } from "../../shell/dialog.js";
import { Time } from "../../shell/format.js";
import { Loading, Problem } from "../../shell/states.js";
import { dataText } from "../rows.js";
import { excerpt } from "./labels.js";

const CANDIDATES = 5;
const LONGEST_QUERY = 1_000; // characters

/**
 * @param {object} props
 * @param {import("../rows.js").Memory} props.memory
 * @param {import("../sources.js").Source} props.source
 * @param {import("../list/use_actions.js").Actions} props.actions
 * @param {() => void} props.onClose
 */
export function History({ memory, source, actions, onClose }) {
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
      ${past && !memory.deleted && html`<${Older} ...${{ memory, source, actions, onClose }} />`}
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

/** The nearest others: one of them may be what this memory takes the place of. */
function Older({ memory, source, actions, onClose }) {
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const look = () => {
    setError(null);
    const query = memory.text.slice(0, LONGEST_QUERY);
    source.search(query, { limit: CANDIDATES + 1 }).then(
      ({ memories }) =>
        setFound(memories.filter((one) => one.id !== memory.id).slice(0, CANDIDATES)),
      setError,
    );
  };
  const replace = async (older) => {
    onClose();
    await actions.replace(memory, older);
  };
  if (error) return html`<${Problem} error=${error} retry=${look} />`;
  if (!found) {
    return html`<button type="button" class="button small" onClick=${look}>
      Does it replace another memory?
    </button>`;
  }
  return html`
    <h3>Does it replace one of these?</h3>
    ${!found.length && html`<p class="soft">There is no other memory near it.</p>`}
    <ul class="memory-versions">
      ${found.map(
        (one) => html`
          <li key=${one.id}>
            <p class="memory-text" dir="auto">${excerpt(one.text, 200)}</p>
            <button
              type="button"
              class="button small"
              aria-label=${`Replace: ${excerpt(one.text)}`}
              onClick=${() => replace(one)}
            >
              Replace it
            </button>
          </li>
        `,
      )}
    </ul>
  `;
}
