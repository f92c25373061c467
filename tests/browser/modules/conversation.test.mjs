import assert from "node:assert/strict";
import test from "node:test";

import { Conversation } from "../../../proxy/memtree_proxy/web/chat/conversation/conversation.js";
import { ChatStore } from "../../../proxy/memtree_proxy/web/chat/store/chat_store.js";
import { TabDatabase } from "../../../proxy/memtree_proxy/web/chat/store/database.js";
import { newChat } from "../../../proxy/memtree_proxy/web/chat/store/ids.js";

/** Tabs of one browser: what one posts, the others get. */
function channels() {
  const all = [];
  return () => {
    const channel = {
      onmessage: null,
      postMessage(data) {
        const copy = structuredClone(data);
        for (const other of all) if (other !== channel) other.onmessage?.({ data: copy });
      },
    };
    all.push(channel);
    return channel;
  };
}

/** A model that answers when the test says so. */
function scripted() {
  const asked = [];
  const exchange = (request, signal, onHead, onAnswer) =>
    new Promise((resolve, reject) => {
      let text = "";
      signal.addEventListener("abort", () => reject(signal.reason));
      asked.push({
        ...request,
        say(more) {
          text += more;
          onAnswer({ text, reasoning: "", tools: [], finish: null, model: null });
        },
        head: onHead,
        end: resolve,
        fail: reject,
      });
    });
  return { asked, exchange };
}

let clock = 0;
const now = () => (clock += 1000);
const texts = (conversation) => conversation.path().map((message) => message.text);
const settled = () => new Promise((resolve) => setTimeout(resolve));

async function tab(database, channel, chat, exchange, stored = false) {
  const store = new ChatStore(database, channel);
  return { store, chat: await new Conversation(store, chat, exchange, stored, now).open() };
}

async function one() {
  const database = new TabDatabase();
  const model = scripted();
  const record = newChat("m", 1);
  const { store, chat } = await tab(database, null, record, model.exchange);
  return { database, store, chat, record, ...model };
}

test("a message, its answer, and what is sent the next time", async () => {
  const { chat, asked, store } = await one();
  const sending = chat.send("Hello there");
  assert.deepEqual(asked[0].messages, [{ role: "user", content: "Hello there" }]);
  asked[0].say("Hi");
  asked[0].say(".");
  asked[0].end();
  await sending;
  assert.deepEqual(texts(chat), ["Hello there", "Hi."]);
  assert.equal((await store.chat(chat.chat.id)).title, "Hello there");
  chat.send("More");
  assert.deepEqual(asked[1].messages.map((message) => message.content), ["Hello there", "Hi.", "More"]);
});

test("stop keeps the half answer, which is sent", async () => {
  const { chat, asked } = await one();
  const sending = chat.send("Q");
  asked[0].say("half");
  chat.stop();
  await sending;
  assert.equal(chat.path()[1].status, "stopped");
  chat.send("R");
  assert.deepEqual(asked[1].messages[1], { role: "assistant", content: "half" });
});

test("nothing is asked twice while an answer grows", async () => {
  const { chat, asked } = await one();
  chat.send("Q");
  chat.send("R");
  chat.regenerate(chat.path()[0].id);
  assert.equal(chat.edit(chat.path()[0].id, "S"), null);
  chat.retry(chat.path()[1].id);
  assert.equal(asked.length, 1);
});

test("an error keeps what had come; a retry of nothing leaves no branch", async () => {
  const { chat, asked } = await one();
  const error = Object.assign(new Error("slow down"), { status: 429, retryAfter: 3 });
  const sending = chat.send("Q");
  asked[0].fail(error);
  await sending;
  const failed = chat.path()[1];
  assert.deepEqual(failed.error, { status: 429, code: null, message: "slow down", retryAfter: 3 });
  const again = chat.retry(failed.id);
  asked[1].say("half");
  asked[1].fail(new Error("broken"));
  await again;
  assert.equal(chat.place(chat.path()[1]).of, 1);
  const third = chat.retry(chat.path()[1].id);
  asked[2].end();
  await third;
  assert.deepEqual([chat.place(chat.path()[1]).number, chat.place(chat.path()[1]).of], [2, 2]);
});

test("an edited question is a branch, and the old one is a click away", async () => {
  const { chat, asked } = await one();
  for (const text of ["Q", "R"]) {
    const sending = chat.send(text);
    asked.at(-1).say(`to ${text}`);
    asked.at(-1).end();
    await sending;
  }
  const question = chat.path()[2];
  const editing = chat.edit(question.id, "S");
  assert.deepEqual(asked[2].messages.map((one) => one.content), ["Q", "to Q", "S"]);
  asked[2].say("to S");
  asked[2].end();
  await editing;
  assert.deepEqual(texts(chat), ["Q", "to Q", "S", "to S"]);
  chat.show(question.id);
  assert.deepEqual(texts(chat), ["Q", "to Q", "R", "to R"]);
  await chat.edit(chat.path()[1].id, "better");
  assert.deepEqual(texts(chat), ["Q", "better"]);
  await chat.edit(chat.path()[1].id, "better");
  assert.equal(chat.place(chat.path()[1]).of, 2);
  assert.equal(asked.length, 3);
});

