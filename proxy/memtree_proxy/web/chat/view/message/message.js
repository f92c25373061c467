/** One message: who says it, what it says, what can be done with it. */
import { Component, html } from "../../../vendor/preact.js";
import { count } from "../../../shell/format.js";
import { Markdown } from "../../../shell/markdown.js";
import { MessageActions } from "./actions.js";
import { MemoryChips } from "./chips.js";
import { edits } from "./drafts.js";
import { EditBox } from "./edit_box.js";
import { FailureNote } from "./failure_note.js";
import { GrowingText } from "./growing_text.js";
import { Reasoning, Tools } from "./parts.js";

const LONG = 6000; // characters of an old message that is shown in part
const PART = 1500;
const RECENT = 4; // messages at the end that are shown whole

const SHOWN = ["message", "number", "of", "growing", "busy", "sentAt"];

/** Drawn again only where something of it changed: there may be thousands. */
export class MessageItem extends Component {
  constructor(props) {
    super(props);
    const editing = edits.has(props.message.id); // it was open when the message went out of sight
    this.state = { editing, whole: false, remembered: false };
    this.pressed = false;
  }

  shouldComponentUpdate(next, state) {
    if (state !== this.state) return true;
    const moved = ["number", "of", "before", "after"].some(
      (name) => next.place[name] !== this.props.place[name],
    );
    const folds = next.memories.foldsAt !== this.props.memories.foldsAt;
    return moved || folds || SHOWN.some((name) => next[name] !== this.props[name]);
  }

  render({ message, number, of, place, growing, busy, sentAt, conversation, memories, acts }) {
    const { editing, whole, remembered } = this.state;
    const mine = message.role === "user";
    const who = mine ? "You" : message.model || "Assistant";
    const cut = !whole && !growing && message.text.length > LONG && number <= of - RECENT;
    const open = () => {
      this.pressed = true;
      edits.set(message.id, message.text);
      this.setState({ editing: true });
    };
    const close = (text) => {
      if (text !== null && conversation.edit(message.id, text) === null) return;
      edits.delete(message.id);
      const back = () => this.base.querySelector(".edit")?.focus();
      this.setState({ editing: false }, text === null ? back : undefined);
      if (text !== null) acts.written();
    };
    const retry = () => {
      conversation.retry(message.id);
      acts.written();
    };
    return html`<article
      class=${`message ${mine ? "from-user" : "from-model"} ${remembered ? "remembered" : ""}`}
      aria-label=${`${mine ? "You" : "Assistant"}, message ${count(number)} of ${count(of)}`}
      data-message=${message.id}
    >
      <p class="message-who">${who}${message.edited && html`<span class="soft"> · edited</span>`}</p>
      ${editing
        ? html`<${EditBox} message=${message} busy=${busy} focused=${this.pressed} onEnd=${close} />`
        : html`<div class="message-body">
            ${growing
              ? html`<${GrowingText} conversation=${conversation} id=${message.id} />`
              : html`<${Reasoning} text=${message.reasoning} />
                  <${Said} message=${message} cut=${cut} />
                  <${Tools} names=${message.tools} />`}
            ${cut &&
            html`<button type="button" class="button small" onClick=${() => this.setState({ whole: true })}>
              Show all ${count(message.text.length)} characters
            </button>`}
          </div>`}
      <${Ending} message=${message} />
      ${message.status === "failed" &&
      html`<${FailureNote} message=${message} busy=${busy} onRetry=${retry} />`}
      ${!mine && message.memory && html`<${MemoryChips} message=${message} foldsAt=${memories.foldsAt} onOpen=${memories.open} />`}
      ${!growing &&
      !editing &&
      html`<${MessageActions}
        message=${message}
        place=${place}
        sentAt=${sentAt}
        acts=${acts}
        busy=${busy}
        conversation=${conversation}
        memories=${memories}
        onEdit=${open}
        onRemembered=${() => this.highlight()}
      />`}
    </article>`;
  }

  highlight() {
    this.setState({ remembered: true });
    setTimeout(() => this.setState({ remembered: false }), 1600);
  }
}

function Said({ message, cut }) {
  const text = cut ? message.text.slice(0, PART) : message.text;
  if (message.role === "user") return html`<p class="message-text" dir="auto">${text}${cut ? " …" : ""}</p>`;
  if (text) return html`<${Markdown} text=${text} />`;
  if (message.status === "streaming") return html`<p class="soft">The answer comes in another tab.</p>`;
  if (message.status === "done") return html`<p class="soft">The model answered with nothing.</p>`;
  return null;
}

const FINISHES = {
  length: "The answer ends at the model's limit of tokens.",
  content_filter: "The provider's filter ended the answer.",
};

function Ending({ message }) {
  if (message.status === "stopped") {
    return html`<p class="message-quiet">
      ${message.text ? "Stopped. What had come is sent with your next message." : "Stopped before an answer came."}
    </p>`;
  }
  const text = Object.hasOwn(FINISHES, message.finish ?? "") ? FINISHES[message.finish] : null;
  return text && html`<p class="message-quiet">${text}</p>`;
}
