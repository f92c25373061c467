/** Requests by day as bars, with a path for each group of states. */

import { html, useMemo } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { ChartFrame } from "./chart_frame.js";
import { bar, dayName, roundTop } from "./scale.js";
import { byGroup, GROUPS } from "./state_groups.js";

/** @param {{daily: {date: string, requests: Record<string, number>}[]}} props */
export function DayChart({ daily }) {
  const drawn = useMemo(() => draw(daily), [daily]);
  return html`
    <${ChartFrame} daily=${daily} top=${drawn.top} summary=${drawn.summary} told=${told}>
      ${GROUPS.map(({ name }) => html`<path key=${name} class=${`fill-${name}`} d=${drawn.paths[name]} />`)}
    <//>
  `;
}

function draw(daily) {
  const sums = daily.map((day) => byGroup(day.requests));
  const totals = sums.map((of) => GROUPS.reduce((sum, { name }) => sum + of[name], 0));
  const most = totals.reduce((one, other) => Math.max(one, other), 0);
  const top = roundTop(most);
  const paths = Object.fromEntries(GROUPS.map(({ name }) => [name, ""]));
  sums.forEach((of, index) => {
    let low = 0;
    for (const { name } of GROUPS) {
      paths[name] += bar(index, low, low + of[name], top);
      low += of[name];
    }
  });
  return { top, paths, summary: summary(daily, totals, most) };
}

function summary(daily, totals, most) {
  if (most === 0) return "Requests per day: none.";
  const busiest = dayName(daily[totals.indexOf(most)].date, true);
  return `Requests per day: at most ${count(most)}, on ${busiest}. The table below has every day.`;
}

function told(day) {
  const sums = byGroup(day.requests);
  const parts = GROUPS.filter(({ name }) => sums[name]).map(
    ({ name, label }) => `${count(sums[name])} ${label.toLowerCase()}`,
  );
  return parts.join(", ") || "no requests";
}
