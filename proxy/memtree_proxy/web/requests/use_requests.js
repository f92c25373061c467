/** The rows of the log that a filter lets through: read by pages, and live. */

import { useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../shell/api.js";
import { listen } from "../shell/live_events.js";
import { merged, withRow } from "./row_sums.js";

const PAGE = 100; // rows
const MOST = 2_000; // rows that are read without being asked for
const TITLED = 5_000; // ms in which the conversation of a new row mostly has its title
const NOTHING = { rows: [], totals: null, cursor: null, error: null };

/**
 * @param {Record<string, string | undefined>} query of `GET /v1/requests`
 * @param {{whole: boolean, live: boolean}} options `whole`: read on to the end; `live`: rows may come
 * @returns {{rows: object[], totals: object | null, more: (() => void) | null, complete: boolean,
 *   loading: boolean, error: Error | null, retry: () => void}} `complete`: no row is left to read
 */
export function useRequests(query, { whole, live }) {
  const asked = JSON.stringify(query);
  const [state, setState] = useState({ ...NOTHING, asked, loading: true });
  const reading = useRef(null);
  const shown = state.asked === asked ? state : { ...NOTHING, asked, loading: true };

  const read = useCallback(
    async (cursor) => {
      reading.current?.abort();
      const { signal } = (reading.current = new AbortController());
      setState((old) => ({ ...(old.asked === asked ? old : { ...NOTHING, asked }), loading: true, error: null }));
      try {
        const { json } = await call("GET", "/requests", {
          query: { ...JSON.parse(asked), limit: PAGE, cursor },
          signal,
        });
        setState((old) => joined(old, json, cursor));
      } catch (error) {
        if (!signal.aborted) setState((old) => ({ ...old, loading: false, error }));
      }
    },
    [asked],
  );
  useEffect(() => {
    read(null);
    return () => reading.current?.abort();
  }, [read]);
  useEffect(() => {
    if (!live) return undefined;
    const { until, ...filters } = JSON.parse(asked);
    let later = 0;
    const end = listen("/requests/events", {
      query: filters,
      onOpen: () => read(null), // what came while nobody looked, also before the first row was awaited
      onEvent: (row) => {
        setState((old) => withEvent(old, row));
        clearTimeout(later);
        later = setTimeout(() => read(null), TITLED);
      },
    });
    return () => {
      clearTimeout(later);
      end();
    };
  }, [asked, live, read]);

  const { cursor, loading, error, rows } = shown;
  const ready = cursor !== null && !loading && !error;
  useEffect(() => {
    if (whole && ready && rows.length < MOST) read(cursor);
  }, [whole, ready, cursor]);
  return {
    ...shown,
    more: ready ? () => read(cursor) : null,
    complete: shown.totals !== null && cursor === null,
    retry: () => read(cursor),
  };
}

/** What is known, with a page. One without a cursor is the newest: a gap behind it begins anew. */
function joined(old, page, cursor) {
  const told = { ...old, totals: page.totals, loading: false, error: null };
  const known = new Set(old.rows.map(({ id }) => id));
  const anew = cursor === null && !page.requests.some(({ id }) => known.has(id));
  if (anew) return { ...told, rows: page.requests, cursor: page.next_cursor };
  const rows = merged(old.rows, page.requests);
  return { ...told, rows, cursor: cursor === null ? old.cursor : page.next_cursor };
}

function withEvent(old, { eventId, ...row }) {
  if (!old.totals || old.rows.some(({ id }) => id === row.id)) return old;
  return { ...old, rows: merged(old.rows, [row]), totals: withRow(old.totals, row) };
}
