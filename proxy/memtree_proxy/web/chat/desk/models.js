/** The models that the upstream offers. */
import { useEffect, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";

const MOST = 3000;
const LONGEST = 200;
const MOST_RECENT = 50; // chats whose models come first
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

/**
 * The model of a first chat: the one that the server was started with, else the only one that can
 * hold a chat. Of several none is chosen: the first by name may be a costly or a retired one.
 *
 * @param {string[]} ids
 * @param {string} [configured] setting `model` of the server
 * @returns {string} "" where a person has to choose
 */
export function firstModel(ids, configured = "") {
  const chatting = ids.filter((id) => !OTHER.test(id));
  return configured || (chatting.length === 1 ? chatting[0] : "");
}

/** @returns {string} setting `model` of the server, "" where it is not set */
export function configuredModel() {
  return globalThis.document?.querySelector?.('meta[name="memtree-model"]')?.content ?? "";
}

/**
 * @param {string[]} models as the upstream lists them
 * @param {string[]} recent the last used first, with repeats
 * @returns {string[]} the recent ones first, also those that are not listed
 */
export function recentFirst(models, recent) {
  return [...new Set([...recent.filter(Boolean).slice(0, MOST_RECENT), ...models])];
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
