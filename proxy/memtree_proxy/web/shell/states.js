/** What stands where content will be: while it loads, where there is none, and when it fails. */

import { html } from "../vendor/preact.js";

/** @param {{rows?: number, label?: string}} props grey lines of the size of what will come */
export function Loading({ rows = 3, label = "Loading" }) {
  const lines = Array.from({ length: rows }, (_, index) => index);
  return html`
    <div class="loading" role="status">
      <span class="visually-hidden">${label}</span>
      ${lines.map((line) => html`<div key=${line} class="skeleton" aria-hidden="true"></div>`)}
    </div>
  `;
}

/** @param {{title: string, children?: unknown}} props what is empty, and what to do about it */
export function Empty({ title, children }) {
  return html`
    <div class="empty">
      <p class="empty-title">${title}</p>
      ${children}
    </div>
  `;
}

/** @param {{error: Error, title?: string, retry?: () => void}} props */
export function Problem({ error, title = "This did not work", retry }) {
  return html`
    <div class="note problem" role="alert">
      <p><strong>${title}.</strong> ${error.message}</p>
      ${error.retryAfter > 0 && html`<p>Try again in ${Math.ceil(error.retryAfter)} s.</p>`}
      ${retry && html`<button type="button" class="button" onClick=${retry}>Try again</button>`}
    </div>
  `;
}
