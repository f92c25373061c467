/** The question for the key; asked once at a time, whoever needs it. */

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Dialog, openDialog } from "./dialog.js";
import { key, setKey } from "./key.js";

let asking = null;

/**
 * @param {string | null} refusal what the server said of the last key; null: nobody was asked yet
 * @returns {Promise<boolean>} whether there is an answer. Who closes the first question goes on
 *   without a key; who closes a later one keeps the key that was refused.
 */
export function askForKey(refusal) {
  asking ??= openDialog((answer) => html`<${KeyDialog} refusal=${refusal} answer=${answer} />`)
    .then((given) => {
      if (given === null && key() === null) setKey("");
      else if (given === null) return false;
      else setKey(given);
      return true;
    })
    .finally(() => {
      asking = null;
    });
  return asking;
}

function KeyDialog({ refusal, answer }) {
  const [value, setValue] = useState("");
  const [shown, setShown] = useState(false);
  const field = useRef(null);
  useLayoutEffect(() => field.current.focus(), []);
  const bad = value.trim() !== "" && !/^[\x21-\x7e]+$/.test(value.trim());
  const save = (event) => {
    event.preventDefault();
    if (!bad) answer(value.trim());
  };
  return html`
    <${Dialog} title="Which key does your client use?" onClose=${() => answer(null)}>
      <form onSubmit=${save} autocomplete="off">
        ${refusal && html`<p class="note problem" role="alert">${refusal}</p>`}
        <p>
          With the same key this page sees the same memories and conversations. It stays in this
          tab and is forgotten when you close it.
        </p>
        <label class="field">
          <span>Key</span>
          <input
            ref=${field}
            type=${shown ? "text" : "password"}
            name="memtree-key"
            autocomplete="off"
            spellcheck="false"
            autocapitalize="none"
            aria-describedby="key-hint"
            aria-invalid=${bad}
            value=${value}
            onInput=${(event) => setValue(event.target.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked=${shown}
            onChange=${(event) => setShown(event.target.checked)}
          />
          <span>Show the key</span>
        </label>
        <p id="key-hint" class="hint">
          ${bad
            ? "A key has no spaces and no letters beyond ASCII."
            : "It is what the client sends as Authorization: Bearer."}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick=${() => answer("")}>
            Continue without a key
          </button>
          <button type="submit" class="button primary" disabled=${value.trim() === "" || bad}>
            Use this key
          </button>
        </div>
      </form>
    <//>
  `;
}
