/**
 * Requests to the server's API, each with the user's key. No cookie goes with them, and no key is
 * ever part of an address.
 */

import { askForKey } from "./key_dialog.js";
import { readEvents } from "./event_stream.js";
import { key } from "./key.js";

const BASE = "/v1";

/** An answer that is not a 2xx. `status` is 0 where there was no answer at all. */
export class ApiError extends Error {
  constructor(status, message, { code = null, param = null, retryAfter = null } = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.param = param;
    /** @type {number | null} seconds */
    this.retryAfter = retryAfter;
  }
}

/**
 * @typedef {Object} CallOptions
 * @property {unknown} [body] an object is sent as JSON; a Blob, ArrayBuffer or Uint8Array as bytes
 * @property {Record<string, unknown>} [query] null and undefined are left out; an array is repeated
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 * @property {boolean} [raw] the answer's body is left to the caller, as `response`
 * @property {boolean} [ask] false: a 401 is an error as any other, and nobody is asked for a key
 */

/**
 * @param {string} method
 * @param {string} path below /v1, as in "/memories"
 * @param {CallOptions} [options]
 * @returns {Promise<{status: number, headers: Headers, json: any, response: Response}>} `json` is
 *   null where the answer has none, and with `raw`
 * @throws {ApiError}; an aborted request throws the signal's reason
 */
export async function call(method, path, options = {}) {
  const response = await send(method, path, options);
  const { status, headers } = response;
  if (options.raw) return { status, headers, json: null, response };
  let json = null;
  try {
    const text = await response.text();
    json = text ? JSON.parse(text) : null;
  } catch (error) {
    throw broken(error, options.signal);
  }
  return { status, headers, json, response };
}

/**
 * A request whose answer is a stream of events.
 *
 * @param {string} path below /v1
 * @param {{body: unknown, headers?: Record<string, string>, signal?: AbortSignal}} options
 * @returns {Promise<{status: number, headers: Headers, events: AsyncGenerator<string>}>} `events`:
 *   the data of each, with the "[DONE]" of an answer that is complete; of an upstream that does not
 *   stream, its whole answer and a "[DONE]"
 * @throws {ApiError}
 */
export async function stream(path, options) {
  const response = await send("POST", path, options);
  return {
    status: response.status,
    headers: response.headers,
    events: isStream(response) ? eventData(response, options.signal) : whole(response, options.signal),
  };
}

function isStream(response) {
  return (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
}

async function* whole(response, signal) {
  try {
    yield await response.text();
    yield "[DONE]";
  } catch (error) {
    throw broken(error, signal);
  }
}

async function* eventData(response, signal) {
  try {
    for await (const event of readEvents(response.body)) yield event.data;
  } catch (error) {
    throw broken(error, signal);
  }
}

/** Send until there is an answer that is not about the key. */
async function send(method, path, options) {
  if (key() === null && options.ask !== false) await askForKey(null);
  for (;;) {
    const used = key();
    const response = await attempt(method, path, options);
    if (response.ok) return response;
    const error = await refusal(response);
    if (response.status !== 401 || options.ask === false) throw error;
    // Another request may have asked meanwhile: its answer serves this one too.
    if (key() === used && !(await askForKey(error.message))) throw error;
    options.signal?.throwIfAborted();
  }
}

async function attempt(method, path, { body, query, headers, signal }) {
  const sent = new Headers(headers);
  if (key()) sent.set("authorization", `Bearer ${key()}`);
  let payload;
  if (body !== undefined && body !== null) {
    const bytes = body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body);
    payload = bytes ? body : JSON.stringify(body);
    if (!sent.has("content-type")) {
      sent.set("content-type", bytes ? "application/octet-stream" : "application/json");
    }
  }
  try {
    return await fetch(address(path, query), {
      method,
      headers: sent,
      body: payload,
      signal,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    throw broken(error, signal);
  }
}

/** @returns {string} where a request goes */
export function address(path, query = {}) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined) pairs.append(name, String(one));
    }
  }
  const text = pairs.toString();
  return BASE + path + (text ? `?${text}` : "");
}

/** What a failed fetch, or an answer that broke off, means. */
function broken(error, signal) {
  if (signal?.aborted) return signal.reason;
  if (error instanceof ApiError) return error;
  return new ApiError(0, "The server cannot be reached. Is it still running?");
}

async function refusal(response) {
  let told = null;
  try {
    told = JSON.parse(await response.text())?.error;
  } catch {
    // An answer of something in between, which says it in its own way.
  }
  const message =
    typeof told?.message === "string" ? told.message : `The server answered ${response.status}.`;
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  return new ApiError(response.status, message, {
    code: told?.code ?? null,
    param: told?.param ?? null,
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}
