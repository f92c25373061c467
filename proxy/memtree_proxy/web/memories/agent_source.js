/** What an agent remembers, of a subject or of nobody in particular. */
import { call } from "../shell/api.js";
import { collection, dropEmpty, PAGE } from "./collection.js";
import { ofAgent, ofAgentSearch, textData } from "./rows.js";

/**
 * `agentId` and `subjectId` may be "*", all agents and all subjects: such a source is read, and a
 * change of one of its memories goes to where that one lies.
 * @param {{agentId: string, subjectId?: string}} whose
 * @returns {import("./sources.js").Source}
 */
export function agentSource({ agentId, subjectId }) {
  const query = dropEmpty({ agentId, subjectId });
  const single = agentId !== "*" && subjectId !== "*";
  const key = `agent:${agentId}:${subjectId ?? ""}`;
  const meant = ({ category, tag, thread }) =>
    dropEmpty({ kind: category, threadId: thread, tags: tag ? [tag] : null });
  const rows = collection({
    root: "/memories",
    key,
    query,
    shape: ofAgent,
    row: (answer) => answer.memory,
    wanted,
    meant,
  });
  return {
    ...rows,
    kind: "agent",
    key,
    can: {
      filters: ["category", "tag", "thread"],
      deleted: false,
      live: single,
      create: single,
      groups: false,
      transfer: single,
      settings: false,
    },
    query,
    headers: {},
    async search(text, { filter = {}, limit = PAGE, signal } = {}) {
      const asked = { ...query, ...wanted(filter), query: text, limit };
      const { json } = await call("GET", "/memories/search", { query: asked, signal });
      return { memories: json.memories.map(ofAgentSearch), degraded: json.degraded || [] };
    },
    async create(text, { category, tags } = {}) {
      const memory = dropEmpty({ kind: category || "fact", data: { text }, tags });
      const body = { ...query, memories: [memory] };
      const { status, json } = await call("POST", "/memories", { body });
      const [stored] = [...json.created, ...json.updated];
      const made = { status: status === 201 ? "created" : "known", updates: [] };
      return { ...made, memory: await rows.get(stored.id) };
    },
    change,
    undelete: (memories) => (single ? rows.undelete(memories) : undeleteEach(memories)),
    tombstones: () => (single ? rows.tombstones() : Promise.resolve([])),
  };
}

function wanted({ category, tag, thread }) {
  return dropEmpty({ kind: category, tags: tag, threadId: thread });
}

/** Each where it lies: the route for it knows one agent and subject at a time. */
async function undeleteEach(memories) {
  const scopes = new Map();
  for (const memory of memories) {
    const name = JSON.stringify([memory.agentId, memory.subjectId]);
    scopes.set(name, [...(scopes.get(name) ?? []), memory]);
  }
  const back = [];
  for (const there of scopes.values()) {
    const [{ agentId, subjectId }] = there;
    const own = agentSource({ agentId, subjectId: subjectId ?? undefined });
    back.push(...(await own.undelete(there)));
  }
  return back;
}

/**
 * New data goes under its id where its kind allows that, else it takes its place. The route for
 * data knows no `if-match`, so the version is looked at first.
 */
async function change(memory, { text, tags, expires }, signal) {
  const path = `/memories/${encodeURIComponent(memory.id)}`;
  const query = dropEmpty({ agentId: memory.agentId, subjectId: memory.subjectId });
  const now = ofAgent((await call("GET", path, { query, signal })).json.memory);
  const version = memory.version ?? now.version;
  if (text !== undefined && text !== now.text) {
    if (version !== now.version) throw versionConflict();
    return replaceData(now, { text, tags, expires }, query, signal);
  }
  const body = dropEmpty({ tags });
  if (expires !== undefined) body.expiresAt = expires && Date.parse(expires);
  if (!Object.keys(body).length) return now;
  const headers = { "if-match": String(version) };
  const { json } = await call("PATCH", path, { body, headers, query, signal });
  return ofAgent(json.memory);
}

async function replaceData(now, { text, tags, expires }, query, signal) {
  const ends = expires === undefined ? now.expires : expires;
  const memory = { kind: now.category, data: textData(text, now.data), tags: tags ?? now.tags };
  if (ends) memory.expiresAt = Date.parse(ends);
  const post = (one) =>
    call("POST", "/memories", { body: { ...query, memories: [one] }, signal });
  const { json } = await post({ ...memory, id: now.id }).catch((error) => {
    if (error.param !== "memories[0].id") throw error;
    return post(memory); // its kind has unique values: the new one takes its place
  });
  const [stored] = [...json.created, ...json.updated];
  const path = `/memories/${encodeURIComponent(stored.id)}`;
  return ofAgent((await call("GET", path, { query, signal })).json.memory);
}

function versionConflict() {
  const error = new Error("The memory was changed meanwhile.");
  return Object.assign(error, { status: 409, code: "version_conflict", param: null });
}
