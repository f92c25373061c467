/** The passages that stay in the memory message of a conversation, by choice of whoever looks at its tree. */

import { useEffect, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";
import { toast } from "../../shell/toasts.js";

const PLACE = ["message", "part", "start", "end", "sha256"];

/**
 * @param {string | null} address of the conversation; null: it is not known, and nothing can be pinned
 * @returns {{has: (excerpt: object) => boolean, toggle: (excerpt: object) => Promise<void>} | null}
 */
export function usePins(address) {
  const [{ of, pins }, setState] = useState({ of: null, pins: [] });
  const path = `/context_memory/conversations/${address}/pins`;
  useEffect(() => {
    if (!address) return undefined;
    const controller = new AbortController();
    call("GET", path, { signal: controller.signal })
      .then(({ json }) => setState({ of: address, pins: json.pins }))
      .catch(() => {}); // without them nothing is offered; the answer itself tells what is wrong
    return () => controller.abort();
  }, [address]);
  if (!address || of !== address) return null;
  const has = (excerpt) => pins.some((pin) => same(pin, excerpt));
  const toggle = async (excerpt) => {
    const had = has(excerpt);
    const rest = pins.filter((pin) => !same(pin, excerpt));
    const next = had ? rest : [...rest, placeOf(excerpt)];
    try {
      const { json } = await call("PUT", path, { body: { pins: next } });
      setState({ of: address, pins: json.pins });
      toast(had ? "It is no longer pinned." : "It stays in the memory message from the next fold on.");
    } catch (error) {
      toast(error.message, { kind: "problem" });
    }
  };
  return { has, toggle };
}

function same(pin, excerpt) {
  return PLACE.every((name) => pin[name] === excerpt[name]);
}

function placeOf(excerpt) {
  return Object.fromEntries(PLACE.map((name) => [name, excerpt[name]]));
}
