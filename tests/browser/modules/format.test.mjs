import assert from "node:assert/strict";
import test from "node:test";

import { ago, bytes, count, money, tokens } from "../../../proxy/memtree_proxy/web/shell/format.js";

test("numbers", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(count(-5), "-5");
  assert.equal(tokens(1), "1 token");
  assert.equal(tokens(9999), "9,999 tokens");
  assert.equal(tokens(12_345), "12.3K tokens");
  assert.equal(tokens(-1_234_567), "-1.23M tokens");
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(1500), "1.5 kB");
  assert.equal(bytes(147_000_000), "147 MB");
  assert.equal(money(1.25), "$1.25");
  assert.equal(money(-0.0031), "-$0.0031");
  assert.equal(money(0), "$0.00");
});

test("times", () => {
  const now = new Date("2026-03-01T12:00:00Z");
  const before = (seconds) => ago(new Date(now.getTime() - seconds * 1000), now);
  assert.equal(before(5), "just now");
  assert.equal(before(60), "1 minute ago");
  assert.equal(before(3 * 3600 + 1), "3 hours ago");
  assert.equal(before(86_400), "yesterday");
  assert.equal(before(400 * 86_400), "last year");
  assert.equal(before(-10), "in less than a minute");
  assert.equal(before(-2 * 86_400), "in 2 days");
});
