import assert from "node:assert/strict";
import test from "node:test";

import { excerpt } from "../../../proxy/memtree_proxy/web/memories/card/labels.js";
import { readHash, writeHash } from "../../../proxy/memtree_proxy/web/memories/admin/use_hash.js";
import { changesOf, draftOf, tagsOf } from "../../../proxy/memtree_proxy/web/memories/list/use_drafts.js";
import {
  NOTHING, appended, narrowed, put, wanted, without,
} from "../../../proxy/memtree_proxy/web/memories/list/row_set.js";
import { listenTogether } from "../../../proxy/memtree_proxy/web/memories/live.js";
import { dataText, ofAgent, ofChat, ofUser, textData } from "../../../proxy/memtree_proxy/web/memories/rows.js";

const DAY = (day) => `2026-03-0${day}T10:00:00Z`;
const memory = (id, day, more = {}) => ({
  id, text: `text of ${id}`, category: "fact", tags: [], source: "user", created: DAY(day),
  updated: DAY(day), expires: null, confirmed: null, deleted: null, tainted: false, version: 1,
  groups: [], supersededBy: null, relevance: null, data: null, agentId: null, subjectId: null, ...more,
});
const ids = (set) => set.rows.map((row) => row.id).join("");

test("a row is put where it is, or where its age puts it", () => {
  const set = { ...NOTHING, rows: [memory("d", 4), memory("b", 2)], cursor: "7" };
  assert.equal(ids(put(set, memory("c", 3))), "dcb");
  assert.equal(ids(put(set, memory("e", 4))), "edb");
  assert.equal(ids(put(set, memory("a", 1))), "db"); // it comes with its page
  assert.equal(ids(put({ ...set, cursor: null }, memory("a", 1))), "dba");
  const changed = put(set, memory("b", 2, { text: "new" }));
  assert.deepEqual([ids(changed), changed.rows[1].text], ["db", "new"]);
  assert.equal(put({ ...set, rows: [memory("d", 4, { relevance: 0.7 })] }, memory("d", 4))
    .rows[0].relevance, 0.7);
});

test("a page brings no row twice, and rows go", () => {
  const set = appended({ ...NOTHING, rows: [memory("c", 3), memory("b", 2)], cursor: "2" },
    { memories: [memory("b", 2), memory("a", 1)], cursor: null });
  assert.deepEqual([ids(set), set.cursor], ["cba", null]);
  assert.equal(ids(without(set, ["b", "x"])), "ca");
  assert.equal(without(set, ["x"]), set);
});

test("filters mean what the server's mean", () => {
  const row = memory("a", 1, { tags: ["x"], groups: ["g"], tainted: true });
  assert.ok(wanted({}, row));
  assert.ok(wanted({ category: "fact", source: "user", tag: "x", group: "g", tainted: true }, row));
  for (const filter of [
    { category: "preference" }, { source: "model" }, { tag: "y" }, { group: "h" },
    { tainted: false }, { deleted: true },
  ]) {
    assert.ok(!wanted(filter, row), JSON.stringify(filter));
  }
  assert.ok(!wanted({}, { ...row, deleted: DAY(2) }));
  assert.ok(wanted({ deleted: true }, { ...row, deleted: DAY(2) }));
  assert.ok(!wanted({}, { ...row, supersededBy: "b" }));
});

test("a search shows what concerns it, by meaning or by its words", () => {
  const hits = [
    memory("a", 1, { text: "The port is 8091", relevance: 0.2 }),
    memory("b", 1, { text: "Ada likes tea", relevance: 0.6 }),
    memory("c", 1, { text: "Ada rides a bike", relevance: 0.4 }),
    memory("d", 1, { text: "nothing", tags: ["port-8091"], relevance: 0 }),
  ];
  assert.equal(ids({ rows: narrowed(hits, "PORT 8091") }), "abd");
  assert.equal(ids({ rows: narrowed(hits, "8090") }), "b");
});

