import assert from "node:assert/strict";
import test from "node:test";

import { checkEnd, emptyAnswer, withEvent } from "../../../proxy/memtree_proxy/web/chat/conversation/answer.js";
import {
  childrenOf,
  isNewer,
  newestLeaf,
  pathTo,
  placeAmongSiblings,
  sentMessages,
} from "../../../proxy/memtree_proxy/web/chat/conversation/branches.js";
import { inPlainWords } from "../../../proxy/memtree_proxy/web/chat/conversation/failures.js";
import { inWords, memoryOf } from "../../../proxy/memtree_proxy/web/shell/memory_state.js";
import { Sentences, beginning } from "../../../proxy/memtree_proxy/web/chat/conversation/sentences.js";
import { meant } from "../../../proxy/memtree_proxy/web/chat/view/model_box.js";

const MESSAGES = [
  ["a", null, 1],
  ["b", "a", 2],
  ["c", "b", 3],
  ["b2", "a", 4],
  ["d", "b2", 5],
  ["lost", "gone", 6],
].map(([id, parent, created]) => ({ id, parent, created, role: "user", text: id }));
const byId = new Map(MESSAGES.map((message) => [message.id, message]));
const ids = (messages) => messages.map((message) => message.id);

test("a branch leads from the first message to its leaf", () => {
  assert.deepEqual(ids(pathTo(byId, "c")), ["a", "b", "c"]);
  assert.deepEqual(ids(pathTo(byId, "d")), ["a", "b2", "d"]);
  assert.deepEqual(ids(pathTo(byId, "lost")), ["lost"]);
  assert.deepEqual(pathTo(byId, null), []);
});

test("a ring of messages ends", () => {
  const ring = [{ id: "x", parent: "y" }, { id: "y", parent: "x" }];
  assert.equal(pathTo(new Map(ring.map((one) => [one.id, one])), "x").length, 2);
  assert.ok(["x", "y"].includes(newestLeaf(childrenOf(ring), "x")));
});

test("at a fork the newest goes on, and siblings know each other", () => {
  const children = childrenOf(MESSAGES);
  assert.equal(newestLeaf(children, null), "d");
  assert.equal(newestLeaf(children, "b"), "c");
  const place = placeAmongSiblings(children, byId.get("b"));
  assert.deepEqual(place, { number: 1, of: 2, before: null, after: "b2" });
});

test("a half answer is sent, an empty one is not", () => {
  const path = [
    { role: "user", text: "hi" },
    { role: "assistant", text: "", status: "failed" },
    { role: "user", text: "again" },
    { role: "assistant", text: "hal", status: "stopped" },
  ];
  assert.deepEqual(sentMessages(path), [
    { role: "user", content: "hi" },
    { role: "user", content: "again" },
    { role: "assistant", content: "hal" },
  ]);
});

test("of two versions the later one is kept", () => {
  assert.ok(isNewer({ rev: 1, touched: 1 }, undefined));
  assert.ok(isNewer({ rev: 3, touched: 1 }, { rev: 2, touched: 9 }));
  assert.ok(!isNewer({ rev: 2, touched: 1 }, { rev: 2, touched: 2 }));
});

const read = (...events) =>
  events.reduce((answer, event) => withEvent(answer, JSON.stringify(event)), emptyAnswer());
const delta = (fields, rest = {}) => ({ choices: [{ delta: fields, ...rest }] });

test("an answer that nobody ended broke off", () => {
  const half = read(delta({ content: "word0 word1" }));
  assert.throws(() => checkEnd(half), { name: "AnswerFailed", status: 0, code: "incomplete" });
  assert.throws(() => checkEnd(emptyAnswer()), { code: "incomplete" });
  checkEnd(withEvent(half, "[DONE]"));
  checkEnd(withEvent(half, JSON.stringify(delta({}, { finish_reason: "stop" }))));
  const failure = inPlainWords({ status: 0, code: "incomplete", message: "" }, true);
  assert.equal(failure.title, "The answer broke off");
  assert.ok(failure.text.endsWith("What had come is kept."));
});

test("a part of a model's name is no name", () => {
  const models = ["claude-a", "gpt-4o", "gpt-4o-mini"];
  assert.equal(meant(models, "clau", true), "claude-a");
  assert.equal(meant(models, "clau", false), null);
  assert.equal(meant(models, "gpt", true), null);
  assert.equal(meant(models, "GPT-4O", false), "gpt-4o");
  assert.equal(meant(models, " gpt-4o ", false), "gpt-4o");
  for (const known of [models, []]) assert.equal(meant(known, "other", false), "other");
});

test("answers of different upstreams are read", () => {
  const streamed = read(
    delta({ role: "assistant", content: "" }),
    delta({ content: "Hel" }),
    delta({ content: "lo" }, { finish_reason: "stop" }),
    { choices: [], usage: { total_tokens: 3 } },
  );
  assert.deepEqual([streamed.text, streamed.finish], ["Hello", "stop"]);
  const whole = read({ model: "m-1", choices: [{ message: { content: "Hello" } }] });
  assert.deepEqual([whole.text, whole.model], ["Hello", "m-1"]);
  assert.equal(read({ choices: [{ text: "old form" }] }).text, "old form");
  assert.equal(read(delta({ refusal: "No." })).text, "No.");
  assert.equal(read(delta({ content: [{ type: "text", text: "in parts" }] })).text, "in parts");
});

