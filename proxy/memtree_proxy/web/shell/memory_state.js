/**
 * What `x-memtree-state` and `x-memtree-reason` say, in words.
 *
 * @typedef {{label: string, text: string, kind: "plain" | "good" | "warning" | "problem"}} Shown
 */

const STATES = {
  off: ["Memory off", "This request was sent as it is, without context memory.", "plain"],
  "below-threshold": [
    "Sent whole",
    "Under 10,000 tokens a conversation is sent as it is.",
    "plain",
  ],
  passed: ["Sent whole", "The whole conversation went to the model.", "plain"],
  packed: [
    "Folded",
    "Older messages were folded into summaries and the excerpts that concern your question.",
    "good",
  ],
  provisional: [
    "Folded, index still growing",
    "Older messages were folded. Some of them are still being indexed.",
    "good",
  ],
  refused: ["Too large", "What must be sent whole is larger than the model takes.", "problem"],
  "degraded:store": [
    "Folded without the store",
    "The store did not answer. The conversation was folded for this request alone.",
    "warning",
  ],
  "degraded:indexing": [
    "Partly indexed",
    "The index does not reach the end of the conversation yet.",
    "warning",
  ],
  "degraded:embedder": [
    "Folded by words",
    "The embedder did not answer. Excerpts were chosen by words alone.",
    "warning",
  ],
  "degraded:no-room": [
    "Older messages left out",
    "There was no room for a memory of the older messages.",
    "warning",
  ],
  "degraded:invalid-history": [
    "Sent as it is",
    "MemTree could not read this conversation and sent it unchanged.",
    "warning",
  ],
  "degraded:encoded-body": [
    "Sent as it is",
    "MemTree could not decode this request and sent it unchanged.",
    "warning",
  ],
  "degraded:internal": [
    "Sent as it is",
    "An error inside MemTree; the conversation was sent unchanged.",
    "warning",
  ],
};

const REASONS = {
  fits: "It is no larger than the target.",
  "one-round": "It is a single round, which is never cut.",
  "large-round": "The newest round alone fills the model.",
  "cheaper-whole": "Folding it now would cost more than it saves.",
  "tree-pending": "Its index is not ready yet.",
  "side-request": "Titles and summaries are never folded.",
  "server-state": "The history lies on the model's server.",
  "unknown-switch": "The value that should have switched memory on is not known, so it counted as off.",
  "path-without-memory": "Requests on this path are only passed on.",
  "embeddings-pending": "Embeddings are still being computed, so excerpts may change.",
};

/** @returns {[string, string][]} every state with its label; labels that several share name the cause */
export function stateNames() {
  const labels = Object.values(STATES).map(([label]) => label);
  const shared = (label) => labels.filter((one) => one === label).length > 1;
  return Object.entries(STATES).map(([state, [label]]) => [
    state,
    shared(label) ? `${label} (${state.replace("degraded:", "")})` : label,
  ]);
}

/**
 * @param {string | null} state the value of `x-memtree-state`
 * @param {string | null} reason the value of `x-memtree-reason`, as `cheaper-whole; folds-at=53000`
 * @param {number | null} [usually] tokens at which a chat with the model is folded, where `reason` says none
 * @returns {Shown | null} null where the server said nothing
 */
export function inWords(state, reason, usually = null) {
  if (!state) return null;
  const known = Object.hasOwn(STATES, state) ? STATES[state] : null;
  const [label, text, kind] = known ?? [state.slice(0, 60), "", "plain"];
  const [word, told] = readReason(reason ?? "");
  const foldsAt = told ?? (state === "below-threshold" ? usually : null);
  const because = Object.hasOwn(REASONS, word) ? REASONS[word] : "";
  const later = foldsAt ? `It will be folded from about ${foldsAt.toLocaleString("en-US")} tokens on.` : "";
  return { label, text: [text, because, later].filter(Boolean).join(" "), kind };
}

function readReason(reason) {
  const [word, ...rest] = reason.split(";", 3).map((part) => part.trim());
  const size = rest.find((part) => /^folds-at=\d{1,12}$/.test(part));
  return [word, size ? Number(size.slice(9)) : null];
}

/**
 * What the headers of an answer tell about memory, to be kept with the message.
 * @param {Headers} headers
 */
export function memoryOf(headers) {
  const text = (name) => headers.get(`x-memtree-${name}`)?.slice(0, 2000) || null;
  const number = (name) => {
    const value = Number(text(name) ?? NaN);
    return Number.isFinite(value) ? value : null;
  };
  return {
    state: text("state"),
    reason: text("reason"),
    raw: number("raw-tokens"),
    sent: number("sent-tokens"),
    address: text("address"),
    memories: (text("memories") ?? "").split(",").filter(Boolean).slice(0, 50),
    degraded: text("memories-degraded"),
  };
}
