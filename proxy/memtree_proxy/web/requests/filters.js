/** Which requests are shown: from when, with which state, of which client, of which conversation. */

import { html } from "../vendor/preact.js";
import { Icon } from "../shell/icons.js";
import { stateNames } from "../shell/memory_state.js";
import { begin, dayOf } from "./place.js";

const PERIODS = [
  ["hour", "The last hour"],
  ["day", "One day"],
  ["all", "Everything"],
];
export const CLIENTS_ELSE = "other";

/**
 * @param {{place: import("./place.js").Place, setPlace: (change: object) => void, clients: string[],
 *   title: string}} props `clients`: those that are known; `title`: of the chosen conversation
 */
export function Filters({ place, setPlace, clients, title }) {
  const { period, filter } = place;
  const choose = (name) => (event) =>
    setPlace({ filter: { ...filter, [name]: event.target.value || undefined } });
  const without = (name) => setPlace({ filter: { ...filter, [name]: undefined } });
  return html`<div class="row requests-filters" role="search" aria-label="Requests">
    <select
      class="input small-select"
      aria-label="Period"
      value=${period}
      onChange=${(event) => setPlace({ period: event.target.value })}
    >
      ${PERIODS.map(([name, label]) => option(name, label, period))}
    </select>
    ${period === "day" && html`<${Day} ...${{ place, setPlace }} />`}
    <select class="input small-select" aria-label="State" value=${filter.state ?? ""} onChange=${choose("state")}>
      ${option("", "Any state", filter.state ?? "")}
      ${stateNames().map(([name, label]) => option(name, label, filter.state))}
    </select>
    <select class="input small-select" aria-label="Client" value=${filter.client ?? ""} onChange=${choose("client")}>
      ${option("", "Any client", filter.client ?? "")}
      ${clients.map((name) => option(name, name === CLIENTS_ELSE ? "another client" : name, filter.client))}
    </select>
    ${
      filter.conversation &&
      html`<${Chosen} name=${title || "One conversation"} what="conversation" onEnd=${() => without("conversation")} />`
    }
    ${filter.wrap && html`<${Chosen} name=${`run ${filter.wrap}`} what="run" onEnd=${() => without("wrap")} />`}
  </div>`;
}

function option(value, label, chosen) {
  return html`<option key=${value} value=${value} selected=${value === chosen}>${label}</option>`;
}

/** A day with its neighbours; none comes after today. */
function Day({ place, setPlace }) {
  const today = dayOf(new Date());
  const step = (by) => setPlace({ day: dayOf(begin(place.day, by)) });
  const pick = (event) => event.target.value && event.target.value <= today && setPlace({ day: event.target.value });
  return html`<span class="requests-day">
    <button type="button" class="icon-button" aria-label="The day before" onClick=${() => step(-1)}>
      <${Icon} name="left" />
    </button>
    <input
      type="date"
      class="input small-select"
      aria-label="Day"
      value=${place.day}
      max=${today}
      onChange=${pick}
    />
    <button
      type="button"
      class="icon-button"
      aria-label="The day after"
      disabled=${place.day >= today}
      onClick=${() => step(1)}
    >
      <${Icon} name="right" />
    </button>
  </span>`;
}

function Chosen({ name, what, onEnd }) {
  return html`<span class="chip info requests-chosen">
    <bdi>${name}</bdi>
    <button type="button" class="icon-button" aria-label=${`Requests of every ${what}`} onClick=${onEnd}>✕</button>
  </span>`;
}
