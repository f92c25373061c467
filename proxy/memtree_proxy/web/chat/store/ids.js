/** Ids and records of new chats and messages. */

/** @param {string} prefix */
export function newId(prefix) {
  // `crypto.randomUUID` exists on https and localhost alone; the server may be on the LAN.
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return prefix + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {string} model
 * @param {number} now ms
 * @returns {import("./chat_store.js").Chat}
 */
export function newChat(model, now) {
  return {
    id: newId("chat_"),
    title: "",
    named: false,
    model,
    leaf: null,
    draft: "",
    created: now,
    updated: now,
    deleted: null,
    foreign: false,
    system: "",
    temperature: null,
  };
}

/**
 * @param {{chat: string, parent: string | null, role: "user" | "assistant", text?: string,
 *   status?: string}} fields
 * @param {number} now ms
 */
export function newMessage(fields, now) {
  return {
    id: newId("msg_"),
    text: "",
    status: "done",
    ...fields,
    created: now,
    touched: now,
    rev: 1,
    model: null,
    reasoning: "",
    tools: [],
    finish: null,
    memory: null,
    error: null,
    edited: false,
  };
}
