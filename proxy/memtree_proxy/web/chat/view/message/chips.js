/** What memory did for an answer: its state in words, tokens, the memories that were used. */
import { html, useState } from "../../../vendor/preact.js";
import { count } from "../../../shell/format.js";
import { inWords } from "../../../shell/memory_state.js";

let lastNumber = 0;

/**
 * @param {{message: object, foldsAt: number | null, onOpen: (ids: string[]) => void}} props of the
 *   message `memory`, as `memoryOf` reads it, and `changedMemories`; `onOpen` shows memories
 */
export function MemoryChips({ message: { memory, changedMemories = [] }, foldsAt, onOpen }) {
  const state = inWords(memory.state, memory.reason, foldsAt);
  const used = memory.memories.length;
  const folded = memory.raw !== null && memory.sent !== null && memory.raw !== memory.sent;
  return html`<div class="message-chips">
    ${state && html`<${Explained} kind=${state.kind} label=${state.label} text=${state.text} />`}
    ${memory.raw !== null &&
    html`<span class="chip number">
      ${folded
        ? html`<span class="visually-hidden">Tokens: </span>${count(memory.raw)} → ${count(memory.sent)} tokens`
        : `${count(memory.raw)} tokens`}
    </span>`}
    ${used > 0 &&
    html`<button type="button" class="chip info" onClick=${() => onOpen(memory.memories)}>
      ${used === 1 ? "1 memory used" : `${used} memories used`}
    </button>`}
    ${changedMemories.length > 0 &&
    html`<button type="button" class="chip good" onClick=${() => onOpen(changedMemories)}>Memory updated</button>`}
    ${memory.degraded &&
    html`<span class="chip warning">Memories in part: ${memory.degraded.slice(0, 80)}</span>`}
  </div>`;
}

/** A word with its explanation: on hover, on focus, on a press. */
function Explained({ kind, label, text }) {
  const [id] = useState(() => `explained-${++lastNumber}`);
  const [hidden, setHidden] = useState(false);
  const close = (event) => event.key === "Escape" && setHidden(true);
  return html`<span class=${`explained ${hidden ? "closed" : ""}`} onMouseLeave=${() => setHidden(false)}>
    <button
      type="button"
      class=${`chip ${kind === "plain" ? "" : kind}`}
      aria-describedby=${text ? id : undefined}
      onKeyDown=${close}
      onBlur=${() => setHidden(false)}
    >
      ${label}
    </button>
    ${text && html`<span role="tooltip" id=${id} class="explanation">${text}</span>`}
  </span>`;
}
