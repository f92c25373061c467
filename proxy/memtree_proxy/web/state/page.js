/** The page `state`: what was saved and what it cost, what came, and whether the server is well. */

import { html, useEffect, useState } from "../vendor/preact.js";
import { start } from "../shell/frame.js";
import { count } from "../shell/format.js";
import { askForKey } from "../shell/key_dialog.js";
import { Problem } from "../shell/states.js";
import { DayChart } from "./days/day_chart.js";
import { DayTable } from "./days/day_table.js";
import { Figures } from "./figures.js";
import { FirstSteps } from "./first_steps.js";
import { Freshness } from "./freshness.js";
import { Health } from "./health.js";
import { over, PeriodPicker, useDays } from "./period.js";
import { SavedCard } from "./saved_card.js";
import { useLatest } from "./latest.js";
import { StateLegend } from "./days/state_legend.js";
import { TokenChart } from "./days/token_chart.js";

const UTC = "UTC";
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone || UTC;

function Page() {
  const [days, setDays] = useDays();
  const [timezone, setZone] = useState(HERE);
  const usage = useLatest("/usage", { days, timezone });
  const health = useLatest("/health/details", {}, { ask: false });
  const shown = usage.value;
  const strange = usage.error?.param === "timezone"; // the server's machine does not know the name
  useEffect(() => {
    if (strange) setZone(UTC);
  }, [strange]);
  if (!shown && usage.error && !strange) return html`<${NoUsage} usage=${usage} health=${health} />`;
  return html`
    <div class="state-page">
      <div class="row state-top">
        <${PeriodPicker} days=${days} setDays=${setDays} timezone=${shown?.period.timezone} />
        <span class="grow"></span>
        <${Freshness} latest=${usage} />
      </div>
      ${shown?.requests.total === 0 && html`<${FirstSteps} title=${`No requests with memory ${over(days)}`} />`}
      ${shown?.requests.total !== 0 && html`<${Numbers} usage=${shown} />`}
      <${Health} latest=${health} />
    </div>
  `;
}

/** @param {{usage: object | null}} props null while the first answer is on its way */
function Numbers({ usage }) {
  return html`
    <div class="state-cards" aria-busy=${usage === null}>
      <${SavedCard} usage=${usage} />
      <${Figures} usage=${usage} />
    </div>
    <section class="card state-days" aria-labelledby="state-days">
      <div class="row">
        <h2 id="state-days" class="grow">Requests per day</h2>
        <span class="hint">${usage ? `${count(usage.requests.total)} in all` : ""}</span>
        <a href="/ui/requests#period=all">Each request</a>
      </div>
      <${DayChart} daily=${usage?.daily ?? []} />
      <${StateLegend} states=${usage?.requests.by_state ?? {}} />
    </section>
    <section class="card state-days" aria-labelledby="state-tokens">
      <h2 id="state-tokens">Tokens per day</h2>
      <${TokenChart} daily=${usage?.daily ?? []} />
      <${DayTable} daily=${usage?.daily ?? []} />
    </section>
  `;
}

/** There is nothing to show yet, and why. */
function NoUsage({ usage, health }) {
  const refused = usage.error.status === 401;
  const operator = refused && health.value !== null;
  const unknown = refused && health.error !== null;
  useEffect(() => {
    if (unknown) askForKey(usage.error.message);
  }, [unknown]);
  return html`
    <div class="state-page">
      ${operator
        ? html`<div class="note warning">
            <p>
              This is the operator's key: it shows how the server is, below. Savings and requests
              belong to the key that a client uses.
            </p>
          </div>`
        : html`<${Problem}
            error=${usage.error}
            title="The numbers cannot be shown"
            retry=${usage.reload}
          />`}
      <${Health} latest=${health} />
    </div>
  `;
}

start({ page: "state", title: "State", Page });
