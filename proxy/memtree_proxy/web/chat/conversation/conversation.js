/**
 * One chat that is open in this tab: what it shows, and what can be done with it.
 *
 *     send, edit, regenerate, retry -> a message, a request, an answer that grows
 *     stop                          -> the request ends, the half answer stays
 *     show                          -> another branch
 *
 * Everything goes into the store as it happens. What another tab writes in the same chat appears
 * here; this tab's branch stays the shown one unless the other tab goes on with it.
 */
import { newMessage } from "../store/ids.js";
import { childrenOf, isNewer, newestLeaf, pathTo, placeAmongSiblings, sentMessages }
  from "./branches.js";
import { beginning } from "./sentences.js";

const SAVE_EVERY = 400; // ms, while an answer grows
const TITLE = 60;
const SILENCE = 6000; // ms until another tab is asked whether its answer still grows
const REPLY = 2000;
const AFTERWARDS = 30_000; // ms in which memories of a turn are still saved, as by what reads it

/** What is stored of an error. A request without an answer has nothing to say but that. */
function kept(error) {
  const status = Number.isInteger(error?.status) ? error.status : 0;
  const lost = status === 0 && error?.name !== "AnswerFailed";
  return {
    status,
    code: typeof error?.code === "string" ? error.code : null,
    message: typeof error?.message === "string" && !lost ? error.message.slice(0, 2000) : "",
    retryAfter: error?.retryAfter ?? null,
  };
}

export class Conversation {
  #store;
  #exchange;
  #now;
  #messages = new Map();
  #children = new Map();
  #listeners = new Set();
  #readers = new Set();
  #path = null;
  #abort = null;
  #savedAt = 0;
  #answered = { id: null, until: 0 }; // the last answer to this tab, and when its turn is over
  #saveSoon = 0;
  #watched = new Map();
  #unlisten = () => {};

  /**
   * @param {import("../store/chat_store.js").ChatStore} store
   * @param {import("../store/chat_store.js").Chat} chat
   * @param {typeof import("./exchange.js").exchange} exchange
   * @param {boolean} stored false: a new chat, which is stored with its first message
   * @param {() => number} now ms
   */
  constructor(store, chat, exchange, stored, now = Date.now) {
    this.#store = store;
    this.#exchange = exchange;
    this.#now = now;
    this.stored = stored;
    this.chat = chat;
    this.leaf = chat.leaf;
    /** Id of the message that grows by this tab's request. */
    this.growing = null;
    /** Whether the browser refused to store something. */
    this.unsaved = false;
  }

