/**
 * Which key a page begins with, before it is drawn: that of the address that `memtree ui` opened
 * (`#code=...`, good once), else that of another tab, else none where the server asks for none.
 * Tabs ask each other over a channel of this origin, which leaves nothing behind.
 */

import { key, setKey } from "./key.js";

const SESSION = "/ui/session";
const CODE = /^#code=([\w.-]{1,200})$/;
const ANSWER_MS = 200; // that another tab has to answer

/**
 * @typedef {Object} Begun
 * @property {boolean} ask the user is to be asked which key the client uses
 * @property {string | null} refusal why the code of the address is not good
 * @property {boolean} missed there is no key and nothing under none, but others have memory here
 */

/** @returns {Promise<Begun>} */
export async function signIn() {
  const begun = { ask: false, refusal: null, missed: false };
  const code = takenCode();
  if (code !== null) {
    const answer = await session({ code });
    if (answer?.key) setKey(answer.key);
    begun.ask = answer?.key === null;
    begun.refusal = answer?.error?.message ?? null;
  }
  const other = key() === null ? await sharedKey() : null;
  if (other !== null) setKey(other);
  if (key() || begun.ask) return begun;
  const server = await session(null);
  if (server?.keyless && key() === null) setKey("");
  begun.missed = Boolean(server?.keyless && server.empty && server.others);
  return begun;
}

/** The code of the address, which is taken out of it, so that no reload and no bookmark has it. */
function takenCode() {
  const code = CODE.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** The answer as JSON, errors included; null where there is none. */
async function session(body) {
  const posted = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const common = { credentials: "omit", cache: "no-store", redirect: "error" };
  try {
    return await (await fetch(SESSION, { ...common, ...(body ? posted : {}) })).json();
  } catch {
    return null;
  }
}

const channel = new BroadcastChannel("memtree.key");
channel.addEventListener("message", ({ data }) => {
  if (data === "ask" && key()) channel.postMessage({ key: key() });
});

/** @returns {Promise<string | null>} the key of the first other tab that answers; null: none did */
function sharedKey() {
  return new Promise((resolve) => {
    const end = (value) => {
      clearTimeout(timer);
      channel.removeEventListener("message", hear);
      resolve(value);
    };
    const hear = ({ data }) => typeof data?.key === "string" && end(data.key);
    const timer = setTimeout(end, ANSWER_MS, null);
    channel.addEventListener("message", hear);
    channel.postMessage("ask");
  });
}
