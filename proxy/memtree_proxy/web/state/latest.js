/** The newest answer to a question that is asked again and again. */

import { useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../shell/api.js";
import { key, onKeyChange } from "../shell/key.js";

const SECONDS = 10;

/**
 * Ask a route again ten seconds after each answer, as long as the tab is seen. An error leaves the
 * last good answer standing, with its time.
 *
 * @param {string} path
 * @param {Record<string, unknown>} query
 * @param {{ask?: boolean}} [options] see `call`
 * @returns {{value: any, at: Date | null, error: Error | null, reload: () => void}} `value`: null
 *   before the first answer; `at`: when it came
 */
export function useLatest(path, query, { ask = true } = {}) {
  const asked = JSON.stringify(query);
  const [known, setKnown] = useState({ value: null, at: null, error: null });
  const running = useRef(null);

  const load = useCallback(async () => {
    running.current?.abort();
    const mine = (running.current = new AbortController());
    try {
      // Who has given a key is asked for another one only where the answer is needed.
      const options = { query: JSON.parse(asked), signal: mine.signal, ask: ask && key() === null };
      const { json } = await call("GET", path, options);
      setKnown({ value: json, at: new Date(), error: null });
    } catch (error) {
      if (!mine.signal.aborted) setKnown((last) => ({ ...last, error }));
    }
  }, [path, asked, ask]);

  useEffect(() => {
    let timer = 0;
    let turns = 0;
    const turn = async () => {
      const mine = ++turns;
      clearTimeout(timer);
      if (document.hidden) return;
      await load(); // however long it takes: a slow server is asked no more often
      if (mine === turns) timer = setTimeout(turn, SECONDS * 1000);
    };
    turn();
    document.addEventListener("visibilitychange", turn);
    const deaf = onKeyChange(turn); // asked without a key, or with another one
    return () => {
      deaf();
      turns += 1;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", turn);
      running.current?.abort();
    };
  }, [load]);
  return { ...known, reload: load };
}
