/**
 * The tree as a list: the accessible truth of the drawing. Only the rows in sight are in the document; the list itself
 * has the focus and names the row that is meant (`aria-activedescendant`).
 */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { count } from "../shell/format.js";
import { Swatch } from "./drawing/patterns.js";
import { STATES } from "./model/picture.js";

const ROW = 34; // pixels; `--tree-row` in the style sheet
const MARGIN = 8; // rows above and below those in sight
const TYPE_AHEAD = 900; // milliseconds until typed letters begin a new word

/**
 * @param {{model: import("./model/tree_model.js").TreeModel, picture: import("./model/picture.js").Picture | null,
 *   rows: number[], expanded: Uint8Array, selected: number, found: Uint8Array | null,
 *   onSelect: (index: number) => void, onExpand: (index: number, open: boolean) => void,
 *   onKey: (event: KeyboardEvent) => boolean}} props
 *   `rows`: the nodes of the list, in order; `onKey` is asked first, for the keys of the drawing
 */
export function TreeList(props) {
  const { model, picture, rows, expanded, selected, found, onSelect, onExpand } = props;
  const box = useRef(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(480);
  const typed = useRef({ text: "", at: -Infinity });
  const row = rowOf(rows, selected);
  useEffect(() => {
    const sizes = new ResizeObserver(() => setHeight(box.current.clientHeight));
    sizes.observe(box.current);
    return () => sizes.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (row < 0) return;
    const list = box.current;
    const above = row * ROW;
    if (above < list.scrollTop) list.scrollTop = above;
    else if (above + ROW > list.scrollTop + list.clientHeight)
      list.scrollTop = above + ROW - list.clientHeight;
    setTop(list.scrollTop);
  }, [row, rows]);
  const first = Math.max(0, Math.floor(top / ROW) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + MARGIN);
  const drawn = rows.slice(first, last).map((node, at) => [node, first + at]);
  if (row >= 0 && (row < first || row >= last)) drawn.push([selected, row]); // what has the focus is always there
  const keys = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const word = isTyping(event, typed.current); // in a word, a space or a plus is a letter
    if (!word && props.onKey(event)) return;
    const page = Math.max(1, Math.floor(height / ROW) - 1);
    const open = (node) => !!found || !!expanded[node];
    const action = word
      ? null
      : keyAction(event, { model, rows, open, filtered: !!found, row, page });
    const target = action ?? typeAhead(event, typed.current, model, rows, row);
    if (target === null) return;
    event.preventDefault();
    if (target.open !== undefined) onExpand(target.node, target.open);
    else if (target.node >= 0) onSelect(target.node);
  };
  return html`<div
    ref=${box}
    class="tree-list"
    role="tree"
    aria-label="Summaries"
    tabindex="0"
    onKeyDown=${keys}
    onScroll=${() => setTop(box.current.scrollTop)}
    aria-activedescendant=${row >= 0 ? `tree-row-${selected}` : undefined}
  >
    <div role="presentation" class="tree-rows" style=${{ height: `${rows.length * ROW}px` }}>
      ${drawn.map(
        ([node, at]) =>
          html`<${Row}
            key=${node}
            ...${{ model, node, at }}
            state=${picture ? picture.states[node] : -1}
            open=${found ? true : !!expanded[node]}
            chosen=${node === selected}
            hit=${!!found?.[node]}
            onSelect=${onSelect}
            onExpand=${onExpand}
          />`,
      )}
    </div>
  </div>`;
}

function Row({ model, node, at, state, open, chosen, hit, onSelect, onExpand }) {
  const { headline, messages, tokens } = model.nodes[node];
  const leaf = model.isLeaf(node);
  const depth = model.depth[node];
  const toggle = (event) => {
    event.stopPropagation();
    onExpand(node, !open);
  };
  return html`<div
    id=${`tree-row-${node}`}
    role="treeitem"
    class=${`tree-row${hit ? " hit" : ""}`}
    aria-level=${depth + 1}
    aria-setsize=${model.siblings[node]}
    aria-posinset=${model.position[node]}
    aria-expanded=${leaf ? undefined : String(open)}
    aria-selected=${String(chosen)}
    style=${{ transform: `translateY(${at * ROW}px)`, "--depth": Math.min(depth, 12) }}
    onClick=${() => onSelect(node)}
    onDblClick=${() => !leaf && onExpand(node, !open)}
  >
    <span
      class=${`tree-twist${leaf ? " leaf" : ""}`}
      aria-hidden="true"
      onClick=${leaf ? undefined : toggle}
    >
      ${leaf ? "" : open ? "▾" : "▸"}
    </span>
    ${state >= 0 && html`<${Swatch} state=${state} /><span class="visually-hidden">${STATES[state].name}: </span>`}
    <span class="tree-headline"><bdi>${headline || "no headline"}</bdi></span>
    <span class="tree-numbers soft"
      >${range(messages)}<span class="visually-hidden"> messages, </span>
      <span class="tree-size"
        >${count(tokens)}<span class="visually-hidden"> tokens</span></span
      ></span
    >
  </div>`;
}

/** "41" or "41–67". */
export function range([first, last]) {
  return first === last ? String(first) : `${first}–${last}`;
}

/** The row of a node, by halving: rows are in the order of the nodes. -1: not in the list. */
function rowOf(rows, node) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < node) low = middle + 1;
    else high = middle;
  }
  return rows[low] === node ? low : -1;
}

/** What a key of the tree pattern does: {node} to go to, {node, open} to open or close; null: not one of them. */
function keyAction({ key, shiftKey }, { model, rows, open, filtered, row, page }) {
  if (!rows.length || shiftKey) return null;
  const to = (at) => ({ node: rows[Math.min(rows.length - 1, Math.max(0, at))] });
  const node = rows[row];
  const leaf = row < 0 || model.isLeaf(node);
  switch (key) {
    case "ArrowDown":
      return to(row + 1);
    case "ArrowUp":
      return to(row < 0 ? 0 : row - 1);
    case "PageDown":
      return to(row + page);
    case "PageUp":
      return to(row - page);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowRight":
      if (leaf) return { node: -1 };
      return open(node) ? to(row + 1) : { node, open: true };
    case "ArrowLeft":
      if (row < 0) return { node: -1 };
      return !leaf && open(node) && !filtered
        ? { node, open: false }
        : { node: model.parent[node] };
    case "Enter":
    case " ":
      return leaf ? { node: row < 0 ? -1 : node } : { node, open: !open(node) };
    default:
      return null;
  }
}

/** Whether a letter goes on with a word that was begun just now. */
function isTyping({ key, timeStamp }, typed) {
  return key.length === 1 && key !== "/" && timeStamp - typed.at <= TYPE_AHEAD;
}

/** Letters go to the next row whose headline begins with them. */
function typeAhead({ key, timeStamp }, typed, model, rows, row) {
  if (key.length !== 1 || key === "/") return null;
  const fresh = timeStamp - typed.at > TYPE_AHEAD;
  typed.text = (fresh ? "" : typed.text) + key.toLowerCase();
  typed.at = timeStamp;
  const repeated = [...typed.text].every((letter) => letter === typed.text[0]);
  const wanted = repeated ? typed.text[0] : typed.text;
  const from = repeated ? row + 1 : Math.max(0, row);
  for (let step = 0; step < rows.length; step++) {
    const node = rows[(from + step) % rows.length];
    if (model.nodes[node].headline.slice(0, 100).toLowerCase().startsWith(wanted)) return { node };
  }
  return { node: -1 };
}
