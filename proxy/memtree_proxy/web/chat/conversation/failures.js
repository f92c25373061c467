/**
 * Why an answer did not come, in plain words.
 *
 * @typedef {{title: string, text: string, detail: string, key: boolean, tree: boolean}} Failure
 *   `detail`: what the server itself said; `key`: another key may help; `tree`: there is no model,
 *   but the tree page works without one
 */

const MOST_DETAIL = 600;

const BY_CODE = {
  no_upstream: [
    "No model is connected",
    "This server was started with --upstream none, so it cannot answer. Your message is kept.",
  ],
  context_length_exceeded: [
    "Too long for this model",
    "What must be sent whole does not fit. Shorten your message, or choose a model with a larger window.",
  ],
  request_too_large: [
    "Too large for this server",
    "The request is over the server's size limit (MEMTREE_MAX_BODY_BYTES). Shorten your message.",
  ],
  upstream_unreachable: [
    "The model's server cannot be reached",
    "MemTree runs, but its upstream does not answer. Check the address given with --upstream.",
  ],
  upstream_timeout: [
    "The model took too long",
    "MemTree runs, but its upstream gave no answer in time.",
  ],
  incomplete: [
    "The answer broke off",
    "The model's server closed the connection before the end.",
  ],
  interrupted: [
    "The answer was interrupted",
    "The page was closed or reloaded while the answer came. What had come is kept.",
  ],
};

const BROKE = ["The answer broke off", "The connection was lost."];

const BY_STATUS = {
  0: [
    "The connection was lost",
    "Check that the server runs and that you are online. Nothing is lost: try again.",
  ],
  400: ["The request was refused", "The model's server did not take this request."],
  401: ["The key was not accepted", "Enter another key, then try again."],
  402: ["Payment needed", "The model's provider asks for credit on this account."],
  403: ["Not allowed", "The key may not use this model or this server."],
  404: ["Model not found", "The model's server does not know this model. Choose another one."],
  408: ["It took too long", "The request did not arrive in time."],
  429: ["Too many requests", "The model's server asks to wait."],
  529: ["The model is overloaded", "Its server has too much to do. Try again in a while."],
};

/**
 * @param {{status?: number, code?: string | null, message?: string, retryAfter?: number | null}} error
 * @param {boolean} half whether a part of the answer had come
 * @returns {Failure}
 */
export function inPlainWords(error, half = false) {
  const status = Number.isInteger(error.status) ? error.status : 0;
  const broke = half && status === 0 && !Object.hasOwn(BY_CODE, error.code ?? "");
  const [title, text] = broke ? BROKE : named(error.code, status);
  const wait = error.retryAfter > 0 ? ` Try again in ${seconds(error.retryAfter)}.` : "";
  const kept = half ? " What had come is kept." : "";
  const detail = typeof error.message === "string" ? error.message.slice(0, MOST_DETAIL) : "";
  return {
    title,
    text: text + wait + (text.endsWith("is kept.") ? "" : kept),
    detail,
    key: status === 401,
    tree: error.code === "no_upstream",
  };
}

function named(code, status) {
  if (code && Object.hasOwn(BY_CODE, code)) return BY_CODE[code];
  if (Object.hasOwn(BY_STATUS, status)) return BY_STATUS[status];
  if (status === 413) return BY_CODE.request_too_large;
  if (status >= 500) return [`The model's server had an error (${status})`, "Try again."];
  return [`The request failed (${status})`, "Try again."];
}

function seconds(number) {
  const whole = Math.ceil(number);
  if (whole < 120) return whole === 1 ? "a second" : `${whole} seconds`;
  return `${Math.ceil(whole / 60)} minutes`;
}
