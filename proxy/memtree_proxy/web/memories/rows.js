/**
 * Rows of the three dialects (chat, user, agent) as one shape, so that one card shows them all.
 *
 * @typedef {object} Memory
 * @property {string} id
 * @property {string} text What is shown and searched; of an agent's memory, what its data says.
 * @property {string} category Of an agent's memory its kind; "" where there is none.
 * @property {string[]} tags
 * @property {string} source user, model, extraction, import, agent; "" where it is not told.
 * @property {string|null} created ISO 8601, as are all times.
 * @property {string|null} updated
 * @property {string|null} expires
 * @property {string|null} confirmed When a person, or a text that says the same, confirmed it.
 * @property {string|null} deleted
 * @property {boolean} tainted
 * @property {boolean|null} standing Whether it stands in every prompt; null of an agent's.
 * @property {import("./sources.js").Update[]} updates Memories that it may replace.
 * @property {number|null} version Null in results of a search over agents: read it before a change.
 * @property {string[]} groups Ids of its groups.
 * @property {string|null} supersededBy
 * @property {number|null} relevance Of a search.
 * @property {object|null} data Of an agent's memory.
 * @property {string|null} agentId
 * @property {string|null} subjectId
 */

/** @returns {Memory} */
export function ofChat(row) {
  return {
    id: row.id,
    text: row.content,
    ...shared(row),
    data: null,
    agentId: null,
    subjectId: null,
  };
}

/** @returns {Memory} */
export function ofUser(row) {
  return {
    id: row.id,
    text: row.text,
    ...shared(row),
    data: null,
    agentId: null,
    subjectId: null,
  };
}

function shared(row) {
  return {
    category: row.category || "",
    tags: row.tags || [],
    source: row.source_type || "",
    created: row.created_at || null,
    updated: row.updated_at || null,
    expires: row.expires_at || null,
    confirmed: row.last_confirmed_at || null,
    deleted: row.deleted_at || null,
    tainted: Boolean(row.tainted),
    standing: Boolean(row.standing),
    updates: (row.possible_update_of || []).map((one) => ({
      id: one.id,
      text: one.content ?? one.text,
      differs: one.differs,
    })),
    version: row.version,
    groups: row.group_ids || [],
    supersededBy: row.superseded_by || null,
    relevance: row.relevance ?? null,
  };
}

/** A row of a list of agents' memories. @returns {Memory} */
export function ofAgent(row) {
  const meta = row.metadata;
  return {
    id: row.id,
    text: dataText(row.data),
    category: row.kind || "",
    tags: meta.tags || [],
    source: meta.source || "",
    created: isoTime(meta.createdAt),
    updated: isoTime(meta.updatedAt),
    expires: isoTime(meta.expiresAt),
    confirmed: null,
    deleted: null,
    tainted: Boolean(meta.tainted),
    standing: null,
    updates: [],
    version: meta.version,
    groups: [],
    supersededBy: meta.supersededBy || null,
    relevance: null,
    data: row.data,
    agentId: meta.agentId,
    subjectId: meta.subjectId,
  };
}

/** A row of a search over agents, which tells less. @returns {Memory} */
export function ofAgentSearch(row) {
  return {
    id: row.id,
    text: dataText(row.data),
    category: row.kind || "",
    tags: row.context.tags || [],
    source: "",
    created: null,
    updated: null,
    expires: null,
    confirmed: null,
    deleted: null,
    tainted: Boolean(row.context.tainted),
    standing: null,
    updates: [],
    version: null,
    groups: [],
    supersededBy: null,
    relevance: row.quality.relevance,
    data: row.data,
    agentId: row.agentId ?? null,
    subjectId: row.subjectId ?? null,
  };
}

/** The data of an agent's memory as one text: its `text` where that is all, else its JSON. */
export function dataText(data) {
  const names = Object.keys(data || {});
  if (names.length === 1 && typeof data.text === "string") return data.text;
  return JSON.stringify(data, null, 2);
}

/**
 * What a person typed in the place of `dataText(data)`, as data again.
 * @throws {SyntaxError} where it is no JSON object
 */
export function textData(text, data) {
  const names = Object.keys(data || {});
  if (names.length === 1 && typeof data.text === "string") return { text };
  const read = JSON.parse(text);
  if (read === null || typeof read !== "object" || Array.isArray(read)) {
    throw new SyntaxError("The data of a memory is a JSON object.");
  }
  return read;
}

function isoTime(milliseconds) {
  return milliseconds == null ? null : new Date(milliseconds).toISOString();
}
