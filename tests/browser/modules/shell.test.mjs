import assert from "node:assert/strict";
import test from "node:test";

import { address } from "../../../proxy/memtree_proxy/web/shell/api.js";
import { waitFor } from "../../../proxy/memtree_proxy/web/shell/live_events.js";
import { matches } from "../../../proxy/memtree_proxy/web/shell/shortcuts.js";
import { crowded } from "../../../proxy/memtree_proxy/web/shell/toasts.js";

const press = (key, more = {}) => ({
  key, code: "", altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...more,
});

test("addresses hold what was meant, whatever it is", () => {
  assert.equal(address("/memories"), "/v1/memories");
  assert.equal(
    address("/memories", { q: "a&b=ü", tag: ["x", "y"], cursor: null, limit: 0, gone: undefined }),
    "/v1/memories?q=a%26b%3D%C3%BC&tag=x&tag=y&limit=0",
  );
});

test("waits grow to ten seconds, and differ", () => {
  assert.equal(waitFor(1, 0), 250);
  assert.equal(waitFor(1, 1), 500);
  assert.equal(waitFor(2, 1), 1000);
  assert.equal(waitFor(1000, 1), 10_000);
  assert.equal(waitFor(1000, 0), 5_000);
});

test("shortcuts", () => {
  assert.ok(matches("Alt+M", press("m", { altKey: true })));
  assert.ok(matches("Alt+M", press("µ", { code: "KeyM", altKey: true })));
  assert.ok(!matches("Alt+M", press("m")));
  assert.ok(!matches("Alt+M", press("m", { altKey: true, ctrlKey: true })));
  assert.ok(matches("/", press("/", { shiftKey: true })));
  assert.ok(matches("Ctrl+Enter", press("Enter", { metaKey: true })));
  assert.ok(!matches("Ctrl+Enter", press("Enter", { ctrlKey: true, shiftKey: true })));
  assert.ok(matches("Shift+F6", press("F6", { shiftKey: true })));
});

test("what can be undone stays, however much is said meanwhile", () => {
  const plain = (number) => ({ number, action: null });
  const offer = (number) => ({ number, action: {} });
  const numbers = (toasts) => crowded(toasts).map((one) => one.number);
  assert.deepEqual(numbers([1, 2, 3, 4, 5].map(plain)), [2, 3, 4, 5]);
  assert.deepEqual(numbers([1, 2, 3, 4, 5].map(offer)), [1, 2, 3, 4, 5]);
  const mixed = [offer(1), plain(2), plain(3), plain(4), plain(5), offer(6)];
  assert.deepEqual(numbers(mixed), [1, 4, 5, 6]);
  const many = Array.from({ length: 12 }, (_, number) => offer(number));
  assert.deepEqual(numbers([...many, plain(12)]), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});
