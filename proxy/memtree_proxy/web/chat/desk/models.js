/** The models that the upstream offers. */
import { useEffect, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";

const MOST = 3000;
const LONGEST = 200;
const MOST_RECENT = 50; // chats whose models come first
// Names and kinds of models that no chat is held with, in the lists of providers and local servers.
const OTHER =
  /embed|minilm|\bbge\b|whisper|\btts|dall-e|moderation|image|\bflux\b|diffusion|\bveo\b|audio|speech|realtime|transcri|rerank|sora|davinci-|babbage-|gpt-3\.5-turbo-instruct/i;

/**
 * @param {unknown} json the answer of `/models`; nothing about it is certain
 * @returns {string[]} ids of those that can chat, each once, in alphabetical order
 */
export function modelIds(json) {
  const rows = Array.isArray(json?.data) ? json.data : [];
  const ids = rows
    .slice(0, MOST)
    .filter(chats)
    .map((row) => row?.id)
    .filter((id) => typeof id === "string" && id !== "" && id.length <= LONGEST);
  return [...new Set(ids)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/** By its name, and by what some lists say of its kind. */
function chats(row) {
  const says = row?.architecture?.output_modalities;
  const writes = !Array.isArray(says) || says.includes("text");
  return writes && row?.capabilities?.completion_chat !== false && !OTHER.test(`${row?.id} ${row?.type ?? ""}`);
}

/**
 * The model of a first chat: the one that the server was started with, else the only one. Of
 * several none is chosen: the first by name may be a costly or a retired one.
 *
 * @param {string[]} ids
 * @param {string} [configured] setting `model` of the server
 * @returns {string} "" where a person has to choose
 */
export function firstModel(ids, configured = "") {
  return configured || (ids.length === 1 ? ids[0] : "");
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
 * @param {string} model
 * @returns {number | null} tokens at which a chat with it is folded first, about; null: not known (yet)
 */
export function useFoldsAt(model) {
  const [known, setKnown] = useState({});
  useEffect(() => {
    if (!model) return undefined;
    const abort = new AbortController();
    call("GET", "/context_memory/status", { query: { model }, signal: abort.signal }).then(
      ({ json }) => setKnown({ model, size: json.folds_at ?? null }),
      () => {},
    );
    return () => abort.abort();
  }, [model]);
  return known.model === model ? known.size : null;
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
