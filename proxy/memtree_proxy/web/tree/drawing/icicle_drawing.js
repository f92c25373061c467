/** Draws the icicle on a canvas: x is the position in tokens, y the level. No state but its tiles. */

import { palette, tile } from "./patterns.js";
import { HIDDEN, OPENED, PINNED, QUOTED, RECENT } from "../model/picture.js";

const GAP = 1;
const LEAST_TEXT = 46; // pixels of a cell that may have words
const RANK = [0, 1, 3, 4, 2]; // by state: which one a single pixel shows where several fall on it

/** What part of the tokens is seen. */
export class Viewport {
  constructor(from, to) {
    this.from = from;
    this.to = to;
  }

  get size() {
    return this.to - this.from;
  }

  /** `factor` below 1 shows less, around the token at `share` of the width. */
  zoomed(factor, share, total, least = 50) {
    const size = Math.min(total, Math.max(Math.min(least, total), this.size * factor));
    const from = this.from + (this.size - size) * share;
    return Viewport.within(from, size, total);
  }

  moved(tokens, total) {
    return Viewport.within(this.from + tokens, this.size, total);
  }

  /** The nearest view of the same size that shows [start, start + size). */
  showing(start, size, total) {
    if (size > this.size) return Viewport.within(start - size * 0.02, size * 1.04, total);
    if (start >= this.from && start + size <= this.to) return this;
    return Viewport.within(start + size / 2 - this.size / 2, this.size, total);
  }

  static within(from, size, total) {
    const kept = Math.min(size, total);
    const begin = Math.min(Math.max(0, from), total - kept);
    return new Viewport(begin, begin + kept);
  }
}

export class IcicleDrawing {
  #canvas;
  #colours = null;
  #patterns = [];
  #scale = 0;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#canvas = canvas;
  }

  /** The colours are read again at the next drawing. */
  forgetColours() {
    this.#colours = null;
  }

  #prepare(draw, scale) {
    if (this.#colours && this.#scale === scale) return;
    this.#scale = scale;
    this.#colours = palette(this.#canvas);
    this.#patterns = this.#colours.grounds.map((_, state) =>
      draw.createPattern(tile(state, this.#colours, scale), "repeat"),
    );
  }

  /**
   * @param {object} shown
   * @param {import("../model/tree_model.js").TreeModel} shown.model
   * @param {import("../model/picture.js").Picture | null} shown.picture null: all are hidden
   * @param {Viewport} shown.view
   * @param {number} shown.selected
   * @param {Uint8Array | null} shown.found nodes that a search found
   */
  draw({ model, picture, view, selected, found }) {
    const canvas = this.#canvas;
    const scale = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const pixels = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== pixels[0]) canvas.width = pixels[0];
    if (canvas.height !== pixels[1]) canvas.height = pixels[1];
    const draw = canvas.getContext("2d");
    draw.setTransform(1, 0, 0, 1, 0, 0);
    this.#prepare(draw, scale);
    draw.clearRect(0, 0, canvas.width, canvas.height);
    draw.setTransform(scale, 0, 0, scale, 0, 0);
    const cells = visibleCells(model, picture?.states ?? null, view, width, height);
    this.#fill(draw, cells, picture, scale);
    this.#words(draw, model, cells);
    if (found)
      this.#outline(
        draw,
        cells.filter(({ index }) => found[index]),
        this.#colours.found,
        2,
      );
    if (selected >= 0) {
      const cell = cellOf(model, selected, view, width, height);
      const narrow = cell.width < 12; // the line stands around it, so that something of it is left to see
      const around = narrow ? { ...cell, x: cell.x - 2, width: cell.width + 4 } : cell;
      this.#outline(draw, [around], this.#colours.paper, narrow ? 4 : 5);
      this.#outline(draw, [around], this.#colours.chosen, narrow ? 2 : 3);
    }
  }

  /** One path for each state, so that 20,000 nodes take five fillings. A quoted leaf is filled as far as it is quoted. */
  #fill(draw, cells, picture, scale) {
    for (const state of [HIDDEN, OPENED, QUOTED, PINNED, RECENT]) {
      draw.beginPath();
      for (const cell of cells) {
        const partly = cell.state === QUOTED && state === OPENED;
        if (cell.state !== state && !partly) continue;
        const height = cell.height - GAP;
        const filled =
          state === QUOTED ? Math.max(4, Math.round(height * picture.shares[cell.index])) : height;
        draw.rect(cell.x, cell.y + height - filled, Math.max(0.75, cell.width - GAP), filled);
      }
      draw.save();
      draw.clip();
      draw.setTransform(1, 0, 0, 1, 0, 0); // tiles are drawn at the resolution of the screen
      draw.fillStyle = this.#patterns[state];
      draw.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
      draw.restore();
      draw.setTransform(scale, 0, 0, scale, 0, 0);
    }
    draw.strokeStyle = this.#colours.edge;
    draw.lineWidth = 1;
    draw.beginPath();
    for (const { x, y, width, height } of cells) {
      if (width > 4) draw.rect(x + 0.5, y + 0.5, width - GAP - 1, height - GAP - 1);
    }
    draw.stroke();
  }

  #words(draw, model, cells) {
    draw.font = `12px ${getComputedStyle(this.#canvas).fontFamily}`;
    draw.textBaseline = "middle";
    for (const cell of cells) {
      if (cell.width < LEAST_TEXT || cell.height < 15) continue;
      const room = cell.width - GAP - 12;
      const text = fitting(draw, plain(model.nodes[cell.index].headline), room);
      if (!text) continue;
      const middle = cell.y + (cell.height - GAP) / 2;
      draw.fillStyle = this.#colours.paper;
      draw.fillRect(cell.x + 4, middle - 8, Math.min(room, draw.measureText(text).width) + 4, 16);
      draw.fillStyle = this.#colours.text;
      draw.fillText(text, cell.x + 6, middle + 0.5);
    }
  }

  #outline(draw, cells, colour, width) {
    draw.strokeStyle = colour;
    draw.lineWidth = width;
    draw.beginPath();
    for (const cell of cells)
      draw.rect(cell.x, cell.y + 1, Math.max(2, cell.width - GAP), cell.height - GAP - 2);
    draw.stroke();
  }
}

