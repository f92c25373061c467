/** When the requests of an hour or a day came, by what memory made of them. */

import { html, useMemo } from "../vendor/preact.js";
import { clock } from "../shell/format.js";
import { DayChart } from "../state/days/day_chart.js";
import { GROUPS } from "../state/days/state_groups.js";
import { Swatch } from "../state/days/token_chart.js";
import { parts } from "./row_sums.js";

/** @param {{rows: object[], span: {since: Date, until: Date}}} props */
export function Timeline({ rows, span }) {
  const { since, until } = span;
  const drawn = useMemo(() => parts(rows, { since, until }), [rows, since.getTime(), until.getTime()]);
  return html`<section class="card requests-timeline" aria-labelledby="requests-timeline">
    <h2 id="requests-timeline">${until - since > 5_400_000 ? "Requests per hour" : "Requests per five minutes"}</h2>
    <ul class="state-legend inline" aria-hidden="true">
      ${GROUPS.map(({ name, label }) => html`<li key=${name}><${Swatch} name=${name} /> ${label.toLowerCase()}</li>`)}
    </ul>
    <${DayChart} daily=${drawn} what="Requests" name=${(date) => clock(new Date(date))} rest="The list below has each." />
  </section>`;
}
