/** What stands around the text of an answer: thoughts before it, calls of tools after it. */
import { html } from "../../../vendor/preact.js";

/** @param {{text: string}} props */
export function Reasoning({ text }) {
  if (!text) return null;
  return html`<details class="reasoning">
    <summary>Thoughts</summary>
    <p class="message-text">${text}</p>
  </details>`;
}

/** @param {{names: string[]}} props as the model wrote them */
export function Tools({ names }) {
  if (!names.length) return null;
  const listed = names.map(
    (name, index) => html`${index > 0 ? ", " : ""}<code key=${index}>${name}</code>`,
  );
  return html`<p class="message-quiet">The model called ${listed}, which this page does not run.</p>`;
}
