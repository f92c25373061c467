/**
 * What the page shows, in the part of the address behind "#". Days are those of the browser's time
 * zone.
 *
 * @typedef {object} Place
 * @property {"hour" | "day" | "all"} period
 * @property {string} day as in "2026-11-22"
 * @property {{state?: string, client?: string, conversation?: string, wrap?: string}} filter
 * @property {string | null} request the id of the one that is open
 */

import { useCallback, useLayoutEffect, useState } from "../vendor/preact.js";

const HOUR = 3_600_000; // ms
export const FILTERS = ["state", "client", "conversation", "wrap"];

/** @param {Date} date @returns {string} its day, as in "2026-11-22" */
export function dayOf(date) {
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** @param {string} day @param {number} more days @returns {Date} its first moment */
export function begin(day, more = 0) {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date + more);
}

/** @param {string} hash @param {Date} now @returns {Place} */
export function readHash(hash, now) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const day = given.get("day") ?? "";
  const filter = {};
  for (const name of FILTERS) if (given.get(name)) filter[name] = given.get(name);
  const period = given.get("period");
  return {
    // A link to a conversation or a run means all of it.
    period: ["hour", "all"].includes(period) ? period : filter.conversation || filter.wrap ? "all" : "day",
    day: /^\d{4}-\d\d-\d\d$/.test(day) && dayOf(begin(day)) === day ? day : dayOf(now),
    filter,
    request: given.get("request"),
  };
}

/** @param {Place} place @param {Date} now @returns {string} with "#", or "" */
export function writeHash({ period, day, filter, request }, now) {
  const given = new URLSearchParams();
  if (period !== "day") given.set("period", period);
  else if (day !== dayOf(now)) given.set("day", day);
  for (const name of FILTERS) if (filter[name]) given.set(name, filter[name]);
  if (request) given.set("request", request);
  return given.size ? `#${given}` : "";
}

/** @param {Place} place @param {Date} now @returns {{since: Date | null, until: Date | null}} */
export function bounds({ period, day }, now) {
  if (period === "all") return { since: null, until: null };
  if (period === "hour") return { since: new Date(now.getTime() - HOUR), until: null };
  return { since: begin(day), until: begin(day, 1) };
}

/** @returns {[Place, (change: Partial<Place>) => void]} */
export function usePlace() {
  const [place, setPlace] = useState(() => readHash(location.hash, new Date()));
  useLayoutEffect(() => {
    const read = () => setPlace(readHash(location.hash, new Date()));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const change = useCallback((part) => {
    setPlace((old) => {
      const next = { ...old, ...part };
      history.replaceState(null, "", location.pathname + writeHash(next, new Date()));
      return next;
    });
  }, []);
  return [place, change];
}
