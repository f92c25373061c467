/** Loads what the page shows: the tree of a known conversation with its plan, or that of a history at hand. */

import { useEffect, useState } from "../vendor/preact.js";
import { readHistory } from "../chat/store/history.js";
import { ApiError, call } from "../shell/api.js";
import { JSON_BODY } from "./asking.js";
import { History } from "./model/history.js";
import { TreeModel } from "./model/tree_model.js";

const TURNS = 20; // seven minutes, where each of them takes the server all the time it has
const PAUSE = 1000; // milliseconds between two of them

/**
 * @typedef {{kind: "none"} | {kind: "known", address: string} | {kind: "demo"} | {kind: "chat", id: string, leaf?: string} |
 *   {kind: "history", history: History, address?: string}} Source
 */

/** What the part of an address behind `#` names, and the message that is to be shown first. */
export function fromHash(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const message = /^\d{1,9}$/.test(fields.get("message") ?? "")
    ? Number(fields.get("message"))
    : null;
  if (fields.has("demo")) return { source: { kind: "demo" }, message };
  if (fields.get("chat"))
    return {
      source: { kind: "chat", id: fields.get("chat"), leaf: fields.get("leaf") ?? undefined },
      message,
    };
  const address = fields.get("conversation") ?? "";
  if (address) return { source: { kind: "known", address: address.toLowerCase() }, message };
  return { source: { kind: "none" }, message };
}

/** The address of a source; of a dropped file there is none. @param {Source} source */
export function toHash(source) {
  const fields = new URLSearchParams();
  if (source.kind === "demo") return "#demo";
  if (source.kind === "known") fields.set("conversation", source.address);
  if (source.kind === "chat") fields.set("chat", source.id);
  if (source.leaf) fields.set("leaf", source.leaf);
  return fields.size ? `#${fields}` : "#";
}

/** @param {Source} source @returns {{status: "empty" | "loading" | "ready" | "failed", ...}} */
export function useConversation(source) {
  const [state, setState] = useState({ source: null, status: "empty" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (source.kind === "none") {
      setState({ source, status: "empty" });
      return undefined;
    }
    const controller = new AbortController();
    const { signal } = controller;
    setState({ source, status: "loading" });
    load(source, signal)
      .then((loaded) => !signal.aborted && setState({ source, status: "ready", ...loaded }))
      .catch((error) => !signal.aborted && setState({ source, status: "failed", error }));
    return () => controller.abort();
  }, [source, attempt]);
  const shown =
    state.source === source ? state : { status: source.kind === "none" ? "empty" : "loading" };
  return { ...shown, retry: () => setAttempt((number) => number + 1) };
}

async function load(source, signal) {
  if (source.kind === "known") return known(source.address, signal);
  const history =
    source.history ?? (await (source.kind === "demo" ? demo(signal) : ofChat(source)));
  const plan = source.address ? await planOf(source.address, signal) : null;
  const json = await wholeTree(history, signal);
  const partial = json.state === "indexing";
  return { model: new TreeModel(json), history, plan, address: null, partial };
}

/**
 * The server answers with what there is when building has taken it twenty seconds, and goes on:
 * then it is asked again.
 */
async function wholeTree(history, signal) {
  for (let turn = 1; ; turn++) {
    const body = history.body();
    const { json } = await call("POST", "/context_memory/tree", {
      body,
      headers: JSON_BODY,
      signal,
    });
    if (json.state !== "indexing" || turn === TURNS) return json;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    signal.throwIfAborted();
  }
}

/** Of the known conversation that a file belongs to. */
async function planOf(address, signal) {
  const path = `/context_memory/conversations/${address}/plan`;
  return (await call("GET", path, { signal })).json;
}

async function known(address, signal) {
  if (!/^[0-9a-f]{64}$/.test(address))
    throw new ApiError(404, "This link names no conversation: its address is not complete.");
  const path = `/context_memory/conversations/${address}`;
  const [tree, plan] = await Promise.all([
    call("GET", `${path}/tree`, { signal }),
    call("GET", `${path}/plan`, { signal }),
  ]);
  return { model: new TreeModel(tree.json), history: null, plan: plan.json, address };
}

/** The demo session is no secret: it comes without a key, from beside the pages. */
async function demo(signal) {
  const response = await fetch("/ui/demo.json", { signal, credentials: "omit" }).catch((error) => {
    if (signal.aborted) throw error;
    throw new ApiError(0, "The server cannot be reached. Is it still running?");
  });
  if (!response.ok) throw new ApiError(response.status, "The server has no demo session.");
  const { messages, questions } = await response.json();
  return new History(messages, { title: "Demo: a coding session", origin: "demo", questions });
}

async function ofChat({ id, leaf }) {
  const found = await readHistory(id, leaf);
  if (!found || !found.messages.length)
    throw new ApiError(404, "This browser has no chat of that name any more.");
  return new History(found.messages, { title: found.title, origin: "chat" });
}

/** The conversations in a file; `belongs` tells of each whether it leads to the address. Nothing of it is kept. */
export async function parse(file, address = null) {
  const { json } = await call("POST", "/context_memory/parse", {
    body: file,
    query: { address, name: file.name.slice(0, 200) },
  });
  return json.conversations;
}

/** Forget all that the server has of it. @returns {Promise<object>} the receipt */
export async function forget({ history, address }) {
  const body = address ? { address } : history.body();
  const { json } = await call("POST", "/context_memory/delete", { body, headers: JSON_BODY });
  return json;
}

/** Give a known conversation a title of its own. */
export async function rename(address, title) {
  const path = `/context_memory/conversations/${address}`;
  await call("PATCH", path, { body: { title } });
}
