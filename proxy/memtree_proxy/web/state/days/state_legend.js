/** Requests of the period by what memory made of them; the legend of the chart above it. */

import { html } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { GROUPS, groupOf, meaning } from "./state_groups.js";

/** @param {{states: Record<string, number>}} props */
export function StateLegend({ states }) {
  const rows = GROUPS.flatMap(({ name }) =>
    Object.entries(states)
      .filter(([state]) => groupOf(state) === name)
      .sort((one, other) => other[1] - one[1])
      .map(([state, times]) => ({ name, state, times })),
  );
  return html`
    <ul class="state-legend">
      ${rows.map(
        ({ name, state, times }) => html`
          <li key=${state}>
            <svg class="state-swatch" viewBox="0 0 12 12" aria-hidden="true">
              <rect class=${`fill-${name}`} width="12" height="12" />
            </svg>
            <span class="number state-times">${count(times)}</span>
            <span><code>${state}</code> <span class="hint">${meaning(state)}</span></span>
          </li>
        `,
      )}
    </ul>
  `;
}
