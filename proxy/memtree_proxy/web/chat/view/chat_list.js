/** The chats of this browser: open, search, rename, delete with undo, export, import. */
import { html, useState } from "../../vendor/preact.js";
import { Time } from "../../shell/format.js";
import { TitleField, useRenaming } from "../../shell/title_field.js";
import { toast } from "../../shell/toasts.js";
import { Icon } from "../../shell/icons.js";
import { useSearch } from "../desk/use_search.js";
import { ChatTransfer } from "./chat_transfer.js";

const AT_ONCE = 100;

/** @param {{desk: typeof import("../desk/desk.js").desk, shown: string | null, onPick: () => void}} props */
export function ChatList({ desk, shown, onPick }) {
  const [most, setMost] = useState(AT_ONCE);
  const [typed, setTyped] = useState("");
  const { chats, looking } = useSearch(desk, typed);
  const searched = typed.trim() !== "";
  const startNew = () => {
    desk.startNew();
    onPick();
  };
  const more = chats.length - most;
  return html`
    <button type="button" class="button chat-new" onClick=${startNew}>
      <${Icon} name="plus" /> New chat
    </button>
    ${desk.chats.length === 0 &&
    html`<p class="hint chat-none">Chats appear here. They are kept only in this browser.</p>`}
    ${desk.chats.length > 0 &&
    html`<input
      type="search"
      class="input chat-search"
      placeholder="Search chats"
      aria-label="Search chats by their words"
      maxlength="200"
      value=${typed}
      onInput=${(event) => setTyped(event.target.value)}
    />`}
    <p class="hint chat-none" role="status">
      ${searched && (looking ? "Looking through the messages" : resultOf(chats.length))}
    </p>
    <ul class="chat-rows">
      ${chats.slice(0, most).map(
        (chat) => html`<${ChatRow} key=${chat.id} desk=${desk} chat=${chat} shown=${chat.id === shown} onPick=${onPick} />`,
      )}
    </ul>
    ${more > 0 &&
    html`<button type="button" class="button small quiet" onClick=${() => setMost(most + AT_ONCE)}>
      ${more} older ${more === 1 ? "chat" : "chats"}
    </button>`}
    <${ChatTransfer} desk=${desk} chats=${chats} part=${searched} />
  `;
}

function resultOf(number) {
  if (number === 0) return "No chat has these words.";
  return number === 1 ? "1 chat has these words." : `${number} chats have these words.`;
}

function ChatRow({ desk, chat, shown, onPick }) {
  const title = chat.title || "New chat";
  const { renaming, button, begin, finish } = useRenaming(chat.title, (text) => desk.rename(chat.id, text));
  const remove = (event) => {
    event.currentTarget.closest(".chat-rows").parentElement.querySelector(".chat-new").focus();
    desk.remove(chat.id);
    const undo = { label: "Undo", run: () => desk.undo(chat.id) };
    const told = chat.foreign ? "Chat deleted; its memories stay." : "Chat deleted, with its memories.";
    toast(told, { action: undo, seconds: 10 });
  };
  if (renaming) return html`<li class="chat-row"><${TitleField} label="Title of the chat" title=${chat.title} most="200" onEnd=${finish} /></li>`;
  return html`<li class=${`chat-row ${shown ? "shown" : ""}`}>
    <a href=${`#chat=${chat.id}`} aria-current=${shown ? "true" : undefined} onClick=${onPick}>
      <span class="chat-title" dir="auto">${title}</span>
      <span class="chat-when"><${Time} at=${new Date(chat.updated)} /></span>
    </a>
    <span class="chat-row-actions">
      <button ref=${button} type="button" class="icon-button" title="Rename" aria-label=${`Rename “${title}”`} onClick=${begin}>
        <${Icon} name="edit" />
      </button>
      <button type="button" class="icon-button" title="Delete" aria-label=${`Delete “${title}”`} onClick=${remove}>
        <${Icon} name="trash" />
      </button>
    </span>
  </li>`;
}
