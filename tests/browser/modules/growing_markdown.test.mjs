import assert from "node:assert/strict";
import test from "node:test";

import { read, readMore } from "../../../proxy/memtree_proxy/web/shell/markdown.js";

const PARTS = [
  "# Head\r\n\npara one\nmore *x*", "1. a\n\n2. b\n   - c\n\n   d", "```js\nlet x = 1;\n\n\ny\n```",
  "> q\nlazy\n\n> q2", "| a | b |\n|---|---|\n| 1 | 2 |", "last [l](http://x.y)\n===",
  "    code\n\n    more", "- one\n\n\n- two", "<b>raw</b>\ntext", "***", "- [ ] task\n- [x] done",
];

const filled = (blocks) =>
  blocks.filter((one) => one.type !== "space").map((one) => `${one.type} ${one.raw.trim()}`);

test("a text that grows is read as the whole text is, at each of its lengths", () => {
  for (const step of [1, 7]) {
    for (const parts of [PARTS, [...PARTS].reverse()]) {
      const text = parts.join("\n\n").concat("\n\nend");
      let grown = null;
      for (let at = 1; at <= text.length; at += step) {
        grown = readMore(grown, text.slice(0, at));
        assert.deepEqual(filled(grown.blocks), filled(read(text.slice(0, at))), `${step} ${at}`);
      }
    }
  }
});

test("what was read before is not read again", () => {
  const paragraph = "Some *text* with `code`.\n\n";
  let grown = readMore(null, paragraph.repeat(100));
  const first = grown.blocks[0];
  grown = readMore(grown, paragraph.repeat(101));
  assert.equal(grown.blocks[0], first);
  assert.equal(filled(grown.blocks).length, 101);
});

test("another text begins anew", () => {
  const grown = readMore(readMore(null, "one\n\ntwo\n\nthree"), "# other");
  assert.deepEqual(filled(grown.blocks), ["heading # other"]);
});
