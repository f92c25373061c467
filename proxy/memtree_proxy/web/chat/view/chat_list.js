/** The chats of this browser: open, rename, delete with undo. */
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Time } from "../../shell/format.js";
import { toast } from "../../shell/toasts.js";
import { Icon } from "./icons.js";

const AT_ONCE = 100;

/** @param {{desk: typeof import("../desk/desk.js").desk, shown: string | null, onPick: () => void}} props */
export function ChatList({ desk, shown, onPick }) {
  const [most, setMost] = useState(AT_ONCE);
  const startNew = () => {
    desk.startNew();
    onPick();
  };
  const more = desk.chats.length - most;
  return html`
    <button type="button" class="button chat-new" onClick=${startNew}>
      <${Icon} name="plus" /> New chat
    </button>
    ${desk.chats.length === 0 &&
    html`<p class="hint chat-none">Chats appear here. They are kept only in this browser.</p>`}
    <ul class="chat-rows">
      ${desk.chats.slice(0, most).map(
        (chat) => html`<${ChatRow} key=${chat.id} desk=${desk} chat=${chat} shown=${chat.id === shown} onPick=${onPick} />`,
      )}
    </ul>
    ${more > 0 &&
    html`<button type="button" class="button small quiet" onClick=${() => setMost(most + AT_ONCE)}>
      ${more} older ${more === 1 ? "chat" : "chats"}
    </button>`}
  `;
}

function ChatRow({ desk, chat, shown, onPick }) {
  const [renaming, setRenaming] = useState(false);
  const rename = useRef(null);
  const back = useRef(false); // the button gets the focus that the field had
  useLayoutEffect(() => {
    if (back.current) rename.current?.focus();
    back.current = false;
  }, [renaming]);
  const title = chat.title || "New chat";
  /** `left`: the focus went elsewhere, and stays there. */
  const finish = (text, left) => {
    back.current = !left;
    setRenaming(false);
    if (text !== null && text.trim() && text.trim() !== chat.title) desk.rename(chat.id, text.trim());
  };
  const remove = (event) => {
    event.currentTarget.closest(".chat-rows").parentElement.querySelector(".chat-new").focus();
    desk.remove(chat.id);
    const undo = { label: "Undo", run: () => desk.undo(chat.id) };
    const told = chat.foreign ? "Chat deleted; its memories stay." : "Chat deleted, with its memories.";
    toast(told, { action: undo, seconds: 10 });
  };
  if (renaming) return html`<li class="chat-row"><${TitleField} title=${chat.title} onEnd=${finish} /></li>`;
  return html`<li class=${`chat-row ${shown ? "shown" : ""}`}>
    <a href=${`#chat=${chat.id}`} aria-current=${shown ? "true" : undefined} onClick=${onPick}>
      <span class="chat-title">${title}</span>
      <span class="chat-when"><${Time} at=${new Date(chat.updated)} /></span>
    </a>
    <span class="chat-row-actions">
      <button ref=${rename} type="button" class="icon-button" title="Rename" aria-label=${`Rename “${title}”`} onClick=${() => setRenaming(true)}>
        <${Icon} name="edit" />
      </button>
      <button type="button" class="icon-button" title="Delete" aria-label=${`Delete “${title}”`} onClick=${remove}>
        <${Icon} name="trash" />
      </button>
    </span>
  </li>`;
}

function TitleField({ title, onEnd }) {
  const field = useRef(null);
  const ended = useRef(false);
  useLayoutEffect(() => {
    field.current.focus();
    field.current.select();
  }, []);
  const end = (text, left) => {
    if (ended.current) return;
    ended.current = true;
    onEnd(text, left);
  };
  const press = (event) => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault(); // else the button that gets the focus is pressed by it
    end(event.key === "Enter" ? event.target.value : null, false);
  };
  return html`<input
    ref=${field}
    class="input"
    aria-label="Title of the chat"
    maxlength="200"
    value=${title}
    onKeyDown=${press}
    onBlur=${(event) => end(event.target.value, true)}
  />`;
}
