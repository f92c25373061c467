/** The bar below a message: branches, copy, remember, change, ask again, show in the tree. */
import { html } from "../../../vendor/preact.js";
import { CopyButton } from "../../../shell/copy_button.js";
import { Icon } from "../../../shell/icons.js";
import { useRemember } from "./remember.js";

/**
 * @param {Object} props
 * @param {import("../../conversation/branches.js").Message} props.message
 * @param {{number: number, of: number, before: string | null, after: string | null}} props.place
 * @param {number} props.sentAt its index among the messages that are sent
 * @param {{show: (id: string, direction: string) => void, written: () => void}} props.acts
 * @param {boolean} props.busy an answer grows: nothing else can be asked
 * @param {import("../../conversation/conversation.js").Conversation} props.conversation
 * @param {{open: Function, countAgain: () => void}} props.memories
 * @param {() => void} props.onEdit
 * @param {() => void} props.onRemembered
 */
export function MessageActions(props) {
  const { message, place, sentAt, busy, conversation, memories, acts, onEdit, onRemembered } = props;
  const answer = message.role === "assistant";
  const remember = useRemember(message, memories, onRemembered);
  return html`<div class="message-actions">
    <${Branches} place=${place} busy=${busy} onShow=${acts.show} />
    ${message.text &&
    html`${remember.button}
      <${CopyButton} text=${message.text} />
      <button type="button" class="icon-button edit" title="Edit" aria-label="Edit" disabled=${busy} onClick=${onEdit}>
        <${Icon} name="edit" />
      </button>`}
    ${answer &&
    (message.text || message.status !== "failed") &&
    html`<button
      type="button"
      class="icon-button"
      title="Another answer"
      aria-label="Another answer"
      disabled=${busy}
      onClick=${() => {
        conversation.regenerate(message.id);
        acts.written();
      }}
    >
      <${Icon} name="again" />
    </button>`}
    ${message.text &&
    html`<a class="icon-button" title="Show in tree" aria-label="Show in tree" href=${`/ui/tree#chat=${message.chat}&message=${sentAt}`}>
      <${Icon} name="tree" />
    </a>`}
    </div>
    ${remember.below}`;
}

function Branches({ place, busy, onShow }) {
  if (place.of < 2) return null;
  return html`<span class="branches" role="group" aria-label="Versions of this message">
    <button
      type="button"
      class="icon-button before"
      aria-label="The version before"
      disabled=${busy || place.before === null}
      onClick=${() => onShow(place.before, "before")}
    >
      <${Icon} name="left" />
    </button>
    <span class="number">${place.number} of ${place.of}</span>
    <button
      type="button"
      class="icon-button after"
      aria-label="The version after"
      disabled=${busy || place.after === null}
      onClick=${() => onShow(place.after, "after")}
    >
      <${Icon} name="right" />
    </button>
  </span>`;
}
