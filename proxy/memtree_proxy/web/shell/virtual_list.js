/** A list of any length, of which only the rows in sight are in the document. */

import {
  html,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
} from "../vendor/preact.js";
import { RowHeights } from "./row_heights.js";
import { useScrollStop } from "./scroll_box.js";

const MARGIN = 600; // px above and below that are drawn as well
const FIRST = 900; // px that are drawn before the height of the list is known

/**
 * @param {Object} props
 * @param {number} props.count
 * @param {number} props.rowHeight a guess in px; what is drawn is measured
 * @param {(index: number) => unknown} props.render the content of a row
 * @param {(index: number) => string | number} [props.itemKey] what a row is about, where rows move
 * @param {(index: number) => Object} [props.itemProps] more attributes of a row, as `aria-level`
 * @param {(() => void) | null} [props.onEnd] called when the end comes near, once for each `count`
 *   and whenever it is given again
 * @param {string} props.label
 * @param {string} [props.role]
 * @param {string} [props.itemRole]
 * @param {string} [props.class]
 * @param {number} [props.focusIndex] a row that is scrolled to when this changes, and stays drawn.
 *   While the focus is in the list, it goes to the row, or to what has `tabindex="0"` in it.
 * @param {boolean} [props.stop] rows hold nothing that takes the focus: the list does, while it scrolls
 */
export function VirtualList({
  count,
  rowHeight,
  render,
  itemKey = (index) => index,
  itemProps = () => ({}),
  onEnd,
  label,
  role = "list",
  itemRole = "listitem",
  class: name = "",
  focusIndex = -1,
  stop = false,
}) {
  const box = useRef(null);
  const heights = useMemo(() => new RowHeights(rowHeight), [rowHeight]);
  const focus = useHeldFocus(itemKey, count);
  const [, redraw] = useReducer((turn) => turn + 1, 0);
  const observer = useRowObserver(box, heights, count, redraw);
  useScrollStop(box, stop);

  const from = box.current?.scrollTop ?? 0;
  const height = box.current?.clientHeight || FIRST;
  const first = heights.at(Math.max(0, from - MARGIN), count);
  const last = count ? heights.at(from + height + MARGIN, count) : -1;
  const rows = [];
  for (let index = first; index <= last; index++) rows.push(index);
  for (const extra of [focus.row(), focusIndex]) {
    if (extra >= 0 && extra < count && !rows.includes(extra)) rows.push(extra);
  }
  rows.sort((a, b) => a - b);

  // A row that others came or went before keeps its size, so no observer tells of it.
  const moved = useCallback((index, element) => {
    if (heights.set(index, element.getBoundingClientRect().height)) redraw();
  }, [heights]);
  const near = last >= count - 1;
  useEffect(() => {
    if (near && onEnd) onEnd();
  }, [near, count, Boolean(onEnd)]); // also where what it began was given up
  useLayoutEffect(() => reveal(box.current, heights, focusIndex, count), [focusIndex]);
  useEffect(() => {
    const resized = new ResizeObserver(redraw);
    resized.observe(box.current);
    return () => resized.disconnect();
  }, []);

  return html`
    <div
      ref=${box}
      class=${`virtual-list ${name}`}
      role=${role}
      aria-label=${label}
      onScroll=${redraw}
      onfocusin=${focus.enter}
      onfocusout=${focus.leave}
    >
      <div
        class="virtual-list-rows"
        role="presentation"
        style=${{ height: `${heights.top(count, count)}px` }}
      >
        ${rows.map(
          (index) => html`<${Row}
            key=${itemKey(index)}
            index=${index}
            top=${heights.top(index, count)}
            observer=${observer}
            moved=${moved}
            attributes=${{
              role: itemRole,
              "aria-setsize": count,
              "aria-posinset": index + 1,
              ...itemProps(index),
            }}
            >${render(index)}<//
          >`,
        )}
      </div>
    </div>
  `;
}

function Row({ index, top, observer, moved, attributes, children }) {
  const element = useRef(null);
  const before = useRef(index);
  useLayoutEffect(() => {
    const row = element.current;
    observer.observe(row);
    return () => observer.unobserve(row);
  }, [observer]);
  useLayoutEffect(() => {
    if (before.current !== index) moved(index, element.current);
    before.current = index;
  }, [index]);
  return html`<div
    ref=${element}
    class="virtual-list-row"
    data-row=${index}
    style=${{ transform: `translateY(${top}px)` }}
    ...${attributes}
    >${children}</div
  >`;
}

/**
 * The row that has the focus. It stays drawn, also where rows before it come or go; and where it is
 * moved in the document, which takes the focus away, it gets the focus back. (This Preact knows
 * focusin and focusout by their small letters alone: `onFocusIn` never runs.)
 */
function useHeldFocus(itemKey, count) {
  const held = useRef(null); // {element, index, key}
  const drawing = useRef(false);
  drawing.current = true;
  useLayoutEffect(() => {
    drawing.current = false;
    const element = held.current?.element;
    if (!element || document.activeElement === element) return;
    if (element.isConnected && document.activeElement === document.body) {
      element.focus({ preventScroll: true });
    } else held.current = null;
  });
  const row = () => {
    if (!held.current) return -1;
    const { index, key } = held.current;
    if (index < count && itemKey(index) === key) return index;
    for (let at = 0; at < count; at++) {
      if (itemKey(at) !== key) continue;
      held.current.index = at;
      return at;
    }
    return -1;
  };
  const enter = ({ target }) => {
    const index = Number(target.closest("[data-row]")?.dataset.row ?? -1);
    held.current = index < 0 ? null : { element: target, index, key: itemKey(index) };
  };
  const leave = () => {
    if (!drawing.current) held.current = null;
  };
  return { row, enter, leave };
}

/** Measures rows as they are drawn; what is in sight stays where it is. */
function useRowObserver(box, heights, count, redraw) {
  const current = useRef(count);
  current.current = count;
  const measure = useCallback(
    (entries) => {
      const list = box.current;
      if (!list) return;
      let above = 0;
      let changed = false;
      for (const { target, borderBoxSize } of entries) {
        const index = Number(target.dataset.row);
        const height = borderBoxSize[0].blockSize;
        if (!target.isConnected || !height) continue;
        const over = heights.top(index, current.current) < list.scrollTop;
        const taller = heights.set(index, height);
        changed ||= taller !== 0;
        if (over) above += taller;
      }
      if (!changed) return;
      redraw();
      if (above) requestAnimationFrame(() => (list.scrollTop += above));
    },
    [heights],
  );
  const observer = useMemo(() => new ResizeObserver(measure), [measure]);
  useEffect(() => () => observer.disconnect(), [observer]);
  return observer;
}

/** Scroll as little as needed to see a row; move the focus there where it is in the list. */
function reveal(list, heights, index, count) {
  if (index < 0 || index >= count) return;
  const top = heights.top(index, count);
  const bottom = top + heights.of(index);
  if (top < list.scrollTop) list.scrollTop = top;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  if (!list.contains(document.activeElement)) return;
  const row = list.querySelector(`[data-row="${index}"]`);
  const target = row?.matches("[tabindex]") ? row : row?.querySelector('[tabindex="0"]');
  target?.focus({ preventScroll: true });
}