test("thoughts come under several names, and never twice", () => {
  assert.equal(read(delta({ reasoning_content: "a" }), delta({ reasoning: "b" })).reasoning, "ab");
  assert.equal(read(delta({ reasoning: "a", reasoning_details: [{ text: "a" }] })).reasoning, "a");
  assert.equal(read(delta({ reasoning_details: [{ summary: "s" }, null, 7] })).reasoning, "s");
  const thinking = [{ type: "thinking", thinking: [{ type: "text", text: "t" }] }];
  assert.deepEqual([read(delta({ content: thinking })).reasoning, read().text], ["t", ""]);
});

test("calls of tools are named, once each, and not without end", () => {
  const call = (name) => ({ index: 0, function: { name, arguments: "" } });
  const more = { index: 0, function: { arguments: '{"a"' } };
  assert.deepEqual(read(delta({ tool_calls: [call("look_up")] }), delta({ tool_calls: [more] })).tools, [
    "look_up",
  ]);
  const many = Array.from({ length: 500 }, (_, index) => delta({ tool_calls: [call(`t${index}`)] }));
  assert.equal(read(...many).tools.length, 50);
  assert.equal(read(delta({ tool_calls: [call("x".repeat(1e5))] })).tools[0].length, 100);
});

test("what is no answer changes nothing", () => {
  const odd = [null, 7, "x", [], {}, { choices: null }, { choices: [null] }, { choices: [7] },
    delta(null), delta([]), delta({ content: 7 }), delta({ tool_calls: [null, 7, { function: 7 }] })];
  assert.equal(read(...odd).text, "");
  assert.equal(withEvent(emptyAnswer(), "{not json").text, "");
});

test("an error inside of a stream is an error", () => {
  const thrown = (error) => {
    try {
      read({ error });
    } catch (caught) {
      return caught;
    }
    return null;
  };
  assert.deepEqual([thrown({ message: "slow", code: 429 }).status, thrown("down").message], [429, "down"]);
  assert.equal(thrown({ message: "m", code: "context_length_exceeded", status: 413 }).status, 413);
  assert.equal(thrown({}).message, "unknown error");
});

test("failures are told in plain words", () => {
  const title = (error, half) => inPlainWords(error, half).title;
  assert.equal(title({ status: 0 }), "The connection was lost");
  assert.equal(title({ status: 0 }, true), "The answer broke off");
  assert.equal(title({ status: 413 }), "Too large for this server");
  assert.equal(title({ status: 413, code: "context_length_exceeded" }), "Too long for this model");
  assert.equal(title({ status: 503, code: "no_upstream" }), "No model is connected");
  assert.equal(title({ status: 500 }), "The model's server had an error (500)");
  assert.equal(title({ status: 418, code: "toString" }), "The request failed (418)");
  assert.match(inPlainWords({ status: 429, retryAfter: 7 }).text, /Try again in 7 seconds\./);
  assert.match(inPlainWords({ status: 429, retryAfter: 300 }).text, /Try again in 5 minutes\./);
  assert.ok(inPlainWords({ status: 401 }).key && !inPlainWords({ status: 403 }).key);
  assert.equal(inPlainWords({ message: "x".repeat(9999) }).detail.length, 600);
});

test("every state of memory has words", () => {
  const states = ["off", "below-threshold", "passed", "packed", "provisional", "refused",
    "degraded:store", "degraded:indexing", "degraded:embedder", "degraded:no-room",
    "degraded:invalid-history", "degraded:encoded-body", "degraded:internal"];
  for (const state of states) {
    const { label, text } = inWords(state, null);
    assert.ok(label !== state && text.length > 20, state);
  }
  assert.match(inWords("passed", "cheaper-whole; folds-at=53000").text, /costs? more.*53,000 tokens/);
  assert.deepEqual(inWords("of-tomorrow", "constructor"), {
    label: "of-tomorrow", text: "", kind: "plain",
  });
  assert.equal(inWords(null, null), null);
});

test("headers of an answer are kept as far as they are sane", () => {
  const memory = memoryOf(new Headers({
    "x-memtree-state": "packed", "x-memtree-raw-tokens": "41200", "x-memtree-sent-tokens": "x",
    "x-memtree-memories": "mem_1,mem_2,",
  }));
  assert.deepEqual([memory.raw, memory.sent, memory.memories], [41200, null, ["mem_1", "mem_2"]]);
  assert.deepEqual(memoryOf(new Headers()).memories, []);
});

test("sentences are told once each, wherever the text is cut", () => {
  const text = "One. **Two** is 3.5 long!  Three\nfour… And the rest";
  const whole = ["One.", "Two is 3.5 long!", "Three", "four…", "And the rest"].join(" ");
  for (const step of [1, 2, 7, text.length]) {
    const sentences = new Sentences();
    const said = [];
    for (let at = step; at < text.length + step; at += step) said.push(sentences.take(text.slice(0, at)));
    said.push(sentences.take(text, true));
    assert.equal(said.filter(Boolean).join(" "), whole, `in steps of ${step}`);
    assert.equal(sentences.take(text, true), "");
  }
});

test("a sentence is told when it is complete, not before", () => {
  const sentences = new Sentences();
  assert.equal(sentences.take("Hello wor"), "");
  assert.equal(sentences.take("Hello world."), "");
  assert.equal(sentences.take("Hello world. How"), "Hello world.");
  assert.ok(sentences.take("Hello world. " + "x".repeat(5000), true).length < 700);
});

test("a memory begins as its message does", () => {
  assert.equal(beginning("# The port is 8090.\nMore", 60), "The port is 8090.");
  assert.equal(beginning("First one. Second one is longer", 20), "First one.");
  assert.equal(beginning("abc ".repeat(100), 20), "abc abc abc abc abc");
  assert.equal(beginning("x".repeat(100), 20), "x".repeat(20));
});
