/** What the requests add up to, and how long they took; each number opens to what it is the sum of. */

import { html, useState } from "../vendor/preact.js";
import { count } from "../shell/format.js";
import { ScrollBox } from "../shell/scroll_box.js";
import { took } from "../state/figures.js";
import { signed } from "../state/saved_card.js";
import { byConversation, percentile } from "./row_sums.js";

const LISTED = 100; // conversations
const FIGURES = [
  ["requests", "Requests", count],
  ["posted_tokens", "Posted tokens", count],
  ["sent_tokens", "Sent tokens", count],
  ["saved_tokens", "Saved tokens", signed],
];

/**
 * @param {{totals: object | null, rows: object[], complete: boolean, choose: (address: string) => void}} props
 */
export function Totals({ totals, rows, complete, choose }) {
  const [open, setOpen] = useState(false);
  return html`<section class="card requests-totals" aria-label="Sums" aria-busy=${String(totals === null)}>
    <div class="requests-figures">
      ${FIGURES.map(
        ([name, title, shown]) => html`<button
          key=${name}
          type="button"
          class="requests-figure"
          aria-expanded=${String(open)}
          aria-controls="requests-sums"
          onClick=${() => setOpen(!open)}
        >
          <span class="label soft">${title}</span>
          <span class="requests-number number">${totals ? shown(totals[name]) : "–"}</span>
        </button>`,
      )}
    </div>
    <div id="requests-sums" hidden=${!open}>
      ${open && html`<${Sums} ...${{ totals, rows, complete, choose }} />`}
    </div>
    <${Durations} rows=${rows} />
  </section>`;
}

function Sums({ totals, rows, complete, choose }) {
  const groups = byConversation(rows);
  const shown = groups.slice(0, LISTED);
  const left = totals.requests - shown.reduce((sum, { requests }) => sum + requests, 0);
  const rest = (name) => totals[name] - shown.reduce((sum, group) => sum + group[name], 0);
  return html`<${ScrollBox} class="wide" label="What adds up to these numbers">
      <table>
        <thead>
          <tr>
            <th scope="col">Conversation</th>
            ${FIGURES.map(([name, title]) => html`<th key=${name} scope="col" class="number">${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (group) => html`<tr key=${group.title || group.conversation}>
              <th scope="row">
                ${
                  group.address
                    ? html`<button type="button" class="requests-link" onClick=${() => choose(group.address)}>
                        <bdi>${group.title || `Untitled, ${group.address.slice(0, 8)}…`}</bdi>
                      </button>`
                    : "Not read by memory"
                }
              </th>
              ${FIGURES.map(([name, , say]) => html`<td key=${name} class="number">${say(group[name])}</td>`)}
            </tr>`,
          )}
          ${
            left > 0 &&
            html`<tr>
              <th scope="row">${complete ? "Others" : "Others, and older ones that are not loaded"}</th>
              ${FIGURES.map(([name, , say]) => html`<td key=${name} class="number">${say(rest(name))}</td>`)}
            </tr>`
          }
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Sum</th>
            ${FIGURES.map(([name, , say]) => html`<td key=${name} class="number"><strong>${say(totals[name])}</strong></td>`)}
          </tr>
        </tfoot>
      </table>
    <//>
    <p class="hint">
      Saved: what a request would have cost as it was posted, less what it did cost, in tokens of plain input.
      The first request of a conversation is cached on neither side; one that went whole saves nothing.
    </p>`;
}

/** Half of the requests took no longer, and 19 of 20. */
function Durations({ rows }) {
  const times = [
    ["First token", rows.map((row) => row.first_token_ms)],
    ["Whole answer", rows.map((row) => row.total_ms)],
  ];
  if (!rows.length) return null;
  return html`<dl class="requests-durations">
    ${times.map(
      ([title, numbers]) => html`<div key=${title}>
        <dt>${title}</dt>
        <dd>
          <abbr title="Half of the requests took no longer">p50</abbr>
          <strong class="number">${took(percentile(numbers, 0.5))}</strong>
          <abbr title="19 of 20 requests took no longer">p95</abbr>
          <strong class="number">${took(percentile(numbers, 0.95))}</strong>
        </dd>
      </div>`,
    )}
  </dl>`;
}
