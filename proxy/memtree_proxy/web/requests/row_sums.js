/** What rows of the log add up to. Pure. */

const MINUTE = 60_000; // ms
const CLIENT_GONE = 499;
const SUMS = ["posted_tokens", "sent_tokens", "saved_tokens"];

/** @param {{status: number}} row @returns {boolean} whether its client went before the answer was complete */
export function gone(row) {
  return row.status === CLIENT_GONE;
}

/** Newest first, each once. @param {object[]} rows @param {object[]} more newer answers, also of the same rows */
export function merged(rows, more) {
  const told = new Set(more.map(({ id }) => id));
  const all = [...more, ...rows.filter(({ id }) => !told.has(id))];
  return all.sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
}

/** The sums of an answer of the list, with one more row in them. */
export function withRow(totals, row) {
  const folded = row.epoch || (row.sent_tokens !== null && row.sent_tokens < row.posted_tokens);
  const sums = { ...totals, requests: totals.requests + 1, folded: totals.folded + (folded ? 1 : 0) };
  for (const name of SUMS) sums[name] += row[name] ?? 0;
  return sums;
}

/**
 * @param {object[]} rows
 * @returns {{address: string | null, conversation: string | null, title: string, requests: number, posted_tokens: number, sent_tokens: number,
 *   saved_tokens: number}[]} by conversation (its title, where it has one), the one that posted most first
 */
export function byConversation(rows) {
  const groups = new Map();
  for (const row of rows) {
    const name = row.title || row.conversation || "";
    const group = groups.get(name) ?? {
      address: row.address, conversation: row.conversation, title: row.title, requests: 0, folded: 0,
      posted_tokens: 0, sent_tokens: 0, saved_tokens: 0,
    };
    groups.set(name, withRow(group, row));
  }
  return [...groups.values()].sort((one, other) => other.posted_tokens - one.posted_tokens);
}

/** Rows by time, each part with how many there are of each state. */
export function parts(rows, { since, until }) {
  const length = until - since;
  const step = length > 90 * MINUTE ? 60 * MINUTE : 5 * MINUTE;
  const found = Array.from({ length: Math.ceil(length / step) }, (_, at) => ({
    date: new Date(since.getTime() + at * step).toISOString(),
    requests: {},
  }));
  for (const row of rows) {
    const part = found[Math.floor((Date.parse(row.time) - since) / step)];
    const state = row.state ?? (gone(row) ? "cancelled" : "none");
    if (part) part.requests[state] = (part.requests[state] ?? 0) + 1;
  }
  return found;
}

/** The least of the numbers that a share of all do not exceed; null where there are none. */
export function percentile(numbers, share) {
  const sorted = numbers.filter((one) => one !== null).sort((one, other) => one - other);
  return sorted.length ? sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] : null;
}
