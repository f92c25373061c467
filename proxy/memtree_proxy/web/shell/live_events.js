/** Live events of the server, held open for as long as somebody looks at the tab. */

import { ApiError, call } from "./api.js";
import { EventParser, readEvents } from "./event_stream.js";
import { onKeyChange } from "./key.js";

const FIRST_WAIT = 500; // ms
const LONGEST_WAIT = 10_000; // ms

/**
 * Listen to a stream of events. A hidden tab holds no connection; when it is seen again, the stream
 * goes on behind the last event that it got.
 *
 * @param {string} path below /v1, as in "/memories/events"
 * @param {Object} options
 * @param {Record<string, unknown>} [options.query]
 * @param {Record<string, string>} [options.headers]
 * @param {(event: any) => void} options.onEvent the JSON of each event; its `eventId` is the
 *   stream's own id
 * @param {() => void} [options.onOpen] the stream is open, or open again
 * @param {(error: ApiError) => void} [options.onProblem] it is not; it is tried again unless the
 *   server refused it: then when a key is given
 * @returns {() => void} ends it
 */
export function listen(path, { query, headers: more = {}, onEvent, onOpen, onProblem }) {
  let lastId = null;
  let stopped = false;
  let refused = false;
  let current = null; // the AbortController of the connection that is open

  async function run() {
    const abort = new AbortController();
    current = abort;
    for (let failures = 0; !abort.signal.aborted; ) {
      const parser = new EventParser();
      try {
        const headers = lastId === null ? more : { ...more, "last-event-id": lastId };
        const options = { query, headers, signal: abort.signal, raw: true };
        const { response } = await call("GET", path, options);
        onOpen?.();
        failures = 0;
        for await (const event of readEvents(response.body, parser)) {
          if (stopped) return;
          deliver(event);
        }
        failures += 1; // ended by the server: it stops, or the key is no longer let in
      } catch (error) {
        if (abort.signal.aborted) return;
        failures += 1;
        const told = error instanceof ApiError ? error : new ApiError(0, "The connection broke.");
        onProblem?.(told);
        if (told.status >= 400 && told.status < 500 && told.status !== 429) {
          refused = true;
          current = null;
          return;
        }
      } finally {
        lastId = parser.lastId ?? lastId; // told before the first event as well
      }
      await pause(waitFor(failures, Math.random()), abort.signal);
    }
  }

  function deliver(event) {
    let value;
    try {
      value = JSON.parse(event.data);
    } catch {
      return; // not of this server
    }
    onEvent({ ...value, eventId: event.id });
  }

  function follow() {
    if (document.hidden || stopped) {
      current?.abort();
      current = null;
    } else if (current === null && !refused) {
      run();
    }
  }

  const deaf = onKeyChange(() => {
    refused = false;
    follow();
  });
  document.addEventListener("visibilitychange", follow);
  follow();
  return () => {
    stopped = true;
    deaf();
    document.removeEventListener("visibilitychange", follow);
    follow();
  };
}

/**
 * @param {number} failures in a row, from 1 on
 * @param {number} chance from 0 to 1: tabs that lost the same server come back one after another
 * @returns {number} ms to wait
 */
export function waitFor(failures, chance) {
  const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(failures - 1, 10));
  return longest * (0.5 + chance / 2);
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
