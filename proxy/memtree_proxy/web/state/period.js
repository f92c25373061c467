/** Over how many days the numbers are, kept in the page's address. */

import { html, useCallback, useState } from "../vendor/preact.js";

const CHOICES = [
  { days: 1, label: "Today" },
  { days: 7, label: "7 days" },
  { days: 30, label: "30 days" },
  { days: 90, label: "90 days" },
  { days: 400, label: "400 days" },
];
const USUAL = 30;
const LOG_DAYS = 30;

/** @returns {[number, (days: number) => void]} */
export function useDays() {
  const [days, setDays] = useState(() => {
    const given = Number(/^#days=(\d{1,3})$/.exec(location.hash)?.[1] ?? USUAL);
    return CHOICES.some((choice) => choice.days === given) ? given : USUAL;
  });
  const choose = useCallback((chosen) => {
    history.replaceState(null, "", `#days=${chosen}`);
    setDays(chosen);
  }, []);
  return [days, choose];
}

/** Requests one by one, which say when a day began elsewhere, are kept for a month. */
function reach(timezone, days) {
  return timezone !== "UTC" && days > LOG_DAYS ? `, those of more than ${LOG_DAYS} days ago in UTC` : "";
}

/** @param {number} days @returns {string} as in "in the last 30 days" */
export function over(days) {
  return days === 1 ? "today" : `in the last ${days} days`;
}

/**
 * @param {{days: number, setDays: (days: number) => void, timezone?: string}} props `timezone`: of
 *   the days; undefined before the first answer
 */
export function PeriodPicker({ days, setDays, timezone }) {
  return html`
    <label class="row state-period">
      <span class="label">Period</span>
      <select class="input" value=${days} onChange=${(event) => setDays(Number(event.target.value))}>
        ${CHOICES.map(
          (choice) => html`<option key=${choice.days} value=${choice.days} selected=${choice.days === days}>${choice.label}</option>`,
        )}
      </select>
    </label>
    ${timezone && html`<span class="hint">Days are in ${timezone.replaceAll("_", " ")}${reach(timezone, days)}.</span>`}
  `;
}
