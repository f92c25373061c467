/** The focus in a list of cards: it moves with the arrow keys, and comes back after an action. */
import { useLayoutEffect, useRef, useState } from "../../vendor/preact.js";

/** @param {import("../rows.js").Memory[]} rows */
export function useFocus(rows) {
  const box = useRef(null);
  const wanted = useRef(null);
  const latest = useRef(rows);
  latest.current = rows;
  const [index, setIndex] = useState(-1);

  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const card = find(box.current, wanted.current);
    if (!card || card.classList.contains("editing")) return;
    wanted.current = null;
    card.focus();
  });

  const focus = (id) => {
    wanted.current = id;
    setIndex(latest.current.findIndex((row) => row.id === id));
    const card = find(box.current, id);
    if (card && !card.classList.contains("editing")) card.focus();
  };
  const press = (event) => {
    const id = event.target.dataset?.memory;
    if (!id || event.target.classList.contains("editing")) return;
    const at = latest.current.findIndex((row) => row.id === id);
    const last = latest.current.length - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (to >= 0 && to <= last) focus(latest.current[to].id);
  };
  /** The row to go to when these go; null where the focus is not on one of them. */
  const neighbour = (ids) => {
    const gone = new Set(ids);
    const card = document.activeElement?.closest?.("[data-memory]");
    if (!card || !gone.has(card.dataset.memory)) return null;
    const rows = latest.current;
    const at = rows.findIndex((row) => row.id === card.dataset.memory);
    const next = rows.slice(at).find((row) => !gone.has(row.id));
    return (next || rows.slice(0, at).findLast((row) => !gone.has(row.id)))?.id ?? null;
  };
  return { box, index, focus, press, neighbour };
}

function find(box, id) {
  return box?.querySelector(`[data-memory="${CSS.escape(id)}"]`);
}
