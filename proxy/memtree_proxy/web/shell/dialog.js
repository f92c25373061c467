/** Modal dialogs: the browser's own, which keep the focus in and give it back. */

import { html, render, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

let lastNumber = 0;

/**
 * @param {Object} props
 * @param {string} props.title
 * @param {() => void} props.onClose called on Escape, on the close button and on the backdrop
 * @param {string} [props.class]
 * @param {unknown} props.children
 */
export function Dialog({ title, onClose, children, class: name = "" }) {
  const element = useRef(null);
  const [id] = useState(() => `dialog-${++lastNumber}`);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog.showModal();
    return () => {
      if (dialog.open) dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  const press = (event) => {
    if (event.target === element.current) onClose();
  };
  return html`
    <dialog
      ref=${element}
      class=${`dialog ${name}`}
      aria-labelledby=${id}
      onCancel=${cancel}
      onMouseDown=${press}
    >
      <div class="dialog-box">
        <header class="dialog-head">
          <h2 id=${id}>${title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick=${onClose}>✕</button>
        </header>
        ${children}
      </div>
    </dialog>
  `;
}

/**
 * Ask a yes-or-no question.
 *
 * @param {{title: string, text: unknown, confirm: string, danger?: boolean}} question `confirm`:
 *   what the button does, as in "Delete 12 memories"
 * @returns {Promise<boolean>}
 */
export function confirmDialog({ title, text, confirm, danger = false }) {
  return openDialog(
    (answer) => html`
      <${Dialog} title=${title} onClose=${() => answer(false)}>
        <p>${text}</p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick=${() => answer(false)}>Cancel</button>
          <button
            type="button"
            class=${danger ? "button danger" : "button primary"}
            onClick=${() => answer(true)}
          >
            ${confirm}
          </button>
        </div>
      <//>
    `,
  );
}

/**
 * Show a dialog outside of the page's own tree until it has an answer.
 *
 * @template T
 * @param {(answer: (value: T) => void) => unknown} draw
 * @returns {Promise<T>}
 */
export function openDialog(draw) {
  const place = document.createElement("div");
  document.body.append(place);
  return new Promise((resolve) => {
    const answer = (value) => {
      render(null, place);
      place.remove();
      resolve(value);
    };
    // Not at once: Preact forgets the effects of what is drawn while it runs those of another.
    queueMicrotask(() => render(draw(answer), place));
  });
}
