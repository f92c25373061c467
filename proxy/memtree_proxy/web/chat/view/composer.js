/** The box to write in. What is typed outlives a reload. */
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "../../shell/icons.js";

const KEEP_AFTER = 400; // ms without a key

/**
 * @param {Object} props
 * @param {{current: {focus: () => void, fill: (text: string) => void, submit: () => void} | null}}
 *   props.handle
 * @param {import("../conversation/conversation.js").Conversation} props.conversation
 * @param {string | null} props.growing the answer that may be stopped
 * @param {boolean} props.held what stands there is sent as soon as the models are known
 * @param {() => void} props.onWrite it is being changed
 * @param {(text: string) => boolean} props.onSend false: it was not sent, and stays
 */
export function Composer({ handle, conversation, growing, held, onWrite, onSend }) {
  const [text, setText] = useState(conversation.chat.draft);
  const field = useRef(null);
  const latest = useRef(text);
  latest.current = text;

  handle.current = {
    submit: () => send(),
    focus: () => field.current?.focus(),
    fill(words) {
      setText(words);
      field.current.focus();
    },
  };
  useEffect(() => {
    const timer = setTimeout(() => conversation.draft(text), KEEP_AFTER);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const keep = () => conversation.draft(latest.current);
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, [conversation]);

  const send = (event) => {
    event?.preventDefault();
    if (growing) return;
    const words = text.trim();
    if (!words || !onSend(words)) return;
    setText("");
    conversation.draft("");
  };
  const press = (event) => {
    if (event.isComposing) return; // Enter ends a word there
    if (event.key === "Enter" && !event.shiftKey) send(event);
    if (event.key === "Escape" && growing) conversation.stop();
  };
  return html`<form class="composer" onSubmit=${send}>
    <div class="composer-box">
      <textarea
        ref=${field}
        id="composer"
        dir="auto"
        rows="1"
        aria-label="Message"
        aria-describedby="composer-hint"
        placeholder="Write a message"
        value=${text}
        onInput=${(event) => {
          setText(event.target.value);
          onWrite();
        }}
        onKeyDown=${press}
      ></textarea>
      ${growing
        ? html`<button key="stop" type="button" class="button composer-button" onClick=${() => conversation.stop()}>
            <${Icon} name="stop" /> Stop
          </button>`
        : html`<button key="send" type="submit" class="button primary composer-button" disabled=${!text.trim()}>
            <${Icon} name="send" /> Send
          </button>`}
    </div>
    <p class="hint composer-held" role="status">
      ${held && "Your message is sent as soon as the models are known. Typing more stops that."}
    </p>
    <p class="hint composer-hint" id="composer-hint">
      <kbd>Enter</kbd> sends, <kbd>Shift</kbd> + <kbd>Enter</kbd> adds a line${growing &&
      html`, <kbd>Esc</kbd> stops`}
    </p>
  </form>`;
}
