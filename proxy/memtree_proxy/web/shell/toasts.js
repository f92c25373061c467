/** Short messages at the edge of the page; one live region reads them out. */

import { html, useEffect, useState } from "../vendor/preact.js";

const SECONDS = 6;
const MOST = 4; // at once; the oldest makes room
const MOST_ACTIONS = 10; // of those that offer something: an Undo is there as long as it says

let shown = [];
let lastNumber = 0;
const listeners = new Set();

function change(toasts) {
  shown = toasts;
  for (const listener of listeners) listener(shown);
}

/**
 * @param {string} text
 * @param {Object} [options]
 * @param {"info" | "success" | "problem"} [options.kind]
 * @param {{label: string, run: () => void}} [options.action] one button, as Undo
 * @param {number} [options.seconds] until it goes; it stays while the pointer or the focus is on it
 * @returns {() => void} removes it
 */
export function toast(text, { kind = "info", action = null, seconds = SECONDS } = {}) {
  const one = { number: ++lastNumber, text, kind, action, seconds };
  change(crowded([...shown, one]));
  return () => dismiss(one.number);
}

/** Those of them that may stay. @param {{action: object | null}[]} toasts the newest last */
export function crowded(toasts) {
  const plain = toasts.filter((one) => !one.action).slice(-MOST);
  const offers = toasts.filter((one) => one.action).slice(-MOST_ACTIONS);
  const room = Math.max(1, MOST - offers.length);
  const kept = new Set([...offers, ...plain.slice(-room)]);
  return toasts.filter((one) => kept.has(one));
}

function dismiss(number) {
  if (shown.some((one) => one.number === number)) {
    change(shown.filter((one) => one.number !== number));
  }
}

/** The region itself; `frame.js` draws it once. */
export function Toasts() {
  const [toasts, setToasts] = useState(shown);
  useEffect(() => {
    listeners.add(setToasts);
    setToasts(shown);
    return () => listeners.delete(setToasts);
  }, []);
  return html`
    <section class="toasts" aria-label="Notifications">
      <div aria-live="polite" role="status">
        ${toasts.map((one) => html`<${Toast} key=${one.number} toast=${one} />`)}
      </div>
    </section>
  `;
}

function Toast({ toast: { number, text, kind, action, seconds } }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return undefined;
    const timer = setTimeout(() => dismiss(number), seconds * 1000);
    return () => clearTimeout(timer);
  }, [held]);
  const run = () => {
    dismiss(number);
    action.run();
  };
  return html`
    <div
      class=${`toast ${kind}`}
      onMouseEnter=${() => setHeld(true)}
      onMouseLeave=${() => setHeld(false)}
      onfocusin=${() => setHeld(true)}
      onfocusout=${() => setHeld(false)}
    >
      <span class="toast-text">${text}</span>
      ${action &&
      html`<button type="button" class="button small" onClick=${run}>${action.label}</button>`}
      <button
        type="button"
        class="icon-button"
        aria-label="Dismiss"
        onClick=${() => dismiss(number)}
      >
        ✕
      </button>
    </div>
  `;
}
