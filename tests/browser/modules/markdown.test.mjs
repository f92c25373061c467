import assert from "node:assert/strict";
import test from "node:test";

import { decoded, headingLevels, read, safeAddress } from "../../../proxy/memtree_proxy/web/shell/markdown.js";

test("links lead to web pages and mail alone", () => {
  assert.equal(safeAddress("https://example.com/a b"), "https://example.com/a%20b");
  assert.equal(safeAddress("mailto:a@example.com"), "mailto:a@example.com");
  for (const bad of [
    "javascript:alert(1)", " JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "data:text/html,x",
    "vbscript:x", "file:///etc/passwd", "//example.com", "/v1/memories", "#main", "", "blob:x",
  ]) {
    assert.equal(safeAddress(bad), null, bad);
  }
});

test("entities are characters, and nothing more", () => {
  assert.equal(decoded("a &amp; b &lt;i&gt; &#65;&#x42; &quot;"), 'a & b <i> AB "');
  assert.equal(decoded("&amp;lt; &#0; &#x110000; &nope; & &amp"), "&lt; &#0; &#x110000; &nope; & &amp");
});

test("no level of a heading is skipped", () => {
  const headings = (...depths) => depths.map((depth) => ({ type: "heading", depth }));
  assert.deepEqual(headingLevels(headings(3, 3, 6, 1, 2, 4, 2), 3), [3, 3, 4, 3, 4, 5, 4]);
  assert.deepEqual(headingLevels([{ type: "paragraph" }, ...headings(1, 2, 3, 4, 5)], 3), [
    0, 3, 4, 5, 6, 6,
  ]);
});

test("a long paragraph and a deep nest are shown as they are", () => {
  const [paragraph] = read(`${"**a".repeat(2_000)}`);
  assert.equal(paragraph.tokens[0].raw, "**a".repeat(2_000));
  assert.equal(paragraph.tokens[0].type, "literal");
  assert.ok(read("> ".repeat(50_000)).length);
});

/** Of the processor, the best of three: what the machine does besides is no part of it. */
function seconds(text) {
  const times = [1, 2, 3].map(() => {
    const begun = process.cpuUsage();
    read(text);
    const used = process.cpuUsage(begun);
    return used.user + used.system;
  });
  return Math.min(...times) / 1_000_000;
}

test("reading takes time in proportion to the text", () => {
  for (const unit of [
    "*", "_", "[", "(", "`", "<", "> ", "- ", "1. ", "|a", "![](", "**a", "***a", "__a", "~~", "\\",
    "a\n", "[a]: x\n", "<a ", "&", "www.a", "a@", "https://a.b/(", "[]()", "<!--", "- a\n  - b\n",
    "| a |\n|-|\n", "    ", "```\n", "\t",
  ]) {
    const short = seconds(unit.repeat(10_000 / unit.length));
    const long = seconds(unit.repeat(40_000 / unit.length));
    assert.ok(long < 0.05 || long < 10 * short, `${JSON.stringify(unit)}: ${short} s, ${long} s`);
  }
});
