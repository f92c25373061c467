/** Requests by day as bars, with a path for each group of states. */

import { html, useMemo } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { ChartFrame } from "./chart_frame.js";
import { bar, dayName, roundTop } from "./scale.js";
import { byGroup, GROUPS } from "./state_groups.js";

/**
 * @param {{daily: {date: string, requests: Record<string, number>}[], what?: string,
 *   name?: (date: string, long: boolean) => string, rest?: string}} props a day, or any other stretch of
 *   time; `rest`: where each number is
 */
export function DayChart({ daily, what = "Requests per day", name = dayName, rest = "The table below has every day." }) {
  const drawn = useMemo(() => draw(daily, { what, name, rest }), [daily]);
  return html`
    <${ChartFrame} daily=${daily} top=${drawn.top} summary=${drawn.summary} told=${told} name=${name}>
      ${GROUPS.map((group) => html`<path key=${group.name} class=${`fill-${group.name}`} d=${drawn.paths[group.name]} />`)}
    <//>
  `;
}

function draw(daily, words) {
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
  return { top, paths, summary: summary(daily, totals, most, words) };
}

function summary(daily, totals, most, { what, name, rest }) {
  if (most === 0) return `${what}: none.`;
  const busiest = name(daily[totals.indexOf(most)].date, true);
  return `${what}: at most ${count(most)} (${busiest}). ${rest}`;
}

function told(day) {
  const sums = byGroup(day.requests);
  const parts = GROUPS.filter(({ name }) => sums[name]).map(
    ({ name, label }) => `${count(sums[name])} ${label.toLowerCase()}`,
  );
  return parts.join(", ") || "no requests";
}
