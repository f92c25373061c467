/** What sources have in common: the routes below one path, and the shape of their rows. */
import { call } from "../shell/api.js";
import { listen } from "../shell/live_events.js";
import { listenTogether } from "./live.js";

/** Rows that a list reads at a time, and hits of a search. */
export const PAGE = 100;
/** Rows that the server gives at a time at most. */
export const MOST_ROWS = 1_000;

/**
 * @param {object} about
 * @param {string} about.root Path of the collection.
 * @param {string} about.key Of the source.
 * @param {object} [about.query] Stands in every request.
 * @param {object} [about.headers] Stand in every request.
 * @param {(row: object) => import("./rows.js").Memory} about.shape
 * @param {(answer: object) => object} [about.row] The row in the answer about one memory.
 * @param {(filter: object) => object} about.wanted A filter as a query.
 * @param {(filter: object) => object} about.meant A filter as the body of a deletion has it.
 */
export function collection({ root, key, query = {}, headers = {}, shape, row, wanted, meant }) {
  const one = (id, more = "") => `${root}/${encodeURIComponent(id)}${more}`;
  const shown = ({ json }) => shape(row ? row(json) : json);
  const send = (method, path, more = {}) =>
    call(method, path, { query, ...more, headers: { ...headers, ...more.headers } });
  const which = (asked) =>
    asked.filter ? { filter: meant(asked.filter) } : asked.ids ? { ids: asked.ids } : { all: true };
  const settle = async (id, olderId, action) =>
    shown(await send("POST", one(id, "/settle"), { body: { with: olderId, action } }));
  return {
    async list({ filter = {}, cursor, limit = PAGE, signal } = {}) {
      const asked = { ...query, ...wanted(filter), ...dropEmpty({ cursor }), limit };
      const { json } = await send("GET", root, { query: asked, signal });
      const { next_cursor: next, total, groups = [] } = json;
      return { memories: json.memories.map(shape), cursor: next, total, groups };
    },
    async search(text, { filter = {}, limit = PAGE, signal } = {}) {
      const asked = { ...query, ...wanted(filter), query: text, limit };
      const { json } = await send("GET", `${root}/search`, { query: asked, signal });
      return { memories: json.memories.map(shape), degraded: json.degraded || [] };
    },
    async get(id) {
      return shown(await send("GET", one(id)));
    },
    async patch(memory, body, signal) {
      const headers = { "if-match": String(memory.version) };
      return shown(await send("PATCH", one(memory.id), { body, headers, signal }));
    },
    async remove(id) {
      await send("DELETE", one(id));
    },
    async undelete(memories) {
      const ids = memories.map((memory) => memory.id);
      const { json } = await send("POST", `${root}/undelete`, { body: { ids } });
      return json.memories.map(shape);
    },
    async confirm(id) {
      return shown(await send("POST", one(id, "/confirm"), { body: {} }));
    },
    async history(id) {
      return (await send("GET", one(id, "/history"))).json;
    },
    replace(id, olderId) {
      return settle(id, olderId, "replace");
    },
    keepBoth(id, olderId) {
      return settle(id, olderId, "keep_both");
    },
    pin(memory, standing) {
      return this.patch(memory, { standing });
    },
    async removeMany(asked) {
      return (await send("POST", `${root}/delete`, { body: which(asked) })).json;
    },
    async count(asked) {
      if (!asked) return (await this.list({ limit: 1 })).total;
      const body = { ...which(asked), dry_run: true };
      return (await send("POST", `${root}/delete`, { body })).json.count;
    },
    async tombstones() {
      return (await send("GET", `${root}/tombstones`)).json.tombstones;
    },
    listen(listener) {
      const open = (handlers) => listen(`${root}/events`, { query, headers, ...handlers });
      return listenTogether(key, open, listener);
    },
  };
}

/** Without fields that say nothing. */
export function dropEmpty(fields) {
  const says = ([, value]) => value !== undefined && value !== null && value !== "";
  return Object.fromEntries(Object.entries(fields).filter(says));
}
