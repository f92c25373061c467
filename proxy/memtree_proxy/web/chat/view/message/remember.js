/**
 * "Remember this": a short message is saved at once; a long one, or a selection, opens in an
 * editor first. What a new memory may replace is offered with one click.
 */
import { html, useLayoutEffect, useRef, useState } from "../../../vendor/preact.js";
import { SHORT, remember } from "../../../memories/remember.js";
import { chatSource } from "../../../memories/sources.js";
import { toast } from "../../../shell/toasts.js";
import { Icon } from "../../../shell/icons.js";
import { lines } from "./drafts.js";

let dismissLast = () => {};

/** One message at a time: many may be remembered in a row. */
function tell(text) {
  dismissLast();
  dismissLast = toast(text, { kind: "success", seconds: 4 });
}

/** The selected text, where it lies inside of a message. */
function selectedIn(element) {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !element) return "";
  const inside = element.contains(selection.anchorNode) && element.contains(selection.focusNode);
  return inside ? selection.toString().trim() : "";
}

/**
 * @param {import("../../conversation/branches.js").Message} message
 * @param {{countAgain: () => void}} memories
 * @param {() => void} onRemembered
 * @returns {{button: unknown, below: unknown}} what stands in the bar, and what stands below it
 */
export function useRemember(message, memories, onRemembered) {
  const [state, setState] = useState(() => begun(message.id));
  const button = useRef(null);
  const source = chatSource(message.chat);

  /** Before a box with the focus goes away. */
  const keepFocus = () => {
    const box = document.activeElement?.closest(".memory-line, .memory-offer");
    if (box && button.current?.closest("article") === box.closest("article")) button.current.focus();
  };
  const edit = (text, problem) => {
    lines.set(message.id, text);
    setState({ step: "editing", text, problem, focused: true });
  };
  const save = async (text) => {
    keepFocus();
    setState((before) => ({ ...before, step: "saving" }));
    try {
      const saved = await remember(source, text, { messageId: message.id });
      lines.delete(message.id);
      setState({ step: saved.updates.length ? "offered" : "done", saved });
      const said = saved.updates.length ? "Remembered." : saved.said;
      tell(said);
      if (saved.status === "created") onRemembered();
      memories.countAgain();
    } catch (error) {
      edit(text, error.message);
    }
  };
  const press = () => {
    if (state.step === "saving") return;
    const selected = selectedIn(button.current.closest("article")?.querySelector(".message-body"));
    if (selected || message.text.length > SHORT) edit(selected || message.text);
    else save(message.text);
  };
  const replace = async (update) => {
    try {
      await source.replace(state.saved.memory.id, update.id);
      tell("Replaced.");
      keepFocus();
      setState({ step: "done", saved: state.saved });
      memories.countAgain();
    } catch (error) {
      toast(`Not replaced: ${error.message}`, { kind: "problem" });
    }
  };
  const close = () => {
    lines.delete(message.id);
    setState({ step: "idle" });
    button.current?.focus();
  };
  const done = state.step === "done" || state.step === "offered";
  const shown = html`<button
    ref=${button}
    type="button"
    class=${`button small quiet remember ${done ? "done" : ""}`}
    aria-expanded=${state.step === "editing" ? "true" : undefined}
    aria-disabled=${state.step === "saving" ? "true" : undefined}
    onMouseDown=${(event) => event.preventDefault() /* which keeps the selection */}
    onClick=${press}
  >
    <${Icon} name=${done ? "check" : "bookmark"} />
    ${done ? "Remembered" : "Remember this"}
  </button>`;
  if (state.step === "editing") {
    const write = (text) => lines.set(message.id, text);
    const line = html`<${MemoryLine} ...${state} onInput=${write} onSave=${save} onCancel=${close} />`;
    return { button: shown, below: line };
  }
  if (state.step !== "offered") return { button: shown, below: null };
  const keep = () => {
    keepFocus();
    setState({ step: "done", saved: state.saved });
  };
  const offer = html`<${Offer} updates=${state.saved.updates} onReplace=${replace} onKeep=${keep} />`;
  return { button: shown, below: offer };
}

/** A line that was open when its message went out of sight is open again. */
function begun(id) {
  return lines.has(id) ? { step: "editing", text: lines.get(id), focused: false } : { step: "idle" };
}

function MemoryLine({ text, problem, focused, onInput, onSave, onCancel }) {
  const [value, setValue] = useState(text);
  const field = useRef(null);
  useLayoutEffect(() => {
    if (focused) field.current.focus();
  }, []);
  const save = (event) => {
    event.preventDefault();
    if (value.trim()) onSave(value.trim());
  };
  const press = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter" && !event.shiftKey) save(event);
  };
  return html`<form class="memory-line" onSubmit=${save}>
    <textarea
      ref=${field}
      class="input"
      dir="auto"
      aria-label="What to remember"
      aria-invalid=${Boolean(problem)}
      aria-describedby=${problem ? "memory-line-problem" : undefined}
      value=${value}
      onInput=${(event) => {
        onInput(event.target.value);
        setValue(event.target.value);
      }}
      onKeyDown=${press}
    ></textarea>
    <button type="submit" class="button small primary" disabled=${!value.trim()}>Remember</button>
    <button type="button" class="button small" onClick=${onCancel}>Cancel</button>
    <span class="hint">Enter saves, Shift+Enter makes a new line, Esc cancels</span>
    ${problem && html`<p id="memory-line-problem" class="field-problem" role="alert">${problem}</p>`}
  </form>`;
}

function Offer({ updates, onReplace, onKeep }) {
  return html`<div class="note memory-offer">
    ${updates.map(
      (update) => html`<div key=${update.id} class="row">
        <p class="grow">
          It differs from “${update.text}”${update.differs.length > 0 && ` (${update.differs.join(", ")})`}.
        </p>
        <button type="button" class="button small" onClick=${() => onReplace(update)}>
          Replace the old one
        </button>
        ${updates.length === 1 && html`<${KeepButton} onKeep=${onKeep}>Keep both<//>`}
      </div>`,
    )}
    ${updates.length > 1 && html`<${KeepButton} onKeep=${onKeep}>Keep all<//>`}
  </div>`;
}

function KeepButton({ onKeep, children }) {
  return html`<button type="button" class="button small quiet" onClick=${onKeep}>${children}</button>`;
}
