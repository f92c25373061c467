import assert from "node:assert/strict";
import test from "node:test";

import { firstModel, modelIds, recentFirst } from "../../../proxy/memtree_proxy/web/chat/desk/models.js";
import { matcher } from "../../../proxy/memtree_proxy/web/chat/desk/use_search.js";
import { ChatStore } from "../../../proxy/memtree_proxy/web/chat/store/chat_store.js";
import { TabDatabase } from "../../../proxy/memtree_proxy/web/chat/store/database.js";
import { newChat, newMessage } from "../../../proxy/memtree_proxy/web/chat/store/ids.js";
import { exported, readExport, storeChats } from "../../../proxy/memtree_proxy/web/chat/store/transfer.js";
import { temperatureOf } from "../../../proxy/memtree_proxy/web/chat/view/chat_settings.js";

async function filled() {
  const store = new ChatStore(new TabDatabase(), null);
  const chat = { ...newChat("m", 5), title: "Apples", system: "Be brief.", temperature: 0.2, draft: "half" };
  const asked = newMessage({ chat: chat.id, parent: null, role: "user", text: "Which keep?" }, 6);
  const said = newMessage({ chat: chat.id, parent: asked.id, role: "assistant", text: "Russets." }, 7);
  await store.add({ ...chat, leaf: said.id });
  await store.put(asked);
  await store.put(said);
  return { store, chat, asked, said };
}

test("a temperature is a number from 0 to 2, or nothing", () => {
  assert.equal(temperatureOf(" "), null);
  assert.equal(temperatureOf("0"), 0);
  assert.equal(temperatureOf("0,7"), 0.7);
  for (const wrong of ["-1", "2.1", "warm", "NaN", "1e9"]) assert.equal(temperatureOf(wrong), undefined);
});

test("models that cannot chat are not listed", () => {
  const chatting = ["gpt-4o-mini", "gpt-4o-vision", "bgetty", "sttswift", "reflux-7b", "qwen2.5-7b-instruct"];
  const others = [
    "text-embedding-3-small", "all-minilm:22m", "bge-m3", "tts-1-hd", "gpt-4o-mini-tts", "whisper-1", "dall-e-3",
    "gpt-image-1", "flux-dev", "stable-diffusion-xl", "veo-3", "gpt-4o-audio-preview", "speech-02", "gpt-realtime",
    "gpt-4o-transcribe", "rerank-v3.5", "sora-2", "omni-moderation-latest", "davinci-002", "babbage-002",
    "gpt-3.5-turbo-instruct",
  ];
  const told = [
    { id: "a", type: "embeddings" },
    { id: "b", type: "image" },
    { id: "c", capabilities: { completion_chat: false } },
    { id: "d", architecture: { output_modalities: ["image"] } },
  ];
  const said = [
    { id: "e", type: "llm", capabilities: { completion_chat: true } },
    { id: "f", architecture: { output_modalities: ["image", "text"] } },
  ];
  const data = [...[...chatting, ...others].map((id) => ({ id })), ...told, ...said, null, { id: 7 }];
  assert.deepEqual(modelIds({ data }), [...chatting, "e", "f"].sort((a, b) => a.localeCompare(b, "en", { numeric: true })));
});

test("the first model is the configured one or the only one that chats", () => {
  assert.equal(firstModel(["a", "b"]), "");
  assert.equal(firstModel(["a", "b"], "b"), "b");
  assert.equal(firstModel(["llama"]), "llama");
  assert.equal(firstModel([]), "");
});

test("models that were used come first, each once", () => {
  assert.deepEqual(recentFirst(["a", "b", "c"], ["c", "", "x", "c"]), ["c", "x", "a", "b"]);
});

test("all words have to be in a text, in any case", () => {
  assert.equal(matcher("  "), null);
  assert.ok(matcher("RUSSET keep")("Keep the russets"));
  assert.ok(!matcher("russet pear")("Keep the russets"));
});

test("chats are found by what was said in them", async () => {
  const { store, chat } = await filled();
  assert.deepEqual([...(await store.search(matcher("russets")))], [chat.id]);
  assert.deepEqual([...(await store.search(matcher("pears")))], []);
});

test("a file brings chats into another browser as they were", async () => {
  const { store, chat, asked, said } = await filled();
  const { chats, left } = readExport(await (await exported(store, await store.chats())).text());
  assert.equal(left, 0);
  const other = new ChatStore(new TabDatabase(), null);
  await storeChats(other, chats);
  const there = await other.chat(chat.id);
  assert.deepEqual(
    [there.title, there.system, there.temperature, there.draft, there.leaf],
    ["Apples", "Be brief.", 0.2, "", said.id],
  );
  const messages = await other.messages(chat.id);
  assert.deepEqual(messages.map(({ id, text }) => [id, text]), [[asked.id, "Which keep?"], [said.id, "Russets."]]);
});

test("what is here and newer stays", async () => {
  const { store, chat, said } = await filled();
  const { chats } = readExport(await (await exported(store, await store.chats())).text());
  await store.put({ ...said, text: "Russets, always.", rev: 9 });
  await store.change(chat.id, { title: "Fruit", updated: 99 });
  await storeChats(store, chats);
  assert.equal((await store.chat(chat.id)).title, "Fruit");
  assert.ok((await store.messages(chat.id)).some(({ text }) => text === "Russets, always."));
});

test("a deleted chat comes back from a file", async () => {
  const { store, chat } = await filled();
  const { chats } = readExport(await (await exported(store, await store.chats())).text());
  await store.change(chat.id, { deleted: 50, updated: 60 });
  await storeChats(store, chats);
  assert.equal((await store.chat(chat.id)).deleted, null);
});

test("a foreign file is refused, and what is odd in ours is left out and counted", () => {
  for (const text of ["", "[]", "{}", '{"format": "memtree-chats"}', "null", '{"format":"memtree-chats","version":1,"chats":[']) {
    assert.throws(() => readExport(text), Error);
  }
  const message = { id: "m1", role: "user", text: "x", parent: null, rev: "9", created: "now", tools: "<b>" };
  const odd = [null, 7, { ...message, id: "a b" }, { ...message, role: "system" }, { ...message, text: 5 }, { ...message, parent: {} }];
  const file = { format: "memtree-chats", version: 1, chats: [{ id: "c", title: {}, temperature: "x", messages: [message, ...odd] }, { id: "" }, "c"] };
  const { chats, left } = readExport(JSON.stringify(file));
  assert.equal(left, odd.length + 2);
  assert.equal(chats.length, 1);
  assert.deepEqual([chats[0].chat.title, chats[0].chat.temperature], ["", null]);
  const [read] = chats[0].messages;
  assert.deepEqual([read.chat, read.rev, read.created, read.tools], ["c", 1, 0, []]);
  assert.throws(() => readExport('{"format":"memtree-chats","version":2,"chats":[]}'), /newer/);
});
