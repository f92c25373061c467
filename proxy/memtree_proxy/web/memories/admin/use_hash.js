/**
 * What the page shows, in the part of the address behind "#", so that it can be linked and comes
 * back after a reload. No server sees it, and no text that was searched for is in it.
 *
 * @typedef {object} Place
 * @property {{kind: "user", userId?: string}|{kind: "agent", agentId: string, subjectId?: string}
 *   |{kind: "chat", chatId: string}} whose
 * @property {import("../sources.js").Filter} filter
 * @property {boolean} stones What was forgotten or replaced is shown.
 */
import { useCallback, useLayoutEffect, useState } from "../../vendor/preact.js";

const NAMES = ["category", "source", "tag", "group", "thread"];

/** @param {string} hash @returns {Place} */
export function readHash(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const filter = {};
  for (const name of NAMES) if (given.get(name)) filter[name] = given.get(name);
  if (given.get("confirmed") === "no") filter.tainted = true;
  if (given.get("show") === "deleted") filter.deleted = true;
  if (given.get("show") === "conflicts") filter.conflicts = true;
  return { whose: readWhose(given), filter, stones: given.get("show") === "tombstones" };
}

function readWhose(given) {
  if (given.get("agent")) {
    const subjectId = given.get("subject");
    return { kind: "agent", agentId: given.get("agent"), ...(subjectId ? { subjectId } : {}) };
  }
  if (given.get("chat")) return { kind: "chat", chatId: given.get("chat") };
  return { kind: "user", ...(given.get("user") ? { userId: given.get("user") } : {}) };
}

/** @param {Place} place @returns {string} with "#", or "" */
export function writeHash({ whose, filter, stones }) {
  const given = new URLSearchParams();
  const { userId, agentId, subjectId, chatId } = whose;
  const named = { user: userId, agent: agentId, subject: subjectId, chat: chatId };
  for (const [name, value] of Object.entries(named)) if (value) given.set(name, value);
  for (const name of NAMES) if (filter[name]) given.set(name, filter[name]);
  if (filter.tainted) given.set("confirmed", "no");
  if (filter.deleted) given.set("show", "deleted");
  if (filter.conflicts) given.set("show", "conflicts");
  if (stones) given.set("show", "tombstones");
  const text = given.toString();
  return text ? `#${text}` : "";
}

/** @returns {[Place, (place: Place) => void]} */
export function useHash() {
  const [place, setPlace] = useState(() => readHash(location.hash));
  useLayoutEffect(() => {
    const read = () => setPlace(readHash(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const change = useCallback((next) => {
    history.replaceState(null, "", location.pathname + writeHash(next));
    setPlace(next);
  }, []);
  return [place, change];
}
