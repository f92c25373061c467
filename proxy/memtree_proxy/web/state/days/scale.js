/** What both charts share: heights, a round top, and how a day is called. */

const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const full = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const HEIGHT = 100;
export const STEP = 10;

/** @param {number} most @returns {number} the next of 1, 2, 5, 10, 20 ... */
export function roundTop(most) {
  if (most <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((times) => times * power).find((top) => top >= most);
}

/** @param {string} date as in "2026-11-22" @param {boolean} [whole] with its year */
export function dayName(date, whole = false) {
  return (whole ? full : day).format(new Date(`${date}T00:00:00Z`));
}

/** @param {number} value @returns {string} as in "1.2M" */
export function axisLabel(value) {
  return compact.format(value);
}

/** A bar of day `index` from `low` to `high`, as a piece of an SVG path; rounded to a tenth. */
export function bar(index, low, high, top, from = 0.12, to = 0.88) {
  if (high <= low) return "";
  const at = (part) => ((index + part) * STEP).toFixed(1);
  const y = (value) => (HEIGHT - (HEIGHT * value) / top).toFixed(1);
  return `M${at(from)} ${y(low)}V${y(high)}H${at(to)}V${y(low)}Z`;
}
