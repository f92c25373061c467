/** A message while it is being changed. */
import { html, useLayoutEffect, useRef, useState } from "../../../vendor/preact.js";
import { edits } from "./drafts.js";

/**
 * @param {{message: import("../../conversation/branches.js").Message, busy: boolean,
 *   focused: boolean, onEnd: (text: string | null) => void}} props `busy`: an answer grows, so that
 *   nothing can be asked; `focused`: somebody has just opened the box; `onEnd`: null where nothing is
 *   to be changed
 */
export function EditBox({ message, busy, focused, onEnd }) {
  const { id, text } = message;
  const sends = message.role === "user"; // a changed question is asked again
  const [value, setValue] = useState(edits.get(id) ?? text);
  const field = useRef(null);
  useLayoutEffect(() => {
    if (!focused) return;
    field.current.focus();
    field.current.setSelectionRange(value.length, value.length);
  }, []);
  const write = (event) => {
    edits.set(id, event.target.value);
    setValue(event.target.value);
  };
  const words = value.trim();
  const save = (event) => {
    event.preventDefault();
    if (words && !busy) onEnd(words === text ? null : words);
  };
  const press = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") onEnd(null);
    if (event.key === "Enter" && !event.shiftKey && sends) save(event);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
  };
  return html`<form class="edit-box" onSubmit=${save}>
    <textarea
      ref=${field}
      class="input"
      aria-label=${sends ? "Your message" : "The answer"}
      value=${value}
      onInput=${write}
      onKeyDown=${press}
    ></textarea>
    <p class="hint" role="status">${hint(sends, busy)}</p>
    <div class="row end">
      <button type="button" class="button small" onClick=${() => onEnd(null)}>Cancel</button>
      <button type="submit" class="button small primary" disabled=${!words || busy}>
        ${sends ? "Send" : "Save"}
      </button>
    </div>
  </form>`;
}

function hint(sends, busy) {
  if (busy) return `You can ${sends ? "send" : "save"} this when the answer is complete.`;
  return sends
    ? "The old message stays: you can go back to it with the arrows."
    : "The old answer stays. Ctrl + Enter saves.";
}
