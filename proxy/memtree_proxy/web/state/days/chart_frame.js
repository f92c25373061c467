/** The frame of a chart over days: its axes in text, and what it says to who cannot see it. */

import { html, useState } from "../../vendor/preact.js";
import { axisLabel, dayName, HEIGHT, STEP } from "./scale.js";

/**
 * @param {{daily: object[], top: number, summary: string, told: (day: object) => string,
 *   name?: (date: string, long: boolean) => string, children: unknown}} props `told`: what to say of the
 *   day under the pointer; `name`: what it is called
 */
export function ChartFrame({ daily, top, summary, told, name = dayName, children }) {
  const [over, setOver] = useState(null);
  const width = Math.max(1, daily.length) * STEP;
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * daily.length);
    setOver(Math.max(0, Math.min(daily.length - 1, at)));
  };
  const shown = over === null ? null : daily[over];
  const long = daily.length > 300; // more than one year may have these days
  return html`
    <figure class="state-chart">
      <div class="state-axis number" aria-hidden="true">
        <span>${axisLabel(top)}</span><span>0</span>
      </div>
      <svg
        role="img"
        aria-label=${summary}
        viewBox=${`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        onPointerMove=${daily.length ? move : undefined}
        onPointerLeave=${() => setOver(null)}
      >
        ${shown &&
        html`<rect class="state-over" x=${over * STEP} y="0" width=${STEP} height=${HEIGHT} />`}
        <path class="state-grid" d=${`M0 0H${width}M0 ${HEIGHT / 2}H${width}M0 ${HEIGHT}H${width}`} />
        ${children}
      </svg>
      <figcaption class="state-dates hint" aria-hidden="true">
        ${shown
          ? html`<span class="state-told">${name(shown.date, long)}: ${told(shown)}</span>`
          : daily.length > 1 &&
            html`<span>${name(daily[0].date, long)}</span
              ><span>${name(daily.at(-1).date, long)}</span>`}
      </figcaption>
    </figure>
  `;
}
