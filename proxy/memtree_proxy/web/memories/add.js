/** Writing a memory by hand. */
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { tagsOf } from "./list/use_drafts.js";
import { remember } from "./remember.js";

/**
 * @param {object} props
 * @param {import("./sources.js").Source} props.source
 * @param {boolean} [props.tagged] Whether tags are asked for.
 * @param {(memory: import("./rows.js").Memory) => void} props.onAdded
 * @param {() => void} props.onClose
 */
export function AddMemory({ source, tagged = false, onAdded, onClose }) {
  const [text, setText] = useState("");
  const [tags, setTags] = useState("");
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState(null);
  const [said, setSaid] = useState("");
  const field = useRef(null);
  const form = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    field.current.focus();
    return () => {
      const here = document.activeElement;
      const lost = here === document.body || form.current?.contains(here);
      if (lost && before?.isConnected) before.focus();
    };
  }, []);
  const save = async () => {
    if (!text.trim() || saving) return;
    setSaving(true);
    setSaid("");
    setError(null);
    try {
      const named = tagsOf(tags);
      const result = await remember(source, text, named.length ? { tags: named } : {});
      setSaid(result.said);
      setText("");
      onAdded(result.memory);
    } catch (failed) {
      setError(failed);
    }
    setSaving(false);
  };
  const press = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault(); // the drawer around it stays
      onClose();
    }
    if (event.key !== "Enter" || event.shiftKey || event.target.tagName === "BUTTON") return;
    event.preventDefault();
    save();
  };
  return html`
    <div ref=${form} class="memories-add card" role="group" aria-label="Add a memory" onKeyDown=${press}>
      ${error &&
      html`<p class="note problem" role="alert">
        <strong>Not saved.</strong> ${error.message} Your text is still here.
      </p>`}
      <label class="field">
        <span>What should be remembered?</span>
        <textarea
          ref=${field}
          rows="2"
          value=${text}
          dir="auto"
          onInput=${(event) => setText(event.target.value)}
        ></textarea>
      </label>
      ${tagged &&
      html`<label class="field">
        <span>Tags, with commas (optional)</span>
        <input value=${tags} onInput=${(event) => setTags(event.target.value)} />
      </label>`}
      <div class="memory-buttons">
        <button
          type="button"
          class="button primary small"
          disabled=${!text.trim() || saving}
          onClick=${save}
        >
          ${saving ? "Saving…" : error ? "Try again" : "Remember"}
        </button>
        <button type="button" class="button quiet small" onClick=${onClose}>Close</button>
        <span class="hint" role="status">${said}</span>
      </div>
    </div>
  `;
}
