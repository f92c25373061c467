/**
 * Edits in progress, by source, for as long as the tab lives: a list that is closed, or that goes
 * for another chat or another width of the window, shows them again when it is back.
 *
 * @typedef {import("./use_drafts.js").Draft} Draft
 */
const kept = new Map();
const watchers = new Set();
const NONE = new Map();

/** @returns {Map<string, Draft>} By the id of the memory; another map after each change. */
export function draftsOf(source) {
  return kept.get(source.key) ?? NONE;
}

/** @param {Draft|null} draft Null: the edit is over. */
export function keepDraft(source, id, draft) {
  const drafts = new Map(draftsOf(source));
  if (draft) drafts.set(id, draft);
  else drafts.delete(id);
  if (drafts.size) kept.set(source.key, drafts);
  else kept.delete(source.key);
  watchers.forEach((tell) => tell());
}

/** @returns {() => void} Stops telling. */
export function onDrafts(tell) {
  watchers.add(tell);
  return () => watchers.delete(tell);
}
