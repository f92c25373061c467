/** The memories of a source as a list that pages, searches, and follows what changes elsewhere. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { MOST_ROWS, PAGE } from "../collection.js";
import { NOTHING, appended, narrowed, put, wanted, without } from "./row_set.js";

const GATHER = 120; // ms in which changes are gathered before they are read
const MANY = 20; // changes beyond which the list is read anew
const TYPING = 220; // ms without a key before a search begins

/**
 * @param {import("../sources.js").Source} source
 * @param {import("../sources.js").Filter} filter
 * @param {string} query
 */
export function useMemories(source, filter, query) {
  const [set, setSet] = useState(NOTHING);
  const [status, setStatus] = useState({ loading: true, more: false, error: null, degraded: [] });
  const turn = useRef(0);
  const gone = useRef(new Map()); // id -> the newest turn when it was taken out
  const asked = { source, filter, query: query.trim() };
  const now = useRef(asked);
  now.current = { ...asked, held: set.rows.length };

  /** `quiet`: anew what is shown already, as far as it was read. */
  const load = useCallback(async (quiet) => {
    const mine = ++turn.current;
    const { source, filter, query, held } = now.current;
    if (!quiet) setStatus((was) => ({ ...was, loading: true, error: null }));
    try {
      const read = await readFirst(source, filter, query, quiet ? held : 0);
      if (mine !== turn.current) return;
      const of = nameOf(source, filter, query);
      // Asked for before it was deleted, and answered after.
      const rows = read.set.rows.filter((row) => !(gone.current.get(row.id) >= mine));
      setSet((was) => ({ ...read.set, rows, of, total: read.set.total ?? was.total }));
      setStatus({ loading: false, more: false, error: null, degraded: read.degraded });
    } catch (error) {
      if (mine === turn.current) setStatus((was) => ({ ...was, loading: false, more: false, error }));
    }
  }, []);

  const name = nameOf(source, filter, asked.query);
  const searched = useRef("");
  useEffect(() => {
    const typing = query.trim() !== searched.current;
    searched.current = query.trim();
    const timer = setTimeout(() => load(false), typing ? TYPING : 0);
    return () => {
      clearTimeout(timer);
      turn.current++;
    };
  }, [name]);
  useLayoutEffect(() => setSet(NOTHING), [source.key]);

  const loadMore = useCallback(async () => {
    const mine = turn.current;
    const { source, filter } = now.current;
    setStatus((was) => ({ ...was, more: true }));
    try {
      const page = await source.list({ filter, cursor: set.cursor });
      if (mine !== turn.current) return;
      const memories = page.memories.filter((one) => wanted(filter, one));
      setSet((was) => appended(was, { ...page, memories }));
      setStatus((was) => ({ ...was, more: false, error: null }));
    } catch (error) {
      if (mine === turn.current) setStatus((was) => ({ ...was, more: false, error }));
    }
  }, [set.cursor]);

  const follow = useCallback((memory) => {
    gone.current.delete(memory.id);
    setSet((was) =>
      wanted(now.current.filter, memory) ? put(was, memory) : without(was, [memory.id]),
    );
  }, []);
  const drop = useCallback((ids) => {
    for (const id of ids) gone.current.set(id, turn.current);
    setSet((was) => without(was, ids));
  }, []);
  /** The server has deleted them: only the list of deleted ones goes on to hold them. */
  const forget = useCallback((ids) => now.current.filter.deleted || drop(ids), []);
  const setTotal = useCallback((total) => setSet((was) => ({ ...was, total })), []);
  useChanges(source, now, { load, follow, drop, setTotal });

  return {
    rows: set.rows,
    total: set.total,
    shows: set.of,
    current: set.of === name,
    ...status,
    reload: () => load(false),
    loadMore: set.cursor && !status.more && !status.error ? loadMore : null,
    retryMore: loadMore,
    put: follow,
    drop,
    forget,
    setTotal,
  };
}

function nameOf(source, filter, query) {
  return JSON.stringify([source.key, filter, query]);
}

async function readFirst(source, filter, query, held) {
  if (query) {
    const { memories, degraded } = await source.search(query, { filter });
    const rows = narrowed(memories, query).filter((one) => wanted(filter, one));
    return { set: { rows, total: null, cursor: null }, degraded };
  }
  const limit = Math.min(MOST_ROWS, Math.max(PAGE, held));
  const { memories, total, cursor } = await source.list({ filter, limit });
  const rows = memories.filter((one) => wanted(filter, one));
  return { set: { rows, total, cursor }, degraded: [] };
}

/** Changes of other tabs, programs and models, read soon after they are told. */
function useChanges(source, now, { load, follow, drop, setTotal }) {
  useEffect(() => {
    if (!source.can.live) return undefined;
    let timer = null;
    let changed = new Map();
    const read = async () => {
      timer = null;
      const changes = changed;
      changed = new Map();
      const { query, filter } = now.current;
      if (changes.size > MANY || query || filter.deleted) return load(true);
      drop([...changes.values()].filter(isDeletion).map((change) => change.id));
      for (const change of changes.values()) {
        if (isDeletion(change)) continue;
        const memory = await source.get(change.id).catch(() => null);
        if (now.current.source.key !== source.key) return undefined;
        if (memory) follow(memory);
      }
      return undefined;
    };
    const onEvent = (change) => {
      if (typeof change.id !== "string") return;
      setTotal(change.count);
      changed.set(change.id, change);
      timer ??= setTimeout(read, GATHER);
    };
    // While nobody listened, more may have changed than the stream tells afterwards; so it may have
    // between the first answer and the moment from which on the stream tells.
    let missed = true;
    const onOpen = () => {
      if (missed) load(true);
      missed = false;
    };
    const onProblem = () => {
      missed = true;
    };
    const stop = source.listen({ onEvent, onOpen, onProblem });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [source.key]);
}

function isDeletion(change) {
  return change.type === "deleted";
}
