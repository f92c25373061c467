/** The switches of a user's memories. */
import { html, useEffect, useLayoutEffect, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";
import { Dialog } from "../../shell/dialog.js";
import { Loading, Problem } from "../../shell/states.js";

const PATH = "/memories/settings";

/** @param {{source: import("../sources.js").Source, onClose: () => void}} props */
export function Settings({ source, onClose }) {
  const [settings, setSettings] = useState(null);
  const [error, setError] = useState(null);
  const [said, setSaid] = useState("");
  const { headers } = source;
  const read = () => {
    setError(null);
    call("GET", PATH, { headers }).then(({ json }) => setSettings(json), setError);
  };
  useEffect(read, []);
  const change = async (body) => {
    const before = settings;
    setSettings({ ...settings, ...body });
    setError(null);
    setSaid("");
    try {
      setSettings((await call("PATCH", PATH, { body, headers })).json);
      setSaid("Saved.");
    } catch (failed) {
      setSettings(before);
      setError(failed);
    }
  };
  return html`
    <${Dialog} title="Settings of memories" onClose=${onClose}>
      ${error &&
      html`<${Problem} error=${error} title="Not saved" retry=${settings ? null : read} />`}
      ${!settings && !error && html`<${Loading} rows=${2} />`}
      ${settings && html`<${Fields} settings=${settings} change=${change} />`}
      <p class="hint" role="status">${said}</p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick=${onClose}>Done</button>
      </div>
    <//>
  `;
}

function Fields({ settings, change }) {
  const free = settings.plan === "free";
  const flip = (name, title, hint) => html`
    <label class="check">
      <input
        type="checkbox"
        checked=${settings[name]}
        disabled=${free && !settings[name]}
        aria-describedby=${`about-${name}`}
        onChange=${(event) => change({ [name]: event.target.checked })}
      />
      <span>${title}</span>
    </label>
    <p class="hint memories-indent" id=${`about-${name}`}>${hint}</p>
  `;
  const number = (name, title, limits) => html`
    <${NumberField} ...${{ title, limits }} value=${settings[name]}
      set=${(value) => change({ [name]: value })} />
  `;
  return html`
    ${free &&
    html`<p class="note">
      The plan of this key is "free": nothing is made of conversations. Whoever runs the server sets
      it, with <code>memtree keys plan</code>.
    </p>`}
    ${flip(
      "memories_save_enabled",
      "Remember from conversations",
      "Memories are made out of what you write, and those that fit stand beside your messages.",
    )}
    ${flip(
      "memories_chat_history_enabled",
      "Keep snapshots of conversations",
      "Every fifth message of yours leaves a short record of what the conversation was about.",
    )}
    ${number("top_k", "Memories beside a message, at most", { min: 1, max: 20, step: 1 })}
    ${number("score_threshold", "Relevance that they need (0 to 1)", { min: 0, max: 1, step: 0.05 })}
  `;
}

/** What is typed stays until it counts, also where an answer comes in meanwhile. */
function NumberField({ title, limits, value, set }) {
  const [typed, setTyped] = useState(value);
  useLayoutEffect(() => setTyped(value), [value]);
  return html`
    <label class="field">
      <span>${title}</span>
      <input
        type="number"
        ...${limits}
        value=${typed}
        onInput=${(event) => setTyped(event.target.value)}
        onChange=${(event) => event.target.value !== "" && set(Number(event.target.value))}
      />
    </label>
  `;
}
