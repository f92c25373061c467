/** Whose memories are shown: a user's, an agent's, or those of a chat. */
import { html, useEffect, useLayoutEffect, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";
import { agentSource, chatSource, userSource } from "../sources.js";

const KINDS = [
  { kind: "user", title: "User" },
  { kind: "agent", title: "Agents" },
  { kind: "chat", title: "Chat" },
];
const ID = "[A-Za-z0-9._~:@\\-]{1,200}";
const READ = 200; // memories of agents in which their names are looked for

/** @param {import("./use_hash.js").Place["whose"]} whose */
export function sourceOf(whose) {
  if (whose.kind === "agent") return agentSource(whose);
  if (whose.kind === "chat") return chatSource(whose.chatId || "none");
  return userSource(whose);
}

/** @param {{whose: object, choose: (whose: object) => void}} props */
export function Whose({ whose, choose }) {
  const kind = (one) => {
    if (one === whose.kind) return;
    if (one === "agent") choose({ kind: "agent", agentId: "*", subjectId: "*" });
    else if (one === "chat") choose({ kind: "chat", chatId: "" });
    else choose({ kind: "user" });
  };
  return html`
    <div class="row memories-whose">
      <div class="segments" role="group" aria-label="Whose memories">
        ${KINDS.map(
          (one) => html`
            <button
              key=${one.kind}
              type="button"
              class="button small"
              aria-pressed=${whose.kind === one.kind}
              onClick=${() => kind(one.kind)}
            >
              ${one.title}
            </button>
          `,
        )}
      </div>
      ${whose.kind === "user" && html`<${UserField} ...${{ whose, choose }} />`}
      ${whose.kind === "agent" && html`<${AgentFields} ...${{ whose, choose }} />`}
      ${whose.kind === "chat" && html`<${ChatField} ...${{ whose, choose }} />`}
    </div>
  `;
}

function UserField({ whose, choose }) {
  return html`<${IdField} label="User id" placeholder="the key's own" value=${whose.userId || ""}
    set=${(userId) => choose({ kind: "user", ...(userId ? { userId } : {}) })} />`;
}

function ChatField({ whose, choose }) {
  return html`<${IdField} label="Chat id" placeholder="as in x-chat-id" value=${whose.chatId || ""}
    set=${(chatId) => choose({ kind: "chat", chatId })} />`;
}

function AgentFields({ whose, choose }) {
  const [known, setKnown] = useState([]);
  useEffect(() => {
    const query = { agentId: "*", subjectId: "*", limit: READ };
    call("GET", "/memories", { query }).then(
      ({ json }) => setKnown(json.memories.map((row) => row.metadata)),
      () => setKnown([]),
    );
  }, []);
  const names = (field, rows) => [...new Set(rows.map((row) => row[field]).filter(Boolean))].sort();
  const of = known.filter((row) => whose.agentId === "*" || row.agentId === whose.agentId);
  const every = (value) => (value === "*" ? "" : value);
  return html`
    <${IdField} label="Agent" placeholder="every agent" value=${every(whose.agentId)}
      names=${names("agentId", known)}
      set=${(agentId) => choose({ kind: "agent", agentId: agentId || "*", subjectId: "*" })} />
    <${IdField} label="Subject" placeholder="every subject" value=${every(whose.subjectId ?? "")}
      names=${names("subjectId", of)} none=${whose.subjectId === undefined}
      set=${(subjectId) => choose({ ...whose, subjectId: subjectId || "*" })} />
    <label class="check">
      <input
        type="checkbox"
        checked=${whose.subjectId === undefined}
        onChange=${(event) =>
          choose(
            event.target.checked
              ? { kind: "agent", agentId: whose.agentId }
              : { ...whose, subjectId: "*" },
          )}
      />
      <span>About nobody in particular</span>
    </label>
  `;
}

/** A field whose value counts once it is complete: on Enter, or when it is left. */
function IdField({ label, placeholder, value, set, names = null, none = false }) {
  const [typed, setTyped] = useState(value);
  useLayoutEffect(() => setTyped(value), [value]);
  const list = `names-of-${label.toLowerCase().replace(" ", "-")}`;
  const commit = (event) => {
    const given = event.target.value.trim();
    if (given !== value && event.target.checkValidity()) set(given);
  };
  return html`
    <label class="memories-id">
      <span>${label}</span>
      <input
        class="input"
        value=${typed}
        placeholder=${placeholder}
        pattern=${ID}
        title="1 to 200 letters, digits and . _ ~ : @ -"
        spellcheck="false"
        autocapitalize="none"
        autocomplete="off"
        disabled=${none}
        list=${names ? list : undefined}
        onInput=${(event) => setTyped(event.target.value)}
        onChange=${commit}
        onKeyDown=${(event) => event.key === "Enter" && commit(event)}
      />
      ${names && html`<datalist id=${list}>${names.map((name) => html`<option key=${name} value=${name} />`)}</datalist>`}
    </label>
  `;
}
