/** Numbers and times as people read them. */

import { html } from "../vendor/preact.js";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const UNITS = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const hours = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** @param {Date} at @param {boolean} [exactly] with seconds @returns {string} the time of its day */
export function clock(at, exactly = false) {
  return (exactly ? seconds : hours).format(at);
}

/** @param {Date} at @returns {string} day and time, in the browser's time zone */
export function moment(at) {
  return exact.format(at);
}

/** @param {number} n @returns {string} as in "12,345" */
export function count(n) {
  return whole.format(n);
}

/** @param {number} n @returns {string} as in "1 summary" or "3 summaries" */
export function counted(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** @param {number} n @returns {string} as in "12.3K tokens" */
export function tokens(n) {
  return `${Math.abs(n) < 10_000 ? whole.format(n) : short.format(n)} ${n === 1 ? "token" : "tokens"}`;
}

/** @param {number} n @returns {string} as in "1.5 MB" */
export function bytes(n) {
  if (n < 1000) return `${whole.format(n)} B`;
  const power = Math.min(4, Math.floor(Math.log10(n) / 3));
  const value = n / 1000 ** power;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}

/** @param {number} x @param {string} [currency] @returns {string} as in "$1.25" or "-$0.0031" */
export function money(x, currency = "USD") {
  const digits = x !== 0 && Math.abs(x) < 0.01 ? 4 : 2;
  return new Intl.NumberFormat("en", {
    style: "currency",
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(x);
}

/** @param {Date} then @param {Date} now @returns {string} as in "3 hours ago" */
export function ago(then, now) {
  const seconds = (then.getTime() - now.getTime()) / 1000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 0 ? "in less than a minute" : "just now";
}

/** @param {{at: string | number | Date}} props a time; numbers are seconds since 1970 */
export function Time({ at }) {
  const then = new Date(typeof at === "number" ? at * 1000 : at);
  if (Number.isNaN(then.getTime())) return null;
  return html`<time datetime=${then.toISOString()} title=${exact.format(then)}
    >${ago(then, new Date())}</time
  >`;
}
