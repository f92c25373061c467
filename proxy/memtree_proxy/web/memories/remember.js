/** Saving a text by hand, and what may be said about it afterwards. */

/** Characters of a memory that is saved without a look at it first. */
export const SHORT = 300;

/** Older memories that were settled in this tab, by source and id: no card offers them any more. */
const settled = new Set();
const watchers = new Set();

/**
 * Save a text.
 * @param {import("./sources.js").Source} source
 * @param {string} text
 * @param {{messageId?: string, category?: string, tags?: string[]}} [meta]
 * @returns {Promise<{status: "created"|"known", memory: import("./rows.js").Memory,
 *   updates: import("./sources.js").Update[], said: string}>} `known`: a memory that says the same
 *   was there, and nothing was saved. `said`: the feedback as one sentence. Errors are ApiErrors.
 */
export async function remember(source, text, meta = {}) {
  const result = await source.create(text.trim(), meta);
  return { ...result, said: feedback(result) };
}

function feedback({ status, updates }) {
  if (status === "known") return "Already remembered.";
  if (!updates.length) return "Remembered.";
  const differs = updates[0].differs.join(", ");
  return differs
    ? `Remembered. It may replace an older memory: ${differs}.`
    : "Remembered. It may replace an older memory.";
}

/** @returns {import("./sources.js").Update[]} What the memory may replace. */
export function replacements(source, memory) {
  return memory.updates.filter((one) => !settled.has(nameOf(source, one.id)));
}

/** An older memory is replaced or gone: nobody offers to replace it any more. */
export function withdrawReplacement(source, olderId) {
  settled.add(nameOf(source, olderId));
  watchers.forEach((tell) => tell());
}

/** @returns {() => void} Stops telling. */
export function onReplacements(tell) {
  watchers.add(tell);
  return () => watchers.delete(tell);
}

function nameOf(source, id) {
  return `${source.key}\n${id}`;
}
