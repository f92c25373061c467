/** How old what is shown is, and what is wrong if it is older than it should be. */

import { html } from "../vendor/preact.js";
import { Time } from "../shell/format.js";

/** @param {{latest: {at: Date | null, error: Error | null, reload: () => void}}} props */
export function Freshness({ latest }) {
  const { at, error, reload } = latest;
  if (error && at) {
    return html`
      <div class="note warning state-stale" role="status">
        <span>These numbers are from <${Time} at=${at} />. ${error.message}</span>
        <button type="button" class="button small" onClick=${reload}>Try again</button>
      </div>
    `;
  }
  return html`<span class="hint state-fresh">${at ? "Up to date" : "Loading"}</span>`;
}
