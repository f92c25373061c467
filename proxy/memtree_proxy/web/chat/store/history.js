/** Chats of this browser, for other pages: the tree page draws them. */
import { childrenOf, newestLeaf, pathTo, sentMessages } from "../conversation/branches.js";
import { openChatStore } from "./chat_store.js";

/**
 * The messages of one branch, as they are sent to the model.
 * @param {string} chatId
 * @param {string | null} [leafId] the branch's last message; without it, the one shown last
 * @returns {Promise<{title: string, messages: {role: string, content: string}[]} | null>} null:
 *   this browser has no such chat
 */
export async function readHistory(chatId, leafId = null) {
  const store = await openChatStore();
  const chat = await store.chat(chatId);
  if (!chat || chat.deleted) return null;
  const messages = await store.messages(chatId);
  const byId = new Map(messages.map((message) => [message.id, message]));
  const leaf = [leafId, chat.leaf].find((id) => byId.has(id));
  const path = pathTo(byId, leaf ?? newestLeaf(childrenOf(messages), null));
  return { title: chat.title, messages: sentMessages(path, chat.system) };
}

/** @returns {Promise<{id: string, title: string, updated: number}[]>} the newest first */
export async function listHistories() {
  const store = await openChatStore();
  const chats = await store.chats();
  return chats
    .filter((chat) => !chat.deleted)
    .map(({ id, title, updated }) => ({ id, title, updated }));
}
