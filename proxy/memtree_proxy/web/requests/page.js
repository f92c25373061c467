/** The page `requests`: what came in, what memory made of each, and what that saved. */

import { html, useMemo } from "../vendor/preact.js";
import { Folded } from "../shell/folded.js";
import { start } from "../shell/frame.js";
import { count, counted } from "../shell/format.js";
import { Empty, Loading, Problem } from "../shell/states.js";
import { VirtualList } from "../shell/virtual_list.js";
import { FirstSteps } from "../state/first_steps.js";
import { Filters } from "./filters.js";
import { bounds, dayOf, FILTERS, usePlace } from "./place.js";
import { RequestDetail } from "./request_detail.js";
import { RequestRow, savedOf } from "./request_row.js";
import { Timeline } from "./timeline.js";
import { Totals } from "./totals.js";
import { useRequests } from "./use_requests.js";

const ROW = 64; // px, at a guess

function Page() {
  const [place, setPlace] = usePlace();
  const { period, day, filter, request } = place;
  const span = useMemo(() => bounds(place, new Date()), [period, day]);
  const iso = (date) => date?.toISOString();
  const log = useRequests(
    { since: iso(span.since), until: iso(span.until), ...filter },
    { whole: period !== "all", live: !span.until || span.until > new Date() },
  );
  const { rows, totals, error } = log;
  const clients = useClients(rows, filter.client);
  const close = () => {
    setPlace({ request: null });
    document.querySelector(`[data-request="${CSS.escape(request)}"]`)?.focus();
  };
  // The conversation at one of its requests is all of it, whenever it was.
  const choose = (chosen) => setPlace({ filter: { ...filter, ...chosen }, period: "all", request: null });
  const everything = () => setPlace({ filter: {}, period: "all" });
  const narrow = period !== "all" || FILTERS.some((name) => filter[name]);
  const title = rows.find((row) => row.title)?.title ?? "";
  return html`<div class="requests-page">
    <${Folded} title=${shownAs(place)}><${Filters} ...${{ place, setPlace, clients, title }} /><//>
    ${error && html`<${Problem} error=${error} title="The requests cannot be read" retry=${log.retry} />`}
    ${
      totals?.requests > 0 &&
      html`<${Folded} title=${`${counted(totals.requests, "request", "requests")}, ${savedOf(totals)}`}>
        <${Totals} ...${log} choose=${(address) => choose({ conversation: address })} />
        ${span.since && html`<${Timeline} rows=${rows} span=${{ ...span, until: span.until ?? new Date() }} />`}
      <//>`
    }
    <${List} ...${{ log, narrow, everything, dated: period === "all" }} onOpen=${(id) => setPlace({ request: id })} />
    ${
      request &&
      html`<${RequestDetail}
        key=${request}
        id=${request}
        known=${rows.find(({ id }) => id === request) ?? null}
        onClose=${close}
        choose=${choose}
      />`
    }
  </div>`;
}

function List({ log, narrow, everything, dated, onOpen }) {
  const { rows, totals, loading, error, more } = log;
  if (rows.length) {
    return html`<section aria-labelledby="requests-list" class="requests-main">
      <div class="row">
        <h2 id="requests-list" class="grow">Requests</h2>
        <span class="hint" role="status">${`${count(totals.requests)}, the newest first`}</span>
      </div>
      <${VirtualList}
        class="requests-list"
        label="Requests"
        count=${rows.length}
        rowHeight=${ROW}
        itemKey=${(index) => rows[index].id}
        onEnd=${more}
        render=${(index) => html`<${RequestRow} row=${rows[index]} dated=${dated} onOpen=${() => onOpen(rows[index].id)} />`}
      />
    </section>`;
  }
  if (error) return null;
  if (loading) return html`<${Loading} rows=${4} label="Reading the requests" />`;
  if (!narrow) return html`<${FirstSteps} title="No requests yet" />`;
  return html`<${Empty} title="No request matches">
    <p>Requests are kept for 30 days. A new one is shown here as soon as it has ended.</p>
    <p><button type="button" class="button" onClick=${everything}>Show everything</button></p>
  <//>`;
}

/** Names for the filter: those that the rows have. */
function useClients(rows, chosen) {
  return useMemo(() => {
    const names = new Set(rows.map(({ client }) => client));
    if (chosen) names.add(chosen);
    return [...names].sort();
  }, [rows, chosen]);
}

/** The filter in a few words. */
function shownAs({ period, day, filter }) {
  const when = { hour: "The last hour", all: "Everything" }[period] ?? (day === dayOf(new Date()) ? "Today" : day);
  const others = FILTERS.filter((name) => filter[name]).length;
  return others ? `${when}, ${others} more` : when;
}

start({ page: "requests", title: "Requests", Page });
