/** The memories that stood in a request, also where the list has not read that far. */
import { useEffect, useMemo, useState } from "../../vendor/preact.js";

/**
 * @param {import("../sources.js").Source} source
 * @param {string[]|null} ids Null: all rows are wanted.
 * @param {import("../rows.js").Memory[]} rows
 * @param {boolean} ready Whether the rows are read.
 * @returns {{rows: import("../rows.js").Memory[], elsewhere: number}} `elsewhere`: memories that are
 *   not of this source, or gone.
 */
export function useUsed(source, ids, rows, ready) {
  const [fetched, setFetched] = useState(new Map());
  const name = ids ? ids.join("\n") : "";
  useEffect(() => {
    if (!name || !ready) return undefined;
    let current = true;
    const there = new Set(rows.map((row) => row.id));
    const missing = name.split("\n").filter((id) => !there.has(id));
    Promise.all(
      missing.map((id) => source.get(id).then((memory) => [id, memory], () => [id, null])),
    ).then((found) => current && setFetched(new Map(found)));
    return () => {
      current = false;
    };
  }, [source.key, name, ready]);
  return useMemo(() => {
    if (!ids) return { rows, elsewhere: 0 };
    const wanted = new Set(ids);
    const there = rows.filter((row) => wanted.has(row.id));
    const known = new Set(there.map((row) => row.id));
    const older = [...wanted].filter((id) => !known.has(id)).map((id) => fetched.get(id));
    return {
      rows: [...there, ...older.filter(Boolean)],
      elsewhere: older.filter((memory) => memory === null).length,
    };
  }, [rows, name, fetched]);
}
