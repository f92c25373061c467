/**
 * The memories that a list holds, as a value. Pure.
 *
 * @typedef {import("../rows.js").Memory} Memory
 * @typedef {object} RowSet
 * @property {Memory[]} rows
 * @property {number|null} total Live memories of the source, filter aside; null while unknown.
 * @property {string|null} cursor For the rows after these.
 * @property {string} of What was asked for.
 */

/** @type {RowSet} */
export const NOTHING = { rows: [], total: null, cursor: null, of: "" };

/** The rows of a page behind those that are there. @returns {RowSet} */
export function appended(set, page) {
  const known = new Set(set.rows.map((row) => row.id));
  const fresh = page.memories.filter((row) => !known.has(row.id));
  return { ...set, rows: [...set.rows, ...fresh], cursor: page.cursor };
}

/**
 * One memory as it is now: in its place, or where its age puts it. Rows are the newest first; what
 * would lie behind the last one that was read comes with its own page.
 * @returns {RowSet}
 */
export function put(set, memory) {
  const at = set.rows.findIndex((row) => row.id === memory.id);
  if (at >= 0) {
    const before = set.rows[at];
    const rows = [...set.rows];
    rows[at] = { ...memory, relevance: memory.relevance ?? before.relevance };
    return { ...set, rows };
  }
  const place = set.rows.findIndex((row) => (row.created || "") <= (memory.created || ""));
  if (place < 0 && set.cursor) return set;
  const index = place < 0 ? set.rows.length : place;
  return { ...set, rows: [...set.rows.slice(0, index), memory, ...set.rows.slice(index)] };
}

/** Without these. @returns {RowSet} */
export function without(set, ids) {
  const gone = new Set(ids);
  const rows = set.rows.filter((row) => !gone.has(row.id));
  return rows.length === set.rows.length ? set : { ...set, rows };
}

/** Whether a filter lets a memory through, as the server's would. */
export function wanted(filter, memory) {
  const { category, source, tainted, conflicts, tag, group, deleted } = filter;
  return (
    (!category || memory.category === category) &&
    (!source || memory.source === source) &&
    (tainted === undefined || memory.tainted === tainted) &&
    (!conflicts || memory.updates.length > 0) &&
    (!tag || memory.tags.includes(tag)) &&
    (!group || memory.groups.includes(group)) &&
    Boolean(deleted) === Boolean(memory.deleted) &&
    !memory.supersededBy
  );
}

/**
 * What a search box shows of the hits of a search, which ranks all that is there: those that
 * concern what was typed, by their relevance or because they hold a word of it.
 */
export function narrowed(hits, query) {
  const words = wordsOf(query);
  return hits.filter((hit) => hit.relevance >= CONCERNS || holdsAll(hit, words));
}

/** The relevance from which a memory concerns a question; see docs/memories.md. */
const CONCERNS = 0.5;

function holdsAll(memory, words) {
  const text = `${memory.text}\n${memory.tags.join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function wordsOf(query) {
  return query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .slice(0, 40);
}
