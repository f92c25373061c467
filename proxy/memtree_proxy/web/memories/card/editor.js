/** A memory while it is edited: in its place, by keyboard alone, losing nothing. */
import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { CATEGORIES } from "./labels.js";

/** Props as those of `MemoryCard`. */
export function Editor({ memory, source, draft, actions, label }) {
  const field = useRef(null);
  const whole = useRef(null);
  useLayoutEffect(() => {
    if (!draft.fresh) return;
    const { value } = field.current;
    field.current.focus({ preventScroll: true });
    field.current.setSelectionRange(value.length, value.length);
    requestAnimationFrame(() => whole.current?.scrollIntoView({ block: "nearest" }));
    actions.begun(memory);
  }, []);
  const { fields, saving, gone } = draft;
  const theirs = draft.theirs || (isNewer(memory, draft.base) ? memory : null);
  const ready = fields.text.trim() !== "" && !saving;
  const write = (name) => (event) => actions.write(memory, { [name]: event.target.value });
  const save = () => ready && actions.save(memory, theirs);
  const press = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      actions.cancel(memory);
    } else if (event.key === "Enter" && !event.shiftKey && event.target.tagName !== "BUTTON") {
      event.preventDefault();
      save();
    }
  };
  return html`
    <article
      ref=${whole}
      class="memory editing"
      aria-label=${`Edit memory: ${label}`}
      data-memory=${memory.id}
      onKeyDown=${press}
    >
      <div class="memory-body">
        ${theirs && !gone && html`<${Theirs} theirs=${theirs} />`}
        ${gone &&
        html`<p class="note warning" role="alert">
          This memory was deleted meanwhile. Your text is still here: save it as a new memory, or
          cancel.
        </p>`}
        ${draft.error &&
        html`<p class="note problem" role="alert">
          <strong>Not saved.</strong> ${draft.error.message} Your text is still here.
        </p>`}
        <label class="field">
          <span>${theirs ? "Your text" : "Text"}</span>
          <textarea
            ref=${field}
            rows=${Math.min(12, Math.max(2, Math.ceil(fields.text.length / 60)))}
            value=${fields.text}
            dir="auto"
            onInput=${write("text")}
          ></textarea>
        </label>
        <div class="memory-fields">
          <${Details} ...${{ memory, source, fields, write }} />
        </div>
        <div class="memory-buttons">
          <button
            type="button"
            class="button primary small"
            disabled=${!ready}
            onClick=${gone ? () => actions.saveAsNew(memory) : save}
          >
            ${saveLabel({ saving, gone, theirs, error: draft.error })}
          </button>
          ${theirs &&
          !gone &&
          html`<button type="button" class="button small" onClick=${() => actions.cancel(memory)}>
            Keep the other text
          </button>`}
          <button type="button" class="button quiet small" onClick=${() => actions.cancel(memory)}>
            Cancel
          </button>
          <span class="hint">Enter saves, Shift+Enter makes a new line, Esc cancels</span>
        </div>
      </div>
    </article>
  `;
}

function saveLabel({ saving, gone, theirs, error }) {
  if (saving) return "Saving…";
  if (gone) return "Save as a new memory";
  if (theirs) return "Save your text";
  return error ? "Try again" : "Save";
}

function Theirs({ theirs }) {
  return html`
    <div class="note warning" role="alert">
      <p>
        <strong>Changed elsewhere meanwhile.</strong> Nothing is lost: this is what it says now, and
        your text is below.
      </p>
      <blockquote class="memory-text" dir="auto">${theirs.text}</blockquote>
    </div>
  `;
}

function Details({ memory, source, fields, write }) {
  const known = CATEGORIES[source.kind];
  const all = known.includes(fields.category) || !fields.category ? known : [fields.category, ...known];
  const list = `categories-${memory.id}`;
  return html`
    ${source.kind === "chat" &&
    html`<label class="field">
      <span>Category</span>
      <select value=${fields.category} onChange=${write("category")}>
        ${all.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select>
    </label>`}
    ${source.kind === "user" &&
    html`<label class="field">
      <span>Category</span>
      <input list=${list} value=${fields.category} maxlength="64" onInput=${write("category")} />
      <datalist id=${list}>${known.map((one) => html`<option key=${one} value=${one} />`)}</datalist>
    </label>`}
    <label class="field">
      <span>Tags, with commas</span>
      <input value=${fields.tags} onInput=${write("tags")} />
    </label>
    ${source.kind !== "chat" &&
    html`<label class="field">
      <span>Expires</span>
      <input type="date" value=${fields.expires} onInput=${write("expires")} />
    </label>`}
  `;
}

function isNewer(memory, base) {
  return memory.version !== null && base.version !== null && memory.version > base.version;
}
