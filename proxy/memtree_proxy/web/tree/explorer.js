/** Drawing, list and detail of one tree: one selection drives all three. */

import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { count } from "../shell/format.js";
import { useShortcut } from "../shell/shortcuts.js";
import { Icicle, Legend, useViewport } from "./drawing/icicle.js";
import { NodeDetail } from "./node_detail.js";
import { PartFilter } from "./model/part_filter.js";
import { NodeSearch } from "./model/tree_model.js";
import { TreeList } from "./tree_list.js";
import { WorkLog } from "./work_log.js";

const OPEN_AT_FIRST = 40; // rows

/**
 * @param {{model: import("./model/tree_model.js").TreeModel, picture: import("./model/picture.js").Picture | null,
 *   history: import("./model/history.js").History | null, first: number, focusOn: object | null,
 *   pins: ReturnType<typeof import("./model/pins.js").usePins>}} props
 *   `first`: the node that is selected at first; `focusOn`: when this changes, the best excerpt is selected
 */
export function Explorer({ model, picture, history, first, focusOn, pins }) {
  const [selected, setSelected] = useState(first);
  const [expanded, setExpanded] = useState(() => openedAtFirst(model, first));
  const [words, setWords] = useState("");
  const [part, setPart] = useState("");
  const [message, setMessage] = useState(null); // the one that a row of the log names
  const [working, setWorking] = useState(false);
  const detail = useRef(null);
  const search = useMemo(() => new NodeSearch(model), [model]);
  const parts = useMemo(() => new PartFilter(model, history), [model, history]);
  const within = useMemo(() => parts.find(part), [parts, part]);
  const result = useMemo(() => search.find(words, within), [search, words, within]);
  const found = useMemo(() => (result ? marked(model, result.hits) : null), [model, result]);
  const rows = useMemo(
    () => model.rowsShown(expanded, result?.kept ?? null),
    [model, expanded, result],
  );
  const port = useViewport(model, selected);
  const expand = (index, open) =>
    setExpanded((old) => {
      const next = old.slice();
      next[index] = open ? 1 : 0;
      return next;
    });
  const select = (index) => {
    setMessage(null);
    setSelected(index);
    setExpanded((old) => withPath(model, old, index));
  };
  useLayoutEffect(() => {
    const best = picture?.excerpts.find(({ leaf, rank }) => leaf >= 0 && rank !== null);
    if (focusOn && best) select(best.leaf);
  }, [focusOn]);
  const showWork = (work) => {
    select(Math.max(0, work.leaf));
    setMessage(work.message);
    detail.current.focus();
  };
  const work = picture?.work ?? [];
  const drawingKeys = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    const action =
      DRAWING_KEYS[
        event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key
      ];
    if (!action) return false;
    event.preventDefault();
    action(port);
    return true;
  };
  return html` <section class="tree-middle" aria-label="Tree">
      ${work.length > 0 && html`<${Views} ...${{ working, setWorking, work }} />`}
      ${
        working && work.length > 0
          ? html`<${WorkLog} ...${{ work, model, history }} onShow=${showWork} />`
          : html`<${Breadcrumbs} model=${model} selected=${selected} onSelect=${select} />
              <${Icicle} ...${{ model, picture, selected, found, port, onSelect: select }} />
              <${Legend} picture=${picture} />
              <${SearchField}
                ...${{ words, setWords, part, setPart, names: parts.names, result, selected, select }}
              />
              <${TreeList}
                ...${{ model, picture, rows, expanded, selected, found, onKey: drawingKeys }}
                onSelect=${select}
                onExpand=${expand}
              />
              <${Keys} />`
      }
    </section>
    <section ref=${detail} class="tree-detail" aria-label="Selected node" tabindex="0">
      <${NodeDetail} ...${{ model, picture, history, selected, message, pins }} />
    </section>`;
}

/** The tree, or what was done. */
function Views({ working, setWorking, work }) {
  const view = (title, on) =>
    html`<button
      type="button"
      class="button small"
      aria-pressed=${String(working === on)}
      onClick=${() => setWorking(on)}
    >
      ${title}
    </button>`;
  return html`<div class="segments" role="group" aria-label="View">
    ${view("Tree", false)} ${view(`Work done (${count(work.length)})`, true)}
  </div>`;
}

