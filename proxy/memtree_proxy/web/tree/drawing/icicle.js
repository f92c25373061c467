/** The icicle: an overview for the eye. Whatever it can do, the list beside it and its buttons can do by keyboard. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { count, tokens } from "../../shell/format.js";
import { IcicleDrawing, nodeAt, Viewport } from "./icicle_drawing.js";
import { onColoursChange, Swatch } from "./patterns.js";
import { OPENED, STATES } from "../model/picture.js";

const ROW = 34; // pixels, as long as there is room
const LEAST_HEIGHT = 90;
const MOST_HEIGHT = 220;
const STEP = 1.6;

/** The view, kept as long as the tree is the same, and moved where the selected node is out of sight. */
export function useViewport(model, selected) {
  const [view, setView] = useState(() => new Viewport(0, model.tokens));
  const change = (next) => setView((old) => next(old));
  useLayoutEffect(() => setView(new Viewport(0, model.tokens)), [model]);
  useLayoutEffect(() => {
    if (selected < 0) return;
    change((old) =>
      old.showing(model.start[selected], Math.min(model.size[selected], old.size), model.tokens),
    );
  }, [model, selected]);
  return {
    view,
    zoom: (factor, share = middleOf(model, selected, view)) =>
      change((old) => old.zoomed(factor, share, model.tokens)),
    pan: (share) => change((old) => old.moved(old.size * share, model.tokens)),
    fit: () => setView(new Viewport(0, model.tokens)),
    show: (index) =>
      setView(
        Viewport.within(
          model.start[index] - model.size[index] * 0.02,
          model.size[index] * 1.04,
          model.tokens,
        ),
      ),
  };
}

/** Zooming by key keeps the selected node where it is. */
function middleOf(model, selected, view) {
  if (selected < 0) return 0.5;
  const share = (model.start[selected] + model.size[selected] / 2 - view.from) / view.size;
  return Math.min(1, Math.max(0, share));
}

/**
 * @param {{model: import("../model/tree_model.js").TreeModel, picture: import("../model/picture.js").Picture | null,
 *   selected: number, found: Uint8Array | null, port: ReturnType<useViewport>, onSelect: (index: number) => void}} props
 */
export function Icicle({ model, picture, selected, found, port, onSelect }) {
  const canvas = useRef(null);
  const drawing = useRef(null);
  const latest = useRef(null);
  latest.current = { model, picture, view: port.view, selected, found };
  useLayoutEffect(() => {
    drawing.current ??= new IcicleDrawing(canvas.current);
    drawing.current.draw(latest.current);
  });
  useEffect(() => {
    const redraw = () => drawing.current.draw(latest.current);
    const sizes = new ResizeObserver(redraw);
    sizes.observe(canvas.current);
    const stop = onColoursChange(() => {
      drawing.current.forgetColours();
      redraw();
    });
    return () => {
      sizes.disconnect();
      stop();
    };
  }, []);
  const pointer = usePointer(canvas, latest, port, onSelect);
  const height = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, model.rows * ROW));
  return html`<div class="tree-icicle">
    <canvas
      ref=${canvas}
      class="tree-canvas"
      style=${{ height: `${height}px` }}
      aria-hidden="true"
      ...${pointer}
    ></canvas>
    <${Buttons} port=${port} model=${model} selected=${selected} />
  </div>`;
}

/** Click selects, double click zooms, dragging and the wheel move. */
function usePointer(canvas, latest, port, onSelect) {
  const drag = useRef(null);
  const at = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return {
      x: event.clientX - box.left,
      y: event.clientY - box.top,
      width: box.width,
      height: box.height,
    };
  };
  const hit = (event) => {
    const { x, y, width, height } = at(event);
    const { model, view } = latest.current;
    return nodeAt(model, x, y, view, width, height);
  };
  useLayoutEffect(() => {
    const element = canvas.current;
    const wheel = (event) => {
      const { model, view } = latest.current;
      const { x, width } = at(event);
      if (event.deltaX || event.shiftKey) port.pan((event.deltaX || event.deltaY) / width);
      else if (event.deltaY < 0 || view.size < model.tokens)
        port.zoom(1.0015 ** event.deltaY, x / width);
      else return; // all is seen: the page scrolls
      event.preventDefault();
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });
  return {
    onPointerDown: (event) => {
      drag.current = { x: event.clientX, moved: false };
      canvas.current.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => {
      if (!drag.current) return;
      const moved = event.clientX - drag.current.x;
      if (!drag.current.moved && Math.abs(moved) < 4) return;
      port.pan(-moved / at(event).width);
      drag.current = { x: event.clientX, moved: true };
    },
    onPointerUp: (event) => {
      const found = drag.current && !drag.current.moved ? hit(event) : -1;
      drag.current = null;
      if (found >= 0) onSelect(found);
    },
    onPointerCancel: () => (drag.current = null),
    onDblClick: (event) => {
      const found = hit(event);
      if (found >= 0) port.show(found);
    },
  };
}

function Buttons({ port, model, selected }) {
  const share = Math.round((port.view.size / Math.max(1, model.tokens)) * 100);
  return html`<div class="tree-zoom" role="group" aria-label="Zoom of the drawing">
    <button
      type="button"
      class="icon-button"
      aria-label="Zoom in"
      onClick=${() => port.zoom(1 / STEP)}
    >
      +
    </button>
    <button
      type="button"
      class="icon-button"
      aria-label="Zoom out"
      onClick=${() => port.zoom(STEP)}
    >
      −
    </button>
    <button
      type="button"
      class="icon-button"
      aria-label="Move left"
      onClick=${() => port.pan(-0.4)}
    >
      ←
    </button>
    <button
      type="button"
      class="icon-button"
      aria-label="Move right"
      onClick=${() => port.pan(0.4)}
    >
      →
    </button>
    <button
      type="button"
      class="button small"
      disabled=${selected < 0}
      onClick=${() => port.show(selected)}
    >
      Zoom to selection
    </button>
    <button type="button" class="button small" onClick=${port.fit}>Show all</button>
    <span class="soft tree-share"
      >${share < 100 ? `${Math.max(1, share)} % of` : "all"} ${tokens(model.tokens)}</span
    >
  </div>`;
}

function summaries(number) {
  return `${count(number)} ${number === 1 ? "summary" : "summaries"}`;
}

/** What the patterns mean, and how much of the conversation has each. */
export function Legend({ picture }) {
  return html`<ul class="tree-legend" aria-label="Legend">
    ${[2, 1, 3, 4, 0].map(
      (state) =>
        html`<li title=${STATES[state].means}>
          <${Swatch} state=${state} /> <span>${STATES[state].name}</span>
          ${picture && html` <span class="soft">${state === OPENED ? summaries(picture.sums[state]) : tokens(picture.sums[state])}</span>`}
        </li>`,
    )}
  </ul>`;
}
