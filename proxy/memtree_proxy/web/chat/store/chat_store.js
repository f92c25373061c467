/**
 * Chats and messages as the pages see them: one store, told to all tabs.
 *
 * Of two tabs that write one message the newest version wins, and each message is a row of its
 * own, so tabs that write in one chat at the same time lose nothing.
 *
 * @typedef {import("../conversation/branches.js").Message} Message
 * @typedef {{id: string, title: string, named: boolean, model: string, leaf: string | null,
 *   draft: string, created: number, updated: number, deleted: number | null,
 *   foreign: boolean, system: string, temperature: number | null}} Chat
 *   `named`: by a person; `leaf`: the message that the shown branch ends with; `deleted`: when it
 *   was taken out of the list (ms), until it is dropped; `foreign`: its id came with an address, so
 *   its memories may be another client's; `system`: a system prompt, absent in older rows, as
 *   `temperature` is, which is null where the model's own holds
 * @typedef {{kind: "chat", chat: Chat} | {kind: "message", message: Message} |
 *   {kind: "dropped", id: string} | {kind: "asked", id: string} |
 *   {kind: "alive", id: string}} Change
 */
import { isNewer } from "../conversation/branches.js";
import { Database, TabDatabase, openDatabase } from "./database.js";

const CHANNEL = "memtree-chats";
const UNSENT = "not begun"; // no id of a chat: those have no spaces

export class ChatStore {
  #database;
  #channel;
  #listeners = new Set();

  /**
   * @param {Database | TabDatabase} database
   * @param {{postMessage: (change: Change) => void, onmessage: unknown} | null} channel
   */
  constructor(database, channel) {
    this.#database = database;
    this.#channel = channel;
    if (channel) channel.onmessage = (event) => this.#emit(event.data, true);
  }

  /** Whether chats outlive the tab. */
  get lasting() {
    return this.#database instanceof Database;
  }

  /**
   * @param {(change: Change, elsewhere: boolean) => void} listener `elsewhere`: by another tab
   * @returns {() => void} stops it
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tell the other tabs something that is stored nowhere. */
  tell(change) {
    this.#channel?.postMessage(change);
  }

  /** @returns {Promise<Chat[]>} the newest first, with those that are being deleted */
  async chats() {
    const rows = await this.#database.all("chats");
    const chats = rows.filter((row) => row.id !== UNSENT);
    return chats.sort((a, b) => b.updated - a.updated || (a.id < b.id ? -1 : 1));
  }

  /** @returns {Promise<Chat | undefined>} */
  chat(id) {
    return this.#database.get("chats", id);
  }

  /** @returns {Promise<string>} what is typed in a chat that has no message yet */
  async unsent() {
    return (await this.#database.get("chats", UNSENT))?.draft ?? "";
  }

  /**
   * @param {string} text
   * @param {string} before what this tab kept last: clearing it leaves what another tab wrote
   */
  async keepUnsent(text, before) {
    await this.#database.change("chats", UNSENT, (row) =>
      text || row?.draft === before ? { id: UNSENT, draft: text } : null,
    );
  }

  /** @returns {Promise<Message[]>} */
  messages(chat) {
    return this.#database.ofChat(chat);
  }

  /**
   * @param {(text: string) => boolean} matches
   * @returns {Promise<Set<string>>} ids of the chats of which a message matches
   */
  async search(matches) {
    const chats = new Set();
    await this.#database.visit("messages", ({ chat, text }) => {
      if (!chats.has(chat) && matches(text)) chats.add(chat);
    });
    return chats;
  }

  /** @param {Chat} chat */
  async add(chat) {
    await this.#write("chats", chat.id, () => chat);
  }

  /**
   * Change fields of a chat; others that another tab changed meanwhile stay.
   * @param {string} id
   * @param {Partial<Chat>} fields
   */
  async change(id, fields) {
    await this.#write("chats", id, (chat) => chat && { ...chat, ...fields });
  }

  /** @param {Message} message */
  async put(message) {
    await this.#write("messages", message.id, (old) => (isNewer(message, old) ? message : null));
  }

  /** Take a chat and its messages out for good. */
  async drop(id) {
    await this.#database.drop(id);
    this.#emit({ kind: "dropped", id }, false);
    this.tell({ kind: "dropped", id });
  }

  async #write(table, id, decide) {
    const row = await this.#database.change(table, id, decide);
    if (!row) return;
    const change = table === "chats" ? { kind: "chat", chat: row } : { kind: "message", message: row };
    this.#emit(change, false);
    this.tell(change);
  }

  #emit(change, elsewhere) {
    for (const listener of [...this.#listeners]) listener(change, elsewhere);
  }
}

async function open() {
  const channel = globalThis.BroadcastChannel ? new BroadcastChannel(CHANNEL) : null;
  try {
    return new ChatStore(await openDatabase(), channel);
  } catch {
    return new ChatStore(new TabDatabase(), null);
  }
}

let opened = null;

/**
 * The one store of this tab.
 * @returns {Promise<ChatStore>} it ends with the tab where the browser stores nothing
 */
export function openChatStore() {
  opened ??= open();
  return opened;
}
