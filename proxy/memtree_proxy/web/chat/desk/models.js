/** The models that the upstream offers. */
import { useEffect, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";

const MOST = 3000;
const LONGEST = 200;
// Names that no chat is held with, in the lists of the large providers.
const OTHER = /embed|whisper|tts|dall-e|moderation|image|audio|realtime|transcribe|rerank|sora/i;

/**
 * @param {unknown} json the answer of `/models`; nothing about it is certain
 * @returns {string[]} ids, each once, in alphabetical order
 */
export function modelIds(json) {
  const rows = Array.isArray(json?.data) ? json.data : [];
  const ids = rows
    .slice(0, MOST)
    .map((row) => row?.id)
    .filter((id) => typeof id === "string" && id !== "" && id.length <= LONGEST);
  return [...new Set(ids)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/** @param {string[]} ids @returns {string} the one to begin with, "" where there is none */
export function firstModel(ids) {
  return ids.find((id) => !OTHER.test(id)) ?? ids[0] ?? "";
}

/**
 * @returns {{models: string[], loading: boolean, error: import("../../shell/api.js").ApiError | null,
 *   retry: () => void}}
 */
export function useModels() {
  const [state, setState] = useState({ models: [], loading: true, error: null });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    call("GET", "/models", { signal: abort.signal }).then(
      ({ json }) => setState({ models: modelIds(json), loading: false, error: null }),
      (error) => abort.signal.aborted || setState({ models: [], loading: false, error }),
    );
    return () => abort.abort();
  }, [attempt]);
  return { ...state, retry: () => setAttempt(attempt + 1) };
}
