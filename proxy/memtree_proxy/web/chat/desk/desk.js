/**
 * The chats of this tab: which there are, which is shown, which answer in the background.
 *
 * The shown chat stands in the address as `#chat=ID`, so a reload and a link lead to it. An id that
 * this browser does not know begins a chat with that id: the memories of another client's chat can
 * be looked at in this way.
 */
import { chatSource } from "../../memories/sources.js";
import { key } from "../../shell/key.js";
import { Conversation } from "../conversation/conversation.js";
import { exchange } from "../conversation/exchange.js";
import { openChatStore } from "../store/chat_store.js";
import { newChat } from "../store/ids.js";
import { configuredModel } from "./models.js";

const UNDO = 60_000; // ms until a deleted chat is dropped; the button to undo goes earlier
const ID = /^#chat=([A-Za-z0-9._~:@-]{1,200})$/;

class Desk {
  #listeners = new Set();
  #open = new Map();
  #begun = null;
  #turn = 0;
  #showing = false; // another chat than `current` is on its way

  constructor() {
    this.store = null;
    /** @type {import("../store/chat_store.js").Chat[]} */
    this.chats = [];
    /** @type {Conversation | null} null while it is being read */
    this.current = null;
  }

  /** Read the list and the chat that the address names; once in a tab. */
  begin() {
    this.#begun ??= this.#begin();
    return this.#begun;
  }

  async #begin() {
    this.store = await openChatStore();
    this.store.listen((change) => this.#follow(change));
    await this.#list();
    addEventListener("hashchange", () => this.#navigate());
    addEventListener("pagehide", () => {
      for (const conversation of this.#open.values()) conversation.keep();
    });
    await this.#show(namedInAddress());
  }

  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // -- what a person does ------------------------------------------------------------------------

  /** A new chat; an empty one that is shown already will do. */
  async startNew() {
    if (!this.#showing && this.current?.empty && !this.current.stored) return;
    history.pushState(null, "", location.pathname);
    await this.#show(null);
  }

  rename(id, title) {
    const open = this.#open.get(id);
    if (open) open.rename(title);
    else this.store.change(id, { title, named: true });
  }

  /** Take a chat out of the list; `undo` brings it back until it is dropped. */
  async remove(id) {
    this.#open.get(id)?.stop();
    await this.store.change(id, { deleted: Date.now() });
    if (this.current?.chat.id === id) await this.startNew();
    setTimeout(() => this.#dropOld(), UNDO + 1000);
  }

  async undo(id) {
    await this.store.change(id, { deleted: null });
    location.hash = `chat=${id}`;
  }

  /** The address of a chat that got its first message. */
  settle() {
    const hash = `#chat=${this.current.chat.id}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  // -- what follows ------------------------------------------------------------------------------

  #navigate() {
    const id = namedInAddress();
    if (id !== null && (this.#showing || id !== this.current?.chat.id)) this.#show(id);
    else if (id === null && location.hash === "") this.#show(null);
    else if (id === null && this.current?.stored) this.settle(); // the link to the content
  }

  /** Of two that are asked for at once the newer one is shown, however long the older one takes. */
  async #show(id) {
    const mine = ++this.#turn;
    this.#showing = true;
    const known = id === null ? undefined : await this.store.chat(id);
    const live = known && !known.deleted ? known : undefined;
    if (mine !== this.#turn) return;
    const kept = live && this.#open.get(live.id);
    if (!kept) {
      this.current = null;
      this.#emit();
    }
    const draft = live ? "" : await this.store.unsent(); // read behind a write that goes on
    const model = this.chats.find((chat) => chat.model)?.model ?? configuredModel();
    const fresh = { ...newChat(model, Date.now()), draft };
    const chat = live ?? (id === null || known ? fresh : { ...fresh, id, foreign: true });
    const open = kept ?? (await new Conversation(this.store, chat, exchange, Boolean(live)).open());
    if (mine !== this.#turn) {
      if (!kept) open.close();
      return;
    }
    this.#leave(open);
    this.#showing = false;
    this.current = open;
    this.#emit();
  }

  /** Chats that answer in the background stay open; others are read anew when they are shown. */
  #leave(next) {
    for (const [id, conversation] of this.#open) {
      if (conversation === next || conversation.growing) continue;
      conversation.close();
      this.#open.delete(id);
    }
    this.#open.set(next.chat.id, next);
  }

  async #follow(change) {
    if (change.kind === "chat") {
      const others = this.chats.filter((chat) => chat.id !== change.chat.id);
      const shown = change.chat.deleted ? others : [change.chat, ...others];
      this.chats = shown.sort((a, b) => b.updated - a.updated);
      const gone = change.chat.deleted && this.current?.chat.id === change.chat.id;
      if (gone && !document.hasFocus()) await this.startNew();
      this.#emit();
    } else if (change.kind === "dropped") {
      this.chats = this.chats.filter((chat) => chat.id !== change.id);
      this.#emit();
    }
  }

  async #list() {
    const chats = await this.store.chats();
    this.chats = chats.filter((chat) => !chat.deleted);
    if (chats.length > this.chats.length) setTimeout(() => this.#dropOld(), UNDO / 4);
  }

  /** Messages, and what was remembered of them where the chat began here. */
  async #dropOld() {
    if (key() === null) return; // nobody is asked for a key because of a deletion
    for (const chat of await this.store.chats()) {
      if (!chat.deleted || Date.now() - chat.deleted < UNDO) continue;
      try {
        if (!chat.foreign) await chatSource(chat.id).removeMany({ all: true });
      } catch {
        continue; // the server is away: the next time
      }
      await this.store.drop(chat.id);
    }
  }

  #emit() {
    for (const listener of [...this.#listeners]) listener();
  }
}

function namedInAddress() {
  return ID.exec(location.hash)?.[1] ?? null;
}

export const desk = new Desk();
