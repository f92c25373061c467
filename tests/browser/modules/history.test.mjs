/** Places of excerpts in the arguments of calls. */

import assert from "node:assert/strict";
import test from "node:test";

import { spanIn } from "../../../proxy/memtree_proxy/web/tree/model/history.js";

test("a short value is not found within a longer one before it", () => {
  const text = JSON.stringify({ path: "src/a.py", name: "a" });
  const message = { tool_calls: [{ function: { arguments: text } }] };
  const part = "tool_calls[0].function.arguments";
  const span = spanIn({ part, text }, message, { part: `${part}.name`, start: 0, end: 1 });
  assert.deepEqual(span, { start: text.length - 3, end: text.length - 2 });
});
