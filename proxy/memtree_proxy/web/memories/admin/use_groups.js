/** The groups of a user's memories, and what is done with them. */
import { useCallback, useEffect, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";

const ROOT = "/memories/groups";

/** @param {import("../sources.js").Source} source */
export function useGroups(source) {
  const [all, setAll] = useState([]);
  const current = useRef(source);
  current.current = source;
  const turn = useRef(0);
  const { headers } = source;
  const reload = useCallback(async () => {
    const mine = ++turn.current;
    if (!source.can.groups) return setAll([]);
    const { json } = await call("GET", ROOT, { headers }).catch(() => ({ json: { groups: [] } }));
    const newest = mine === turn.current && current.current.key === source.key;
    return newest ? setAll(json.groups) : undefined;
  }, [source.key]);
  useEffect(() => {
    setAll([]);
    reload();
  }, [source.key]);
  const path = (id) => `${ROOT}/${encodeURIComponent(id)}`;
  const then = (done) => done.finally(reload);
  return {
    all,
    reload,
    add: (title) => then(call("POST", ROOT, { body: { title }, headers })),
    rename: (id, title) => then(call("PATCH", path(id), { body: { title }, headers })),
    remove: (id) => then(call("DELETE", path(id), { headers })),
  };
}
