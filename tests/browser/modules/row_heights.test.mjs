import assert from "node:assert/strict";
import test from "node:test";

import { RowHeights } from "../../../proxy/memtree_proxy/web/shell/row_heights.js";

test("rows are where a plain sum puts them", () => {
  const heights = new RowHeights(40);
  const real = Array.from({ length: 200 }, (_, index) => 20 + ((index * 37) % 90));
  for (let index = 0; index < real.length; index += 3) {
    assert.equal(heights.set(index, real[index]), real[index] - 40);
    assert.equal(heights.set(index, real[index]), 0);
  }
  const tops = [0];
  real.forEach((height, index) => tops.push(tops[index] + (index % 3 ? 40 : height)));
  for (let index = 0; index <= 200; index++) assert.equal(heights.top(index, 200), tops[index]);
  for (let at = 0; at < tops[200]; at += 7) {
    const row = heights.at(at, 200);
    assert.ok(tops[row] <= at && at < tops[row + 1], `${at} px is in row ${row}`);
  }
});

test("outside of the list there are its first and last rows", () => {
  const heights = new RowHeights(10);
  assert.equal(heights.at(-5, 3), 0);
  assert.equal(heights.at(1_000, 3), 2);
  assert.equal(heights.at(0, 0), 0);
  assert.equal(heights.top(0, 0), 0);
  assert.equal(heights.top(9, 3), 30);
});

test("a list that grows keeps what was measured", () => {
  const heights = new RowHeights(10);
  heights.set(1, 50);
  assert.equal(heights.top(3, 3), 70);
  assert.equal(heights.top(5, 5), 90);
});
