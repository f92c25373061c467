/**
 * Boxes that scroll, for who has no mouse. Where nothing in such a box can have the focus, the box
 * itself takes it, so that the arrow keys scroll it; as long as all of it is seen there is nothing to
 * scroll, and Tab goes past it.
 */

import { h, useLayoutEffect, useRef } from "../vendor/preact.js";

/**
 * @param {Object} props
 * @param {string} [props.as] the name of the element
 * @param {string} props.label what is in it; a screen reader says it with the focus
 */
export function ScrollBox({ as = "div", label, children, ...attributes }) {
  const box = useRef(null);
  useScrollStop(box);
  return h(as, { ref: box, role: "group", "aria-label": label, ...attributes }, children);
}

/**
 * Let Tab stop at a box while it scrolls.
 *
 * @param {{current: HTMLElement}} box drawn with a role and a name
 * @param {boolean} [wanted] false: something in it always has a stop of its own
 */
export function useScrollStop(box, wanted = true) {
  useLayoutEffect(() => {
    if (wanted) markStop(box.current); // what is in it may have changed
  });
  useLayoutEffect(() => {
    if (!wanted) return undefined;
    const observer = new ResizeObserver(() => markStop(box.current));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [wanted]);
}

/** No attribute of the virtual document: it follows from the layout, which is known afterwards. */
function markStop(box) {
  const { scrollHeight, clientHeight, scrollWidth, clientWidth } = box;
  // All four are rounded, so one pixel may be nothing at all.
  if (scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1) box.tabIndex = 0;
  else if (document.activeElement !== box) box.removeAttribute("tabindex");
}