/** What the keys do while the list has the focus. */
function Keys() {
  const keys = [
    ["↑ ↓", "previous, next"],
    ["← →", "close, open"],
    ["Home End", "first, last"],
    ["a … z", "next headline that begins so"],
    ["/", "search"],
    ["+ −", "zoom the drawing"],
    ["Shift ← →", "move the drawing"],
  ];
  return html`<details class="tree-keys small-text">
    <summary>Keys</summary>
    <dl>
      ${keys.map(
        ([names, does]) =>
          html`<div key=${names}>
            <dt>${names.split(" ").map((name) => html`<kbd>${name}</kbd>`)}</dt>
            <dd>${does}</dd>
          </div>`,
      )}
    </dl>
  </details>`;
}

const DRAWING_KEYS = {
  "+": (port) => port.zoom(1 / 1.6),
  "-": (port) => port.zoom(1.6),
  "Shift+ArrowLeft": (port) => port.pan(-0.3),
  "Shift+ArrowRight": (port) => port.pan(0.3),
};

/** The first levels, as long as that is a page or two. */
function openedAtFirst(model, first) {
  const expanded = new Uint8Array(model.count);
  for (let depth = 0; depth < model.rows; depth++) {
    const next = expanded.slice();
    for (let i = 0; i < model.count; i++) if (model.depth[i] === depth) next[i] = 1;
    if (depth && model.rowsShown(next).length > OPEN_AT_FIRST) break;
    expanded.set(next);
  }
  return withPath(model, expanded, first);
}

/** With all that lies above a node open. */
function withPath(model, expanded, index) {
  let next = expanded;
  for (let up = model.parent[index] ?? -1; up >= 0; up = model.parent[up]) {
    if (next[up]) continue;
    if (next === expanded) next = expanded.slice();
    next[up] = 1;
  }
  return next;
}

function marked(model, hits) {
  const found = new Uint8Array(model.count);
  for (const hit of hits) found[hit] = 1;
  return found;
}

function Breadcrumbs({ model, selected, onSelect }) {
  const path = selected < 0 ? [] : model.path(selected);
  return html`<nav class="tree-crumbs" aria-label="Path to the selected node">
    <ol>
      ${path.map(
        (index, depth) =>
          html`<li key=${index}>
            <button
              type="button"
              class="tree-crumb"
              aria-current=${index === selected ? "true" : undefined}
              onClick=${() => onSelect(index)}
            >
              <bdi
                >${depth === 0 && path.length > 1 ? "Whole" : model.nodes[index].headline || "no headline"}</bdi
              >
            </button>
          </li>`,
      )}
    </ol>
  </nav>`;
}

function SearchField({ words, setWords, part, setPart, names, result, selected, select }) {
  const field = useRef(null);
  useShortcut("/", () => field.current.focus());
  const hits = result?.hits ?? [];
  const at = hits.indexOf(selected);
  const step = (by) => {
    if (!hits.length) return;
    const next = at >= 0 ? at + by : by > 0 ? 0 : -1;
    select(hits.at(next % hits.length));
  };
  const keys = (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Escape") setWords("");
    else return;
    event.preventDefault();
  };
  return html`<div class="tree-search" role="search">
    <label class="grow"
      ><span class="visually-hidden">Search headlines, bodies and anchors</span>
      <input
        ref=${field}
        type="search"
        class="input"
        value=${words}
        maxlength="200"
        placeholder="Search summaries and anchors  ( / )"
        autocomplete="off"
        onInput=${(event) => setWords(event.target.value)}
        onKeyDown=${keys}
    /></label>
    <input
      class="input tree-part"
      aria-label="File or tool"
      placeholder="Any file or tool"
      list="tree-parts"
      maxlength="200"
      autocomplete="off"
      spellcheck="false"
      value=${part}
      onInput=${(event) => setPart(event.target.value)}
      onKeyDown=${(event) => event.key === "Escape" && setPart("")}
    />
    <datalist id="tree-parts">
      ${names.map((name) => html`<option key=${name} value=${name} />`)}
    </datalist>
    <span class="soft small-text" role="status"
      >${result ? `${at >= 0 ? `${count(at + 1)} of ` : ""}${count(hits.length)} ${hits.length === 1 ? "node" : "nodes"}` : ""}</span
    >
    ${
      result &&
      html`<button
          type="button"
          class="button small"
          disabled=${!hits.length}
          onClick=${() => step(-1)}
        >
          Previous
        </button>
        <button
          type="button"
          class="button small"
          disabled=${!hits.length}
          onClick=${() => step(1)}
        >
          Next
        </button>`
    }
  </div>`;
}
