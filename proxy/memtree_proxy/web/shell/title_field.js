/** A title that is edited in its place: Enter or leaving the field keeps it, Escape does not. */

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

/**
 * Whether the title is being edited, and a button that gets the focus back afterwards.
 * @param {string} title
 * @param {(text: string) => void} keep called with a text that is another
 */
export function useRenaming(title, keep) {
  const [renaming, setRenaming] = useState(false);
  const button = useRef(null);
  const back = useRef(false); // the button gets the focus that the field had
  useLayoutEffect(() => {
    if (back.current) button.current?.focus();
    back.current = false;
  }, [renaming]);
  /** `left`: the focus went elsewhere, and stays there. */
  const finish = (text, left) => {
    back.current = !left;
    setRenaming(false);
    if (text !== null && text.trim() && text.trim() !== title) keep(text.trim());
  };
  return { renaming, button, begin: () => setRenaming(true), finish };
}

export function TitleField({ label, title, most, onEnd }) {
  const field = useRef(null);
  const ended = useRef(false);
  useLayoutEffect(() => {
    field.current.focus();
    field.current.select();
  }, []);
  const end = (text, left) => {
    if (ended.current) return;
    ended.current = true;
    onEnd(text, left);
  };
  const press = (event) => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault(); // else the button that gets the focus is pressed by it
    end(event.key === "Enter" ? event.target.value : null, false);
  };
  return html`<input
    ref=${field}
    class="input"
    aria-label=${label}
    maxlength=${most}
    value=${title}
    onKeyDown=${press}
    onBlur=${(event) => end(event.target.value, true)}
  />`;
}
