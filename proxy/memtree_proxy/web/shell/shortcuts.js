/** Keys that work anywhere on a page. */

import { useLayoutEffect, useRef } from "../vendor/preact.js";

/**
 * @param {string} shortcut as in "Alt+M" or "/"; a single character is left alone while somebody
 *   types
 * @param {(event: KeyboardEvent) => void} run
 */
export function useShortcut(shortcut, run) {
  const current = useRef(run);
  current.current = run;
  useLayoutEffect(() => {
    const press = (event) => {
      if (!matches(shortcut, event)) return;
      if (!shortcut.includes("+") && isTyping(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      event.preventDefault();
      current.current(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [shortcut]);
}

/**
 * @param {string} shortcut
 * @param {{key: string, code: string, altKey: boolean, ctrlKey: boolean, metaKey: boolean,
 *   shiftKey: boolean}} event
 * @returns {boolean}
 */
export function matches(shortcut, event) {
  const parts = shortcut.split("+");
  const wanted = parts.pop();
  const named = (name) => parts.includes(name);
  // With Alt a Mac writes another character, so letters go by the place of the key.
  const same =
    event.key.toLowerCase() === wanted.toLowerCase() || event.code === `Key${wanted.toUpperCase()}`;
  const shift = named("Shift") === event.shiftKey || wanted.length === 1;
  return (
    same &&
    named("Alt") === event.altKey &&
    named("Ctrl") === (event.ctrlKey || event.metaKey) &&
    shift
  );
}

function isTyping(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