/** Where a node lies, cut at the edges of the canvas. */
export function cellOf(model, index, view, width, height) {
  const row = height / model.rows;
  const perToken = width / view.size;
  const left = Math.max(-4, (model.start[index] - view.from) * perToken);
  const right = Math.min(
    width + 4,
    (model.start[index] + model.size[index] - view.from) * perToken,
  );
  const y = Math.round(model.topRow[index] * row);
  return {
    index,
    state: 0,
    x: left,
    y,
    width: right - left,
    height: Math.round((model.bottomRow[index] + 1) * row) - y,
  };
}

/** The node under a point; -1 where there is none. */
export function nodeAt(model, x, y, view, width, height) {
  const token = view.from + (x / width) * view.size;
  const row = Math.floor((y / height) * model.rows);
  for (let i = 0; i < model.count;) {
    if (token < model.start[i] || token >= model.start[i] + model.size[i]) i = model.end[i];
    else if (row <= model.bottomRow[i]) return row >= model.topRow[i] ? i : -1;
    else i += 1;
  }
  return -1;
}

/** The cells that are seen; of those that share one pixel of a row, the one that matters most. */
function visibleCells(model, states, view, width, height) {
  const cells = [];
  const lasts = new Array(model.rows).fill(null);
  for (let i = 0; i < model.count;) {
    if (model.start[i] >= view.to || model.start[i] + model.size[i] <= view.from) {
      i = model.end[i];
      continue;
    }
    const cell = cellOf(model, i, view, width, height);
    cell.state = states ? states[i] : 0;
    const last = lasts[model.bottomRow[i]];
    if (last && cell.width < 1 && Math.floor(last.x) === Math.floor(cell.x)) {
      if (RANK[cell.state] > RANK[last.state]) last.state = cell.state;
    } else {
      cells.push(cell);
      lasts[model.bottomRow[i]] = cell;
    }
    i += 1;
  }
  return cells;
}

/** One short line, without characters that turn the direction of text. */
function plain(text) {
  return String(text)
    .slice(0, 200)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
}

function fitting(draw, text, room) {
  if (draw.measureText(text).width <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (draw.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : `${text.slice(0, low)}…`;
}
