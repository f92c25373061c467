/** Where the rows of a long list are, from what was measured and a guess for the rest. Pure. */

export class RowHeights {
  /** @param {number} guess height in px of a row that was never drawn */
  constructor(guess) {
    this.guess = guess;
    this.known = new Map();
    this.tops = null;
    this.count = 0;
  }

  /** @returns {number} how much taller the row is than it was taken for */
  set(index, height) {
    const before = this.of(index);
    if (before === height) return 0;
    this.known.set(index, height);
    this.tops = null;
    return height - before;
  }

  of(index) {
    return this.known.get(index) ?? this.guess;
  }

  /** The top of a row in px; of row `count`: the height of all. */
  top(index, count) {
    if (this.tops === null || this.count !== count) {
      const tops = new Float64Array(count + 1);
      for (let at = 0; at < count; at++) tops[at + 1] = tops[at] + this.of(at);
      this.tops = tops;
      this.count = count;
    }
    return this.tops[Math.max(0, Math.min(index, count))];
  }

  /** The row at a height; the last one below the end. */
  at(height, count) {
    let low = 0;
    let high = Math.max(0, count - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle, count) <= height) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
