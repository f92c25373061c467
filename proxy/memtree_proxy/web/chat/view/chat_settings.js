/** The dialog of one chat's settings: its system prompt, and the temperature of its answers. */
import { html, useState } from "../../vendor/preact.js";
import { Dialog } from "../../shell/dialog.js";

const MOST = 100_000; // characters of a system prompt
const HOTTEST = 2;

/**
 * @param {string} typed
 * @returns {number | null | undefined} null: as the model has it; undefined: no temperature
 */
export function temperatureOf(typed) {
  const words = typed.trim().replace(",", ".");
  if (words === "") return null;
  const number = Number(words);
  return Number.isFinite(number) && number >= 0 && number <= HOTTEST ? number : undefined;
}

/**
 * @param {{conversation: import("../conversation/conversation.js").Conversation,
 *   onClose: () => void}} props
 */
export function ChatSettings({ conversation, onClose }) {
  const { chat } = conversation;
  const [system, setSystem] = useState(chat.system ?? "");
  const [typed, setTyped] = useState(String(chat.temperature ?? ""));
  const temperature = temperatureOf(typed);
  const wrong = temperature === undefined;
  const save = (event) => {
    event.preventDefault();
    if (wrong) return;
    conversation.setUp({ system: system.trim(), temperature });
    onClose();
  };
  return html`<${Dialog} title="Settings of this chat" onClose=${onClose}>
    <form onSubmit=${save}>
      <label class="field">
        <span>System prompt</span>
        <textarea
          class="input"
          dir="auto"
          rows="6"
          maxlength=${MOST}
          placeholder="Who the model is, and what holds for every answer"
          value=${system}
          onInput=${(event) => setSystem(event.target.value)}
        ></textarea>
      </label>
      <p class="hint">It is sent before the first message, and never folded.</p>
      <label class="field">
        <span>Temperature</span>
        <input
          class="input"
          inputmode="decimal"
          maxlength="8"
          placeholder="As the model has it"
          aria-invalid=${wrong}
          aria-describedby=${wrong ? "temperature-problem" : undefined}
          value=${typed}
          onInput=${(event) => setTyped(event.target.value)}
        />
      </label>
      ${wrong &&
      html`<p id="temperature-problem" class="field-problem" role="alert">
        A number from 0 to ${HOTTEST}, or nothing.
      </p>`}
      <div class="dialog-actions">
        <button type="button" class="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class="button primary" disabled=${wrong}>Save</button>
      </div>
    </form>
  <//>`;
}
