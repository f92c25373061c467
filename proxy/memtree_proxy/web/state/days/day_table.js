/** Every day as a row: what the charts draw, for who reads numbers. */

import { html, useState } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { ScrollBox } from "../../shell/scroll_box.js";
import { signed } from "../saved_card.js";
import { dayName } from "./scale.js";
import { byGroup, GROUPS } from "./state_groups.js";

/** @param {{daily: object[]}} props drawn when it is opened: 400 days are 3,600 cells */
export function DayTable({ daily }) {
  const [open, setOpen] = useState(false);
  return html`
    <details class="state-table" onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>Show every day as a table</summary>
      ${open && html`<${Rows} daily=${daily} />`}
    </details>
  `;
}

function Rows({ daily }) {
  const days = daily.filter((day) => Object.keys(day.requests).length).reverse();
  if (!days.length) return html`<p class="hint">No requests came in this time.</p>`;
  return html`
    <${ScrollBox} class="wide" label="Every day">
      <table>
        <caption class="visually-hidden">
          Requests, tokens and savings by day, the newest first; days without requests are left out
        </caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            ${GROUPS.map(({ name, label }) => html`<th key=${name} scope="col" class="number">${label}</th>`)}
            <th scope="col" class="number">Posted</th>
            <th scope="col" class="number">Sent</th>
            <th scope="col" class="number">Saved</th>
          </tr>
        </thead>
        <tbody>
          ${days.map((day) => html`<${Row} key=${day.date} day=${day} />`)}
        </tbody>
      </table>
    <//>
  `;
}

function Row({ day }) {
  const sums = byGroup(day.requests);
  return html`
    <tr>
      <th scope="row"><a href=${`/ui/requests#day=${day.date}`}><time datetime=${day.date}>${dayName(day.date, true)}</time></a></th>
      ${GROUPS.map(({ name }) => html`<td key=${name} class="number">${count(sums[name])}</td>`)}
      <td class="number">${count(day.raw_tokens)}</td>
      <td class="number">${count(day.sent_tokens)}</td>
      <td class="number">${signed(day.saved_tokens)}</td>
    </tr>
  `;
}
