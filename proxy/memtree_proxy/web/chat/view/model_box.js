/** The box that names the model: one of the list, or any name that is typed. */
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";

const AT_ONCE = 100;
const id = "model";

/**
 * @param {string[]} models
 * @param {string} typed
 * @returns {string[]} those that hold every typed word, in the order of the list
 */
export function matching(models, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  return models.filter((model) => words.every((word) => model.toLowerCase().includes(word)));
}

/**
 * The model that is meant by a name, or by a part of one.
 * @param {string[]} models
 * @param {string} typed
 * @param {boolean} entered with Enter; otherwise the box was only left
 * @returns {string | null} null: that is not certain
 */
export function meant(models, typed, entered) {
  const name = typed.trim();
  const found = matching(models, name);
  const same = found.find((model) => model.toLowerCase() === name.toLowerCase());
  if (found.includes(name) || found.length === 0) return name;
  return same ?? (entered && found.length === 1 ? found[0] : null);
}

/**
 * @param {{models: ReturnType<typeof import("../desk/models.js").useModels>, value: string,
 *   lack: boolean, onChoose: (model: string) => void}} props `lack`: somebody wanted to send without
 */
export function ModelBox({ models, value, lack, onChoose }) {
  const [typed, setTyped] = useState(null); // null: closed
  const [at, setAt] = useState(-1);
  const field = useRef(null);
  const list = useRef(null);
  const open = typed !== null;
  const found = open ? matching(models.models, typed === value ? "" : typed) : [];
  const shown = found.slice(0, AT_ONCE);
  const name = open ? typed.trim() : "";
  const partial = name !== "" && name !== value && found.length > 0 && !found.includes(name);
  const options = partial ? [...shown, name] : shown; // some upstreams know more than they list

  useLayoutEffect(() => {
    list.current.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at]);
  useLayoutEffect(() => {
    if (lack) field.current.focus(); // somebody wanted to send: the next thing is to choose
  }, [lack]);
  const begin = () => {
    if (open) return;
    setTyped(value);
    setAt(-1);
    field.current.select();
  };
  const end = (model) => {
    setTyped(null);
    if (model !== null && model.trim() && model.trim() !== value) onChoose(model.trim());
  };
  const move = (step) => {
    if (!open) begin();
    else if (options.length) {
      setAt((at + step + options.length + (at < 0 && step < 0 ? 1 : 0)) % options.length);
    }
  };
  const wanted = (entered) => {
    return name === "" || name === value ? value : meant(models.models, name, entered);
  };
  const enter = () => {
    const model = options[at] ?? wanted(true);
    if (model === null) setAt(0); // the next Enter takes it
    else end(model);
  };
  const press = (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") enter();
    else if (event.key === "Escape" && open) end(null);
    else return;
    event.preventDefault();
  };
  return html`<div class="model-box">
    <input
      ref=${field}
      class="input"
      role="combobox"
      aria-label="Model"
      aria-autocomplete="list"
      aria-expanded=${open && options.length > 0}
      aria-controls=${`${id}-list`}
      aria-activedescendant=${open && at >= 0 && at < options.length ? `${id}-${at}` : undefined}
      aria-invalid=${lack}
      aria-describedby=${lack ? `${id}-lack` : undefined}
      autocomplete="off"
      spellcheck="false"
      maxlength="200"
      placeholder=${models.loading ? "Loading models" : "Choose a model"}
      value=${open ? typed : value}
      onFocus=${begin}
      onClick=${begin}
      onBlur=${() => open && end(wanted(false))}
      onInput=${(event) => {
        setTyped(event.target.value);
        setAt(-1);
      }}
      onKeyDown=${press}
    />
    <ul ref=${list} id=${`${id}-list`} class="model-list" role="listbox" aria-label="Models" hidden=${!open || !options.length}>
      ${options.map(
        (model, index) => html`<li
          key=${model}
          id=${`${id}-${index}`}
          role="option"
          aria-selected=${index === at}
          class=${model === value ? "current" : ""}
          onMouseDown=${(event) => {
            event.preventDefault(); // the field keeps the focus
            end(model);
          }}
        >
          ${index < shown.length ? model : `Use “${model}” as it is typed`}
        </li>`,
      )}
      ${found.length > shown.length &&
      html`<li role="option" aria-disabled="true" aria-selected="false" class="hint">
        ${found.length - shown.length} more: type a part of the name
      </li>`}
    </ul>
    ${lack && html`<p id=${`${id}-lack`} class="model-lack" role="alert">Choose a model first.</p>`}
  </div>`;
}
