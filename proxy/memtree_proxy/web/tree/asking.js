/** Asks what the model would see. One question at a time: a newer one cancels the older, and its answer wins. */

import { useEffect, useLayoutEffect, useState } from "../vendor/preact.js";
import { call } from "../shell/api.js";

const PAUSE = 220; // milliseconds in which a slider may move on
const LOOK_AGAIN = 2500; // milliseconds between two looks at the index

/**
 * @typedef {object} Asked
 * @property {object | null} answer of `/context_memory` with `explain`
 * @property {{query: string, target: number} | null} about what it answers
 * @property {boolean} busy
 * @property {Error | null} error
 * @property {number | null} waiting tokens without embeddings, while an answer is provisional
 * @property {() => void} retry
 */

/**
 * @param {import("./model/history.js").History | null} history null: nothing is asked
 * @param {{query: string, target: number}} question
 * @returns {Asked}
 */
export function useAnswer(history, { query, target }) {
  const [state, setState] = useState({ history: null, answer: null, about: null, error: null });
  const [busy, setBusy] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const current = state.history === history ? state : { answer: null, about: null, error: null };
  useLayoutEffect(() => {
    if (!history) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    setBusy(true);
    const ask = async () => {
      try {
        const answer = await seen(history, { query, target }, signal);
        if (!signal.aborted) setState({ history, answer, about: { query, target }, error: null });
      } catch (error) {
        if (!signal.aborted)
          setState((old) => ({ ...(old.history === history ? old : {}), history, error }));
      }
      if (!signal.aborted) setBusy(false);
    };
    const timer = setTimeout(ask, state.history === history ? PAUSE : 0);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [history, query, target, attempt]);
  const retry = () => setAttempt((number) => number + 1);
  const provisional = !busy && !current.error && current.answer?.memory.state === "provisional";
  const waiting = useIndex(provisional, retry, current.answer);
  return { answer: null, about: null, error: null, ...current, busy, waiting, retry };
}

/** Nothing is begun by it that a chat would notice: `fresh` starts no epoch. */
async function seen(history, { query, target }, signal) {
  const fields = { target_tokens: target, mode: "fresh", explain: true };
  if (query) fields.query = query;
  const { json } = await call("POST", "/context_memory", {
    body: history.body(fields),
    headers: JSON_BODY,
    signal,
  });
  return json;
}

export const JSON_BODY = { "content-type": "application/json" };

/** While an answer waits for embeddings: how many tokens do; calls `done` when none is left. */
function useIndex(provisional, done, answer) {
  const [waiting, setWaiting] = useState(null);
  useEffect(() => {
    if (!provisional) return undefined;
    const controller = new AbortController();
    setWaiting(answer.memory.pending_tokens);
    let timer = 0;
    const look = async () => {
      try {
        if (document.visibilityState === "visible") {
          const { json } = await call("GET", "/context_memory/status", {
            signal: controller.signal,
          });
          if (controller.signal.aborted) return;
          setWaiting(json.pending_tokens);
          if (json.pending_tokens === 0) return done();
        }
      } catch {
        if (controller.signal.aborted) return; // a failure here is no news: the next look tells more
      }
      timer = setTimeout(look, LOOK_AGAIN);
    };
    timer = setTimeout(look, LOOK_AGAIN);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [provisional, answer]);
  return provisional ? waiting : null;
}
