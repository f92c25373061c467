/**
 * Memories of a chat, of a user and of an agent behind one interface.
 *
 * @typedef {import("./rows.js").Memory} Memory
 *
 * @typedef {object} Filter What is wanted; what is absent does not matter.
 * @property {string} [category] Of an agent: the kind.
 * @property {string} [source]
 * @property {boolean} [tainted]
 * @property {boolean} [conflicts] Those that may replace another one.
 * @property {string} [tag]
 * @property {string} [group]
 * @property {string} [thread]
 * @property {boolean} [deleted] Those as well that can be brought back.
 *
 * @typedef {{id: string, text: string, differs: string[]}} Update
 *   A memory that another one may replace.
 * @typedef {{ids: string[]}|{filter: Filter}|{all: true}} Which
 * @typedef {{type: "created"|"updated"|"deleted", id: string, count: number, version: number}}
 *   Change `count`: memories of the source.
 *
 * @typedef {object} Source
 * @property {"chat"|"user"|"agent"} kind
 * @property {string} key Tells two sources apart.
 * @property {{filters: string[], deleted: boolean, live: boolean, create: boolean,
 *   groups: boolean, transfer: boolean, settings: boolean}} can
 * @property {(asked?: {filter?: Filter, cursor?: string|null, limit?: number,
 *   signal?: AbortSignal}) => Promise<{memories: Memory[], cursor: string|null, total: number,
 *   groups: object[]}>} list Newest first. `total`: of all, filter aside.
 * @property {(text: string, asked?: {filter?: Filter, limit?: number, signal?: AbortSignal}) =>
 *   Promise<{memories: Memory[], degraded: string[]}>} search Best first.
 * @property {(id: string) => Promise<Memory>} get
 * @property {(text: string, meta?: {messageId?: string, category?: string, tags?: string[],
 *   expires?: string}) => Promise<{status: "created"|"known", memory: Memory,
 *   updates: Update[]}>} create `known`: one that says the same was there.
 * @property {(memory: Memory, change: {text?: string, category?: string, tags?: string[],
 *   expires?: string|null}, signal?: AbortSignal) => Promise<Memory>} change Of the version that
 *   `memory` has, else an error with status 409 and code `version_conflict`.
 * @property {(id: string) => Promise<void>} remove
 * @property {(memories: {id: string}[]) => Promise<Memory[]>} undelete Those that are not erased.
 * @property {(id: string) => Promise<Memory>} confirm
 * @property {(id: string) => Promise<{versions: object[], replaced: object[]}>} history
 * @property {(id: string, olderId: string) => Promise<Memory>} replace
 * @property {(id: string, olderId: string) => Promise<Memory>} keepBoth
 * @property {(memory: Memory, standing: boolean) => Promise<Memory>} pin
 * @property {(which: Which) => Promise<{deleted: number, verified: boolean}>} removeMany
 * @property {(which?: Which) => Promise<number>} count What `removeMany` would delete; all of them
 *   where nothing is named.
 * @property {() => Promise<object[]>} tombstones
 * @property {(listener: {onEvent?: (change: Change) => void, onOpen?: () => void,
 *   onProblem?: (error: Error) => void}) => () => void} listen One stream for each source and tab.
 */
import { call } from "../shell/api.js";
import { collection, dropEmpty } from "./collection.js";
import { ofChat, ofUser } from "./rows.js";

export { agentSource } from "./agent_source.js";

/** What is remembered of one chat. @returns {Source} */
export function chatSource(chatId) {
  const root = `/chat/api/${encodeURIComponent(chatId)}`;
  const key = `chat:${chatId}`;
  const rows = collection({ root: `${root}/memories`, key, shape: ofChat, wanted, meant });
  return {
    ...rows,
    kind: "chat",
    key,
    can: {
      filters: ["category", "source", "tainted", "conflicts"],
      deleted: true,
      live: true,
      create: true,
      groups: false,
      transfer: false,
      settings: false,
    },
    async create(text, { messageId = "written-by-hand", category, tags } = {}) {
      const body = dropEmpty({ messageId, content: text, category, tags });
      return created(await call("POST", `${root}/memory`, { body }), ofChat);
    },
    change: (memory, { text, category, tags }, signal) =>
      rows.patch(memory, dropEmpty({ content: text, category, tags }), signal),
  };
}

/** What is remembered of a user: the credential's, or one within it. @returns {Source} */
export function userSource({ userId } = {}) {
  const headers = userId ? { "x-user-id": userId } : {};
  const key = `user:${userId || ""}`;
  const rows = collection({ root: "/memories", key, headers, shape: ofUser, wanted, meant });
  return {
    ...rows,
    kind: "user",
    key,
    can: {
      filters: ["category", "source", "tainted", "conflicts", "tag", "group"],
      deleted: true,
      live: true,
      create: true,
      groups: true,
      transfer: true,
      settings: true,
    },
    query: {},
    headers,
    async create(text, { category, tags, expires } = {}) {
      const body = dropEmpty({ text, category, tags, expires_at: expires });
      return created(await call("POST", "/memories", { body, headers }), ofUser);
    },
    change(memory, { text, category, tags, expires }, signal) {
      const ends = expires === undefined ? {} : { expires_at: expires };
      return rows.patch(memory, { ...dropEmpty({ text, category, tags }), ...ends }, signal);
    },
  };
}

function wanted({ category, source, tainted, conflicts, tag, group, deleted }) {
  const include = deleted ? "deleted" : "";
  const named = { category, source_type: source, tainted, conflicts, tag, group_id: group };
  return dropEmpty({ ...named, include });
}

function meant({ category, source, tainted, conflicts, tag, group }) {
  const tags = tag ? [tag] : null;
  return dropEmpty({ category, source_type: source, tainted, conflicts, tags, group_id: group });
}

function created({ status, json }, shape) {
  const memory = shape(json);
  return { status: status === 201 ? "created" : "known", memory, updates: memory.updates };
}
