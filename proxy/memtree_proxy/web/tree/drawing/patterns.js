/**
 * The five patterns of the drawing: told apart by their lines, so that no colour is needed. Colours come from the style
 * sheet; the swatches of the legend and of the list are drawn by the same strokes.
 */

import { html, useEffect, useRef } from "../../vendor/preact.js";

const TILE = 8;

/** By state (see `picture.js`): the strokes on a tile of 8 x 8. */
const STROKES = [
  (draw) => dot(draw, 4, 4, 0.7),
  (draw) =>
    lines(
      draw,
      [
        [-2, 2, 2, -2],
        [-1, 9, 9, -1],
        [6, 10, 10, 6],
      ],
      1.1,
    ),
  (draw) => draw.fillRect(0, 0, TILE, TILE),
  (draw) =>
    lines(
      draw,
      [
        [0, 0, 8, 8],
        [0, 8, 8, 0],
      ],
      1.3,
    ),
  (draw) =>
    lines(
      draw,
      [
        [0, 2, 8, 2],
        [0, 6, 8, 6],
      ],
      1.2,
    ),
];

const NAMES = ["hidden", "opened", "quoted", "pinned", "recent"];

function dot(draw, x, y, radius) {
  draw.beginPath();
  draw.arc(x, y, radius, 0, 2 * Math.PI);
  draw.fill();
}

function lines(draw, segments, width) {
  draw.lineWidth = width;
  draw.beginPath();
  for (const [x1, y1, x2, y2] of segments) {
    draw.moveTo(x1, y1);
    draw.lineTo(x2, y2);
  }
  draw.stroke();
}

/**
 * The colours that the style sheet gives, read anew when the colour scheme changes.
 * @param {Element} element inside the page
 */
export function palette(element) {
  const probe = document.createElement("span"); // a canvas wants colours, not names of them
  probe.hidden = true;
  element.after(probe);
  const colour = (name) => {
    probe.style.color = `var(--tree-${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    paper: colour("paper"),
    edge: colour("edge"),
    text: colour("text"),
    chosen: colour("chosen"),
    found: colour("found"),
    grounds: NAMES.map((name) => colour(`${name}-ground`)),
    strokes: NAMES.map((name) => colour(`${name}-stroke`)),
  };
  probe.remove();
  return colours;
}

/** One tile of a state's pattern, `scale` device pixels per CSS pixel. */
export function tile(state, colours, scale) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.max(1, Math.round(TILE * scale));
  const draw = canvas.getContext("2d");
  draw.scale(canvas.width / TILE, canvas.height / TILE);
  draw.fillStyle = colours.grounds[state];
  draw.fillRect(0, 0, TILE, TILE);
  draw.fillStyle = draw.strokeStyle = colours.strokes[state];
  STROKES[state](draw);
  return canvas;
}

/** Calls `changed` whenever the colours of the page may have changed; returns how to stop that. */
export function onColoursChange(changed) {
  const watched = [
    "(prefers-color-scheme: dark)",
    "(prefers-contrast: more)",
    "(forced-colors: active)",
  ].map((query) => matchMedia(query));
  for (const media of watched) media.addEventListener("change", changed);
  return () => {
    for (const media of watched) media.removeEventListener("change", changed);
  };
}

/** A small square of a state's pattern; the word stands beside it. */
export function Swatch({ state }) {
  const canvas = useRef(null);
  useEffect(() => {
    const show = () => {
      const scale = devicePixelRatio || 1;
      const element = canvas.current;
      const draw = element.getContext("2d");
      element.width = element.height = Math.round(14 * scale);
      draw.fillStyle = draw.createPattern(tile(state, palette(element), scale), "repeat");
      draw.fillRect(0, 0, element.width, element.height);
    };
    show();
    return onColoursChange(show);
  }, [state]);
  return html`<canvas class="tree-swatch" ref=${canvas} aria-hidden="true"></canvas>`;
}
