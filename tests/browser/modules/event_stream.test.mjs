import assert from "node:assert/strict";
import test from "node:test";

import { EventParser, readEvents } from "../../../proxy/memtree_proxy/web/shell/event_stream.js";

const STREAM =
  ": keep-alive\n\nid: 7\ndata: one\n\nevent: note\r\ndata:two\r\ndata:  three\r\n\r\n" +
  "data: é🌳\rid: 8\r\rretry: 5\n\ndata\n\ndata: [DONE]\n\ndata: never ended";
const EVENTS = [
  { id: "7", type: "message", data: "one" },
  { id: "7", type: "note", data: "two\n three" },
  { id: "8", type: "message", data: "é🌳" },
  { id: "8", type: "message", data: "" },
  { id: "8", type: "message", data: "[DONE]" },
];

function parsed(pieces) {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

test("a stream means the same wherever it is cut", () => {
  assert.deepEqual(parsed([STREAM]), EVENTS);
  assert.deepEqual(parsed([...STREAM]), EVENTS);
  for (let at = 0; at <= STREAM.length; at++) {
    assert.deepEqual(parsed([STREAM.slice(0, at), "", STREAM.slice(at)]), EVENTS, `cut at ${at}`);
  }
});

test("an id counts once its event has ended, with data or without", () => {
  const parser = new EventParser();
  assert.equal(parser.lastId, null);
  parser.push("id: 7\n");
  assert.equal(parser.lastId, null);
  parser.push("\n");
  assert.equal(parser.lastId, "7");
  parser.push("id: 8\ndata: one\n");
  assert.equal(parser.lastId, "7");
  assert.equal(parser.push("\n").length, 1);
  assert.equal(parser.lastId, "8");
});

test("an event without end is given up", () => {
  const parser = new EventParser();
  const piece = "x".repeat(1024 * 1024);
  assert.throws(() => {
    for (let count = 0; count < 40; count++) parser.push(piece);
  }, /too long/);
});

test("many small pieces of a long line take time in proportion", () => {
  const parser = new EventParser();
  for (let count = 0; count < 300_000; count++) parser.push("data: x".slice(count ? 6 : 0));
  const [event] = parser.push("\n\n");
  assert.equal(event.data.length, 300_000);
});

test("bytes are decoded over the cuts between them, and who stops ends the request", async () => {
  const bytes = new TextEncoder().encode("data: 🌳\n\ndata: more\n\n");
  let cancelled = false;
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
    },
    cancel() {
      cancelled = true;
    },
  });
  for await (const event of readEvents(body)) {
    assert.equal(event.data, "🌳");
    break;
  }
  assert.ok(cancelled);
});