  /** Read the messages, and follow what other tabs write from now on. */
  async open() {
    this.#unlisten = this.#store.listen((change, elsewhere) => this.#follow(change, elsewhere));
    for (const message of await this.#store.messages(this.chat.id)) this.#take(message);
    this.#arrange();
    if (!this.#messages.has(this.leaf)) this.leaf = newestLeaf(this.#children, null);
    for (const message of this.#messages.values()) this.#watch(message, 0);
    return this;
  }

  /** Store what has come of an answer: the tab may be closing. */
  keep() {
    if (this.growing) this.#save(this.#messages.get(this.growing));
  }

  close() {
    this.#unlisten();
    for (const timer of this.#watched.values()) clearTimeout(timer);
    this.#watched.clear();
  }

  /** @param {() => void} listener another branch, a new message, an end: not each piece of text */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param {() => void} reader each piece of the answer that grows */
  read(reader) {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** The shown branch, first message first. */
  path() {
    if (this.#path?.leaf !== this.leaf) {
      this.#path = { leaf: this.leaf, messages: pathTo(this.#messages, this.leaf) };
    }
    return this.#path.messages;
  }

  message(id) {
    return this.#messages.get(id);
  }

  place(message) {
    return placeAmongSiblings(this.#children, message);
  }

  get empty() {
    return this.#messages.size === 0;
  }

  // -- what a person does ------------------------------------------------------------------------

  async send(text) {
    if (this.growing) return;
    const user = newMessage({ chat: this.chat.id, parent: this.leaf, role: "user", text },
      this.#now());
    if (!this.chat.named && this.empty) this.#amend({ title: beginning(text, TITLE) });
    if (!this.stored) {
      this.draft("");
      this.stored = true;
      this.#kept(this.#store.add(this.chat));
    }
    await this.#goOnWith(user);
  }

  /**
   * A changed message is a new branch; a changed question is asked.
   * @returns {Promise<void> | null} null: it was not taken, since an answer grows
   */
  edit(id, text) {
    const old = this.#messages.get(id);
    if (this.growing || !old) return null;
    if (text === old.text) return Promise.resolve();
    const { chat, parent, role, model } = old;
    const message = { ...newMessage({ chat, parent, role, text }, this.#now()), model, edited: true };
    if (role === "user") return this.#goOnWith(message);
    this.#add(message);
    return Promise.resolve();
  }

  /** Another answer to the same question. */
  async regenerate(id) {
    const old = this.#messages.get(id);
    if (this.growing || !old) return;
    await this.#answer(old.role === "user" ? old.id : old.parent, null);
  }

  /** Once more. An answer of which nothing had come is no branch worth keeping. */
  async retry(id) {
    const old = this.#messages.get(id);
    if (this.growing || !old) return;
    await this.#answer(old.parent, old.text === "" ? old : null);
  }

  stop() {
    this.#abort?.abort();
  }

  /** Show the branch that goes on from a message. */
  show(id) {
    this.leaf = newestLeaf(this.#children, id);
    this.#amend({ leaf: this.leaf });
    this.#emit();
  }

  choose(model) {
    this.#amend({ model });
    this.#emit();
  }

  /** @param {{system: string, temperature: number | null}} fields of the answers from now on */
  setUp(fields) {
    this.#amend(fields);
    this.#emit();
  }

  rename(title) {
    this.#amend({ title, named: true });
    this.#emit();
  }

  /** Keep what is typed and not yet sent; of a chat that is not begun, for the next new chat. */
  draft(text) {
    if (!this.stored && (text || this.chat.draft)) {
      this.#kept(this.#store.keepUnsent(text, this.chat.draft));
    }
    if (text !== this.chat.draft) this.#amend({ draft: text });
  }

  // -- an answer ---------------------------------------------------------------------------------

  async #goOnWith(user) {
    this.#add(user);
    await this.#answer(user.id, null);
  }

  async #answer(parent, again) {
    const { id: chat, model, system, temperature = null } = this.chat;
    const asked = sentMessages(pathTo(this.#messages, parent), system);
    const fresh = newMessage({ chat, parent, role: "assistant", status: "streaming" }, this.#now());
    const first = again ? { ...fresh, id: again.id, created: again.created, rev: again.rev + 1 } : fresh;
    this.growing = first.id;
    this.#add({ ...first, model });
    const abort = new AbortController();
    this.#abort = abort;
    let end = { status: "done" };
    try {
      await this.#exchange(
        { chat, model, temperature, messages: asked },
        abort.signal,
        (memory) => {
          this.#grow({ memory });
          this.#emit();
        },
        (answer) => this.#grow({ ...answer, model: answer.model ?? model }),
      );
    } catch (error) {
      end = abort.signal.aborted ? { status: "stopped" } : { status: "failed", error: kept(error) };
    }
    this.#abort = null;
    this.growing = null;
    this.#answered = { id: first.id, until: this.#now() + AFTERWARDS };
    this.#save({ ...this.#messages.get(first.id), ...end });
    this.#emit();
  }

  /** Whether a memory that is saved now may be of this tab's turn. */
  get inTurn() {
    return this.growing !== null || this.#now() < this.#answered.until;
  }

  /** A memory was saved or changed by this tab's turn, not by hand. */
  noteMemory(id) {
    const message = this.#messages.get(this.growing ?? this.#answered.id);
    if (!message) return;
    this.#save({ ...message, changedMemories: [...new Set([...(message.changedMemories ?? []), id])] });
    this.#emit();
  }

  #grow(fields) {
    const message = { ...this.#messages.get(this.growing), ...fields };
    this.#set(message);
    if (this.#now() - this.#savedAt >= SAVE_EVERY) this.#save(message);
    else this.#saveSoon ||= setTimeout(() => this.keep(), SAVE_EVERY);
    for (const reader of [...this.#readers]) reader();
  }

  // -- what is stored ----------------------------------------------------------------------------

  #add(message) {
    this.#save(message);
    this.#arrange();
    this.leaf = message.id;
    this.#amend({ leaf: message.id, updated: this.#now() });
    this.#emit();
  }

  #save(message) {
    clearTimeout(this.#saveSoon);
    this.#saveSoon = 0;
    const saved = { ...message, rev: message.rev + 1, touched: this.#now() };
    this.#savedAt = saved.touched;
    this.#set(saved);
    this.#arrangeWith(saved);
    this.#kept(this.#store.put(saved));
  }

  #amend(fields) {
    this.chat = { ...this.chat, ...fields };
    if (this.stored) this.#kept(this.#store.change(this.chat.id, fields));
  }

  /** A full disk loses nothing while the tab is open; it is told once. */
  #kept(write) {
    write.catch(() => {
      if (this.unsaved) return;
      this.unsaved = true;
      this.#emit();
    });
  }

  #take(message) {
    if (message.id === this.growing || !isNewer(message, this.#messages.get(message.id))) return false;
    this.#set(message);
    return true;
  }

  #set(message) {
    this.#messages.set(message.id, message);
    this.#path = null;
  }

  #arrange() {
    this.#children = childrenOf(this.#messages.values());
  }

  /** A message that is already in its place was replaced. */
  #arrangeWith(message) {
    const siblings = this.#children.get(message.parent);
    const at = siblings?.findIndex((sibling) => sibling.id === message.id) ?? -1;
    if (at >= 0) siblings[at] = message;
  }

  #emit() {
    for (const listener of [...this.#listeners]) listener();
  }

  // -- other tabs --------------------------------------------------------------------------------

  #follow(change, elsewhere) {
    if (!elsewhere) return;
    if (change.kind === "asked" && change.id === this.growing) {
      this.#store.tell({ kind: "alive", id: change.id });
    } else if (change.kind === "alive") {
      const message = this.#messages.get(change.id);
      if (message) this.#watch(message, SILENCE);
    } else if (change.kind === "chat" && change.chat.id === this.chat.id) {
      this.chat = { ...change.chat, leaf: this.leaf };
      this.#emit();
    } else if (change.kind === "message" && change.message.chat === this.chat.id) {
      this.#followMessage(change.message);
    }
  }

  #followMessage(message) {
    const known = this.#messages.has(message.id);
    if (!this.#take(message)) return;
    if (known) this.#arrangeWith(message);
    else this.#arrange();
    if (!known && message.parent === this.leaf && !this.growing) this.leaf = message.id;
    this.#watch(message, SILENCE);
    this.#emit();
  }

  /** An answer that grows in no tab any more was interrupted: its tab was closed or reloaded. */
  #watch(message, silence) {
    clearTimeout(this.#watched.get(message.id));
    this.#watched.delete(message.id);
    if (message.status !== "streaming" || message.id === this.growing) return;
    const ask = () => {
      this.#watched.set(message.id, setTimeout(() => this.#interrupt(message.id), REPLY));
      this.#store.tell({ kind: "asked", id: message.id });
    };
    if (silence) this.#watched.set(message.id, setTimeout(ask, silence));
    else ask();
  }

  #interrupt(id) {
    this.#watched.delete(id);
    const message = this.#messages.get(id);
    if (message.status !== "streaming" || id === this.growing) return;
    this.#save({ ...message, status: "failed", error: kept({ code: "interrupted" }) });
    this.#emit();
  }
}
