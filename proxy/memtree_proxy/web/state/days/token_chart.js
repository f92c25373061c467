/** Tokens by day: what was posted, and in front of it what was sent in its place. */

import { html, useMemo } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { ChartFrame } from "./chart_frame.js";
import { bar, dayName, roundTop } from "./scale.js";

/** @param {{daily: {date: string, raw_tokens: number, sent_tokens: number}[]}} props */
export function TokenChart({ daily }) {
  const drawn = useMemo(() => draw(daily), [daily]);
  return html`
    <${ChartFrame} daily=${daily} top=${drawn.top} summary=${drawn.summary} told=${told}>
      <path class="fill-raw" d=${drawn.raw} />
      <path class="fill-sent" d=${drawn.sent} />
    <//>
    <ul class="state-legend inline" aria-hidden="true">
      <li><${Swatch} name="raw" /> posted</li>
      <li><${Swatch} name="sent" /> sent in its place</li>
    </ul>
  `;
}

/** @param {{name: string}} props as in `fill-NAME` */
export function Swatch({ name }) {
  return html`<svg class="state-swatch" viewBox="0 0 12 12">
    <rect class=${`fill-${name}`} width="12" height="12" />
  </svg>`;
}

function draw(daily) {
  const most = daily.reduce((top, day) => Math.max(top, day.raw_tokens, day.sent_tokens), 0);
  const top = roundTop(most);
  const path = (name, from, to) =>
    daily.map((day, index) => bar(index, 0, day[name], top, from, to)).join("");
  const busiest = daily.find((day) => Math.max(day.raw_tokens, day.sent_tokens) === most);
  const summary = most
    ? `Tokens per day, posted and sent: at most ${count(most)}, on ${dayName(busiest.date, true)}.
       The table below has every day.`
    : "Tokens per day: none.";
  return { top, raw: path("raw_tokens", 0.12, 0.88), sent: path("sent_tokens", 0.3, 0.7), summary };
}

function told(day) {
  return `${count(day.raw_tokens)} posted, ${count(day.sent_tokens)} sent`;
}
