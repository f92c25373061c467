/** What memory does with requests, in four groups that are drawn apart. */

/** From the bottom of a bar to its top. `name` is part of a class name. */
export const GROUPS = [
  { name: "folded", label: "Folded" },
  { name: "whole", label: "Sent whole" },
  { name: "degraded", label: "Degraded" },
  { name: "refused", label: "Refused" },
];

const KNOWN = {
  packed: ["folded", "the older part went as a memory message"],
  provisional: ["folded", "folded, ranked by words while vectors are made"],
  "below-threshold": ["whole", "under 10,000 tokens"],
  passed: ["whole", "it fits, or a fold would cost more than it saves"],
  off: ["whole", "memory was off"],
  cancelled: ["whole", "the client went before memory decided"],
  none: ["refused", "ended before memory decided"],
  refused: ["refused", "what must go whole is larger than the model's window"],
  "degraded:store": ["degraded", "the store failed; folded for this request alone"],
  "degraded:indexing": ["degraded", "the tree was not ready in time"],
  "degraded:embedder": ["degraded", "folded, ranked by words: the embedder failed"],
  "degraded:no-room": ["degraded", "no room for a memory of the older messages"],
  "degraded:invalid-history": ["degraded", "the history could not be read; sent as it came"],
  "degraded:encoded-body": ["degraded", "the body could not be decoded; sent as it came"],
  "degraded:internal": ["degraded", "an error of MemTree; sent as it came"],
};

/** @param {string} state as in `x-memtree-state` @returns {string} the name of a group */
export function groupOf(state) {
  return Object.hasOwn(KNOWN, state) ? KNOWN[state][0] : state.startsWith("degraded:") ? "degraded" : "whole";
}

/** @param {string} state @returns {string} what it means, "" for one that is new */
export function meaning(state) {
  return Object.hasOwn(KNOWN, state) ? KNOWN[state][1] : "";
}

/** @param {Record<string, number>} states @returns {Record<string, number>} by group */
export function byGroup(states) {
  const sums = { folded: 0, whole: 0, degraded: 0, refused: 0 };
  for (const [state, times] of Object.entries(states)) sums[groupOf(state)] += times;
  return sums;
}
