import assert from "node:assert/strict";
import test from "node:test";

import { newMessage } from "../../../proxy/memtree_proxy/web/chat/store/ids.js";

const listeners = new Map();
globalThis.location = { hash: "#chat=long", pathname: "/ui" };
globalThis.addEventListener = (name, run) => listeners.set(name, run);
globalThis.BroadcastChannel = undefined;
const { desk } = await import("../../../proxy/memtree_proxy/web/chat/desk/desk.js");
const { openChatStore } = await import("../../../proxy/memtree_proxy/web/chat/store/chat_store.js");

test("of two chats that are opened at once the newer one is shown, however long the other takes", async () => {
  const store = await openChatStore();
  for (const id of ["long", "short"]) {
    const message = newMessage({ chat: id, parent: null, role: "user", text: id }, 1);
    const chat = { id, title: id, named: true, model: "m", leaf: message.id, draft: "" };
    await store.add({ ...chat, created: 1, updated: 1, deleted: null, foreign: false });
    await store.put(message);
  }
  let read = null;
  const messages = store.messages.bind(store);
  store.messages = async (id) => {
    if (id === "long" && read === null) await new Promise((resolve) => (read = resolve));
    return messages(id);
  };
  const begun = desk.begin();
  while (read === null) await new Promise((resolve) => setTimeout(resolve));
  location.hash = "#chat=short";
  listeners.get("hashchange")();
  while (desk.current === null) await new Promise((resolve) => setTimeout(resolve));
  assert.equal(desk.current.chat.id, "short");
  read();
  await begun;
  assert.equal(desk.current.chat.id, "short");
  await going("#chat=long", "#chat=short");
  assert.equal(desk.current.chat.id, "short");
});

/** Go to one place, and on to the next before any of it is read. */
async function going(...places) {
  for (const hash of places) {
    location.hash = hash;
    listeners.get("hashchange")();
  }
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve));
}
