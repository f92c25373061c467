/**
 * Chats as a file: out of this browser, and into another.
 *
 *     {"format": "memtree-chats", "version": 1, "chats": [{"id", "title", ..., "messages": [...]}]}
 *
 * A file may have been written by anybody. Each field is read by its type, what is no chat or no
 * message is left out and counted, and a message that is here already stays unless the file's is newer.
 */
import { newChat, newMessage } from "./ids.js";

const FORMAT = "memtree-chats";
const ID = /^[A-Za-z0-9._~:@-]{1,200}$/;
const ROLES = new Set(["user", "assistant"]);
export const MAX_BYTES = 100_000_000;
const MOST_TITLE = 200;
const MOST_TEXT = 5_000_000; // characters of a message

/**
 * @param {import("./chat_store.js").ChatStore} store
 * @param {import("./chat_store.js").Chat[]} chats
 * @returns {Promise<Blob>}
 */
export async function exported(store, chats) {
  const pieces = [];
  for (const chat of chats) {
    const messages = await store.messages(chat.id);
    pieces.push(pieces.length ? ",\n" : "", JSON.stringify({ ...chat, draft: "", messages }));
  }
  const head = `{"format":"${FORMAT}","version":1,"chats":[\n`;
  return new Blob([head, ...pieces, "\n]}\n"], { type: "application/json" });
}

/**
 * @param {string} text
 * @returns {{chats: {chat: object, messages: object[]}[], left: number}} `left`: chats and messages
 *   that could not be read
 * @throws {Error} where the file is no export of chats
 */
export function readExport(text) {
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error("The file is no JSON: it may have broken off.");
  }
  if (json?.format !== FORMAT || !Array.isArray(json.chats)) {
    throw new Error("The file is no export of chats from this page.");
  }
  if (json.version !== 1) throw new Error("The file was written by a newer version of this page.");
  let left = 0;
  const chats = [];
  for (const row of json.chats) {
    const chat = chatOf(row);
    if (!chat) {
      left += 1;
      continue;
    }
    const rows = Array.isArray(row.messages) ? row.messages : [];
    const messages = rows.map((message) => messageOf(message, chat.id)).filter(Boolean);
    left += rows.length - messages.length;
    chats.push({ chat, messages });
  }
  return { chats, left };
}

/**
 * @param {import("./chat_store.js").ChatStore} store
 * @param {ReturnType<typeof readExport>["chats"]} chats
 */
export async function storeChats(store, chats) {
  for (const { chat, messages } of chats) {
    for (const message of messages) await store.put(message);
    const here = await store.chat(chat.id);
    if (!here) await store.add(chat);
    else if (here.deleted || here.updated < chat.updated) {
      await store.change(chat.id, { ...chat, draft: here.draft, foreign: here.foreign });
    }
  }
}

function chatOf(row) {
  if (!isId(row?.id)) return null;
  const created = timeOf(row.created);
  return {
    ...newChat(textOf(row.model, MOST_TITLE), created),
    id: row.id,
    title: textOf(row.title, MOST_TITLE),
    named: row.named === true,
    leaf: isId(row.leaf) ? row.leaf : null,
    updated: timeOf(row.updated),
    foreign: row.foreign === true,
    system: textOf(row.system, MOST_TEXT),
    temperature: Number.isFinite(row.temperature) ? row.temperature : null,
  };
}

function messageOf(row, chat) {
  const parent = row?.parent ?? null;
  if (!isId(row?.id) || !ROLES.has(row.role) || typeof row.text !== "string") return null;
  if (row.text.length > MOST_TEXT || (parent !== null && !isId(parent))) return null;
  const fresh = newMessage({ chat, parent, role: row.role, text: row.text }, timeOf(row.created));
  return {
    ...fresh,
    id: row.id,
    status: row.status === "stopped" || row.text === "" ? "stopped" : "done",
    touched: timeOf(row.touched),
    rev: Number.isSafeInteger(row.rev) && row.rev > 0 ? row.rev : 1,
    model: typeof row.model === "string" ? row.model.slice(0, MOST_TITLE) : null,
    reasoning: textOf(row.reasoning, MOST_TEXT),
    edited: row.edited === true,
  };
}

function isId(value) {
  return typeof value === "string" && ID.test(value);
}

function textOf(value, most) {
  return typeof value === "string" ? value.slice(0, most) : "";
}

function timeOf(value) {
  return Number.isFinite(value) && value > 0 && value < 8.64e15 ? value : 0;
}
