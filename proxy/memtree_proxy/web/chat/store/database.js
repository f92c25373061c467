/**
 * The two tables of chats in the browser's IndexedDB. The server keeps no messages.
 *
 * This file knows transactions; what is stored and when is `chat_store.js`'s business.
 */

const NAME = "memtree-chats";
const VERSION = 1;

/** @returns {Promise<Database>} rejects where the browser stores nothing (private windows) */
export function openDatabase(name = NAME) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("chats", { keyPath: "id" });
      request.result.createObjectStore("messages", { keyPath: "id" }).createIndex("chat", "chat");
    };
    request.onsuccess = () => resolve(new Database(request.result));
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab holds an older version open"));
  });
}

export class Database {
  #db;

  constructor(db) {
    this.#db = db;
    // A newer version of this page, in another tab, may change the tables.
    db.onversionchange = () => db.close();
  }

  /** @returns {Promise<object | undefined>} */
  get(table, id) {
    return this.#run([table], "readonly", (store) => store(table).get(id));
  }

  /** @returns {Promise<object[]>} */
  all(table) {
    return this.#run([table], "readonly", (store) => store(table).getAll());
  }

  /** @returns {Promise<object[]>} the messages of a chat, in no order */
  ofChat(chat) {
    return this.#run(["messages"], "readonly", (store) =>
      store("messages").index("chat").getAll(chat),
    );
  }

  /**
   * Look at each row of a table, without holding them all.
   * @param {(row: object) => void} look
   */
  async visit(table, look) {
    await this.#run([table], "readonly", (store) => {
      const cursor = store(table).openCursor();
      cursor.onsuccess = () => {
        if (!cursor.result) return;
        look(cursor.result.value);
        cursor.result.continue();
      };
      return cursor;
    });
  }

  /**
   * Read a row, decide, write, with no other tab in between.
   * @param {(row: object | undefined) => object | null} decide the new row; null: leave it
   * @returns {Promise<object | null>} what was written
   */
  async change(table, id, decide) {
    let written = null;
    await this.#run([table], "readwrite", (store) => {
      const request = store(table).get(id);
      request.onsuccess = () => {
        written = decide(request.result);
        if (written) store(table).put(written);
      };
      return request;
    });
    return written;
  }

  /** Take a chat out, with all its messages. */
  async drop(chat) {
    await this.#run(["chats", "messages"], "readwrite", (store) => {
      const cursor = store("messages").index("chat").openKeyCursor(chat);
      cursor.onsuccess = () => {
        if (!cursor.result) return;
        store("messages").delete(cursor.result.primaryKey);
        cursor.result.continue();
      };
      return store("chats").delete(chat);
    });
  }

  #run(tables, mode, act) {
    return new Promise((resolve, reject) => {
      const transaction = this.#db.transaction(tables, mode);
      const request = act((table) => transaction.objectStore(table));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error ?? new Error("the write was undone"));
    });
  }
}

/** The same tables in memory, for browsers that store nothing: they end with the tab. */
export class TabDatabase {
  #tables = { chats: new Map(), messages: new Map() };

  async get(table, id) {
    return this.#tables[table].get(id);
  }

  async all(table) {
    return [...this.#tables[table].values()];
  }

  async ofChat(chat) {
    return (await this.all("messages")).filter((message) => message.chat === chat);
  }

  async visit(table, look) {
    for (const row of this.#tables[table].values()) look(row);
  }

  async change(table, id, decide) {
    const written = decide(this.#tables[table].get(id));
    if (written) this.#tables[table].set(id, written);
    return written;
  }

  async drop(chat) {
    this.#tables.chats.delete(chat);
    for (const message of await this.ofChat(chat)) this.#tables.messages.delete(message.id);
  }
}
