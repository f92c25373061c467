/**
 * The messages of one chat as a tree: an edited message or a second answer is a sibling, not a
 * replacement, so nothing that was said is lost.
 *
 * @typedef {{id: string, chat: string, parent: string | null, role: "user" | "assistant",
 *   text: string, created: number, rev: number, touched: number, status: string}} Message
 */

/** The older one first; ids decide between messages of the same millisecond. */
function byAge(a, b) {
  return a.created - b.created || (a.id < b.id ? -1 : 1);
}

/**
 * Children by the id of their parent (null: those that begin the chat), oldest first.
 * @param {Iterable<Message>} messages
 * @returns {Map<string | null, Message[]>}
 */
export function childrenOf(messages) {
  const children = new Map();
  for (const message of messages) {
    const list = children.get(message.parent);
    if (list) list.push(message);
    else children.set(message.parent, [message]);
  }
  for (const list of children.values()) list.sort(byAge);
  return children;
}

/**
 * The messages from the first one down to `leaf`.
 * @param {Map<string, Message>} messages by id
 * @param {string | null} leaf
 * @returns {Message[]}
 */
export function pathTo(messages, leaf) {
  const path = [];
  const seen = new Set();
  for (let at = messages.get(leaf); at && !seen.has(at.id); at = messages.get(at.parent)) {
    seen.add(at.id);
    path.push(at);
  }
  return path.reverse();
}

/**
 * The end of the branch that goes on from a message, at each fork by the newest.
 * @param {Map<string | null, Message[]>} children
 * @param {string | null} from null: of the whole chat
 * @returns {string | null}
 */
export function newestLeaf(children, from) {
  let at = from;
  const seen = new Set();
  for (let next = children.get(at); next && !seen.has(at); next = children.get(at)) {
    seen.add(at);
    at = next[next.length - 1].id;
  }
  return at;
}

/**
 * Which of its siblings a message is.
 * @returns {{number: number, of: number, before: string | null, after: string | null}}
 *   `number` from 1; the ids of its neighbours
 */
export function placeAmongSiblings(children, message) {
  const siblings = children.get(message.parent) ?? [message];
  const at = siblings.findIndex((sibling) => sibling.id === message.id);
  return {
    number: at + 1,
    of: siblings.length,
    before: siblings[at - 1]?.id ?? null,
    after: siblings[at + 1]?.id ?? null,
  };
}

/**
 * What is sent for a path: the system prompt, and every message that says something, the half
 * answer included.
 * @param {Message[]} path
 * @param {string} [system]
 * @returns {{role: string, content: string}[]}
 */
export function sentMessages(path, system = "") {
  const said = path
    .filter((message) => message.text !== "")
    .map((message) => ({ role: message.role, content: message.text }));
  return system ? [{ role: "system", content: system }, ...said] : said;
}

/**
 * Whether `one` is to be kept where a tab holds `other` of the same id.
 * @param {{rev: number, touched: number}} one
 * @param {{rev: number, touched: number} | undefined} other
 */
export function isNewer(one, other) {
  if (!other) return true;
  return one.rev !== other.rev ? one.rev > other.rev : one.touched >= other.touched;
}
