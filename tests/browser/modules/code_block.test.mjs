import assert from "node:assert/strict";
import test from "node:test";

import { tokens } from "../../../proxy/memtree_proxy/web/shell/code_block.js";
import * as sugar from "../../../proxy/memtree_proxy/web/vendor/sugar-high.js";

const TEXTS = {
  py: "def f(x: int) -> str:\n    # why\n\treturn f'{x}' + \"b\"\n",
  ts: "const a = `x ${b}`; // c\n\n/* d */ let e: Array<number> = [];\r\n",
  json: '{"a": [1, null, "b"]}',
  sh: "for f in *; do echo \"$f\"; done # all\n",
  diff: "- old\n+ new\n",
  html: '<p class="a">b &amp; c</p>\n<script>let x = "<p>"</script>',
  css: "a:hover { color: red; --x: 1px }",
  sql: "select * from t where a = 'b' -- c",
  yaml: "a:\n  - 'b' # c\n",
  rust: "fn main() { let s = r#\"x\"#; 'a: loop {} }",
};

const kinds = (text, name) => new Set(tokens(sugar, text, name)?.map(({ type }) => type));

test("the tokens say the code as it is", () => {
  for (const [name, text] of Object.entries(TEXTS)) {
    const all = tokens(sugar, text, name);
    if (all) assert.equal(all.map(({ value }) => value).join(""), text, name);
    if (!text.includes("\r")) assert.ok(all, name);
  }
});

test("words, strings and comments are told apart", () => {
  const python = kinds(TEXTS.py, "python3");
  for (const type of ["keyword", "string", "comment"]) assert.ok(python.has(type), type);
});

test("an unknown language, and what is too long, stay plain", () => {
  assert.equal(tokens(sugar, "a b c", "klingon"), null);
  assert.equal(tokens(sugar, "a b c", ""), null);
  assert.equal(tokens(sugar, "a b c", "constructor"), null);
  assert.equal(tokens(sugar, "a ".repeat(11_000), "py"), null);
  assert.equal(tokens(sugar, "--".repeat(1_000), "css"), null);
});

test("no code of the longest that is coloured keeps a page waiting", () => {
  const units = ["'", '"', "`", "<", "/*", "//", "{", "<a", "${", "`${", "\\", "\n", "--", "<!--", "#{"];
  for (const { id } of sugar.languages) {
    for (const unit of units) {
      const text = unit.repeat((id === "css" ? 1_500 : 20_000) / unit.length);
      const begin = performance.now();
      tokens(sugar, text, id);
      assert.ok(performance.now() - begin < 1_000, `${id} ${unit}`);
    }
  }
});