test("a draft changes what was changed, and nothing else", () => {
  const draft = draftOf(memory("a", 1, { tags: ["x"], expires: "2031-03-07T00:00:00Z" }));
  const changed = (fields, kind = "user") =>
    changesOf({ ...draft, fields: { ...draft.fields, ...fields } }, { kind });
  assert.deepEqual(changed({}), {});
  assert.deepEqual(changed({ text: " new \n" }), { text: "new" });
  assert.deepEqual(changed({ tags: "" }), { tags: [] });
  assert.deepEqual(changed({ tags: " y ,, z" }), { tags: ["y", "z"] });
  assert.deepEqual(changed({ expires: "" }), { expires: null });
  assert.deepEqual(changed({ expires: "" }, "chat"), {});
  assert.deepEqual(changed({ category: "preference" }), { category: "preference" });
  assert.deepEqual(changed({ category: "preference" }, "agent"), {});
  assert.deepEqual(tagsOf(",a, b c,"), ["a", "b c"]);
});

test("an address says whose memories and which, and comes back", () => {
  for (const place of [
    { whose: { kind: "user" }, filter: {}, stones: false },
    { whose: { kind: "user", userId: "ada@home" }, filter: { tainted: true }, stones: false },
    { whose: { kind: "agent", agentId: "*", subjectId: "*" }, filter: { deleted: true }, stones: false },
    { whose: { kind: "agent", agentId: "a" }, filter: { category: "x&y=#", tag: "ü" }, stones: false },
    { whose: { kind: "chat", chatId: "c" }, filter: {}, stones: true },
  ]) {
    assert.deepEqual(readHash(writeHash(place)), place);
  }
  assert.equal(writeHash(readHash("")), "");
});

test("rows of all dialects have one shape", () => {
  const row = {
    id: "m", category: null, tags: ["t"], source_type: "model", created_at: DAY(1),
    updated_at: DAY(2), expires_at: null, tainted: true, version: 3,
  };
  const chat = ofChat({ ...row, content: "said" });
  assert.deepEqual(chat, ofUser({ ...row, text: "said" }));
  const agent = ofAgent({
    id: "m", kind: "note", data: { text: "said" },
    metadata: {
      agentId: "a", subjectId: null, tags: [], createdAt: 1_772_359_200_000, updatedAt: 0,
      expiresAt: null, version: 1, tainted: false, source: "agent",
    },
  });
  assert.deepEqual(Object.keys(agent).sort(), Object.keys(chat).sort());
  assert.deepEqual([agent.text, agent.created], ["said", "2026-03-01T10:00:00.000Z"]);
});

test("data is edited as text or as JSON", () => {
  assert.deepEqual(textData("b", { text: "a" }), { text: "b" });
  const data = { name: "Bob", text: "a" };
  assert.deepEqual(textData(dataText(data), data), data);
  for (const bad of ["", "5", "null", "[1]", "{"]) assert.throws(() => textData(bad, data), SyntaxError);
});

test("who listens to one source shares its stream", async () => {
  const opened = [];
  const open = (handlers) => {
    opened.push(handlers);
    return () => opened.splice(opened.indexOf(handlers), 1);
  };
  const told = [];
  const one = listenTogether("k", open, { onEvent: (event) => told.push(["one", event]) });
  opened[0].onOpen();
  const two = listenTogether("k", open, {
    onEvent: (event) => told.push(["two", event]), onOpen: () => told.push("open"),
  });
  const other = listenTogether("l", open, {});
  assert.equal(opened.length, 2);
  await null;
  opened[0].onEvent(5);
  assert.deepEqual(told, ["open", ["one", 5], ["two", 5]]);
  one();
  one();
  assert.equal(opened.length, 2);
  two();
  other();
  assert.equal(opened.length, 0);
});

test("an excerpt cuts no character in two", () => {
  assert.equal(excerpt(" a \n b "), "a b");
  assert.equal(excerpt("😀".repeat(100), 5), "😀😀😀😀…");
});