test("a chat is as it was when it is opened again", async () => {
  const { chat, asked, database, exchange } = await one();
  const sending = chat.send("Q");
  asked[0].head({ state: "packed", memories: [] });
  asked[0].say("A");
  asked[0].end();
  await sending;
  chat.choose("other");
  chat.rename("Named");
  const record = await database.get("chats", chat.chat.id);
  const { chat: again } = await tab(database, null, record, exchange, true);
  assert.deepEqual(texts(again), ["Q", "A"]);
  assert.equal(again.path()[1].memory.state, "packed");
  assert.deepEqual([again.chat.model, again.chat.title], ["other", "Named"]);
});

test("two tabs of one chat lose nothing", async () => {
  const database = new TabDatabase();
  const channel = channels();
  const [left, right] = [scripted(), scripted()];
  const record = newChat("m", 1);
  const one = await tab(database, channel(), record, left.exchange);
  const sending = one.chat.send("Q");
  const two = await tab(database, channel(), await database.get("chats", record.id), right.exchange, true);
  left.asked[0].say("grows");
  await settled();
  assert.deepEqual(texts(two.chat), ["Q", "grows"]);
  left.asked[0].end();
  await sending;
  await settled();
  const both = [one.chat.send("from one"), two.chat.send("from two")];
  left.asked[1].end();
  right.asked[0].end();
  await Promise.all(both);
  await settled();
  const said = (await database.ofChat(record.id)).map((message) => message.text);
  assert.ok(said.includes("from one") && said.includes("from two"));
  for (const { chat } of [one, two]) {
    const fork = chat.path()[2];
    assert.equal(chat.place(fork).of, 2);
  }
  assert.deepEqual([texts(one.chat)[2], texts(two.chat)[2]], ["from one", "from two"]);
});

test("an answer whose tab is gone was interrupted; one that grows elsewhere was not", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const database = new TabDatabase();
  const channel = channels();
  const model = scripted();
  const record = newChat("m", 1);
  const first = channel();
  const one = await tab(database, first, record, model.exchange);
  one.chat.send("Q");
  model.asked[0].say("half");
  await Promise.resolve();
  const stored = await database.get("chats", record.id);
  const alive = await tab(database, channel(), stored, model.exchange, true);
  context.mock.timers.tick(3000);
  assert.equal(alive.chat.path()[1].status, "streaming");
  first.onmessage = null; // the tab is closed
  const left = await tab(database, channel(), stored, model.exchange, true);
  context.mock.timers.tick(3000);
  const { status, error, text } = left.chat.path()[1];
  assert.deepEqual([status, error.code, text], ["failed", "interrupted", "half"]);
});

test("a store that takes nothing loses nothing while the tab is open", async () => {
  const { chat, asked, database } = await one();
  database.change = () => Promise.reject(new Error("no space left"));
  const sending = chat.send("Q");
  asked[0].say("A");
  asked[0].end();
  await sending;
  await settled();
  assert.ok(chat.unsaved);
  assert.deepEqual(texts(chat), ["Q", "A"]);
});

test("an older version of a message never takes the place of a newer one", async () => {
  const { chat, asked, store } = await one();
  const sending = chat.send("Q");
  asked[0].end();
  await sending;
  const message = chat.path()[0];
  await store.put({ ...message, text: "stale", rev: message.rev - 1 });
  assert.equal((await store.messages(chat.chat.id)).find((row) => row.id === message.id).text, "Q");
});

test("what is typed before the first message is kept for the next new chat", async () => {
  const { chat, store } = await one();
  const model = scripted();
  const other = await new Conversation(store, newChat("m", 1), model.exchange, false, now).open();
  chat.draft("long");
  assert.equal(await store.unsent(), "long");
  assert.deepEqual(await store.chats(), []);
  other.draft("");
  assert.equal(await store.unsent(), "long");
  other.draft("other");
  chat.draft("");
  assert.equal(await store.unsent(), "other");
  const sending = other.send("other");
  model.asked[0].end();
  await settled();
  assert.equal(await store.unsent(), "");
  await sending;
  other.draft("of a stored chat");
  await settled();
  assert.deepEqual([await store.unsent(), (await store.chat(other.chat.id)).draft], ["", "of a stored chat"]);
});

test("a chat is dropped with its messages", async () => {
  const { chat, asked, store } = await one();
  const sending = chat.send("Q");
  asked[0].end();
  await sending;
  await store.drop(chat.chat.id);
  assert.deepEqual([await store.chats(), await store.messages(chat.chat.id)], [[], []]);
});
