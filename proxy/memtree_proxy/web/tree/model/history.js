/** A conversation whose text is at hand: its messages, cut into the places that excerpts name. */

const STEP = /[^.[\]]+/g;
const WIDE = /[\ud800-\udbff]/;

/** The string at a place such as `content`, `content[2]` or, decoded, `tool_calls[0].function.arguments.text`; "" without one. */
export function stringAt(message, part) {
  let value = message;
  for (const step of String(part).match(STEP) || []) {
    if (typeof value === "string") value = parsed(value); // the arguments of a call
    if (value === null || typeof value !== "object") return "";
    value = Object.hasOwn(value, step) ? value[step] : undefined;
  }
  if (value && typeof value === "object") value = value.text;
  return typeof value === "string" ? value : "";
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where an excerpt of the arguments of a call, or of a string in them, lies in their JSON; null if it is not there. */
export function spanIn({ part, text }, message, excerpt) {
  if (excerpt.part === part) return { start: excerpt.start, end: excerpt.end };
  if (!String(excerpt.part).startsWith(`${part}.`)) return null;
  const value = stringAt(message, excerpt.part);
  const from = text.indexOf(JSON.stringify(value)) + 1; // behind its quotation mark: a value may stand within another
  const quoted = spelled(slice(value, excerpt.start, excerpt.end));
  const at = from === 0 ? -1 : from + spelled(slice(value, 0, excerpt.start)).length;
  if (at < 0 || !quoted) return null;
  const start = points(text.slice(0, at));
  return { start, end: start + points(quoted) };
}

/** A string as JSON spells it, without its quotation marks. */
function spelled(text) {
  return JSON.stringify(text).slice(1, -1);
}

/** Code points [start, end) of a text: the server counts these, JavaScript counts halves of the rarer ones. */
export function slice(text, start, end) {
  return text.slice(unitsOf(text, start), unitsOf(text, end));
}

/** Where code point number `points` begins, in the units of a JavaScript string. */
export function unitsOf(text, points) {
  if (!WIDE.test(text)) return Math.min(points, text.length);
  let at = 0;
  for (let point = 0; point < points && at < text.length; point++) {
    at += text.codePointAt(at) > 0xffff ? 2 : 1;
  }
  return at;
}

/** How many code points a text has. */
export function points(text) {
  if (!WIDE.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) count += 1;
  return count;
}

/** The strings of a message in the order in which excerpts may name them: [part, text, what it is]. */
export function strings(message) {
  const found = [];
  const { content, tool_calls: calls } = message || {};
  if (typeof content === "string") found.push({ part: "content", text: content, call: "" });
  else if (Array.isArray(content)) {
    content.forEach((part, index) => {
      const name = `content[${index}]`;
      const text = stringAt(message, name);
      if (text) found.push({ part: name, text, call: "" });
    });
  }
  const called = Array.isArray(calls)
    ? calls.map((call, index) => [call, `tool_calls[${index}]`])
    : [];
  for (const [call, place] of called) {
    const kind = call?.function ? "function" : "custom";
    const part = `${place}.${kind}.${kind === "function" ? "arguments" : "input"}`;
    found.push({ part, text: stringAt(message, part), call: String(call?.[kind]?.name ?? "") });
  }
  return found;
}

/** Who says it, in the words of the page. */
export function speaker(message) {
  const role = String(message?.role ?? "");
  return role === "tool" || role === "function" ? "tool result" : role || "message";
}

export class History {
  /**
   * @param {object[]} messages as a client would post them
   * @param {{title: string, file?: string, origin: "file" | "demo" | "chat", questions?: string[]}} about
   *   `file`: its name
   */
  constructor(messages, { title, file = "", origin, questions = [] }) {
    this.messages = messages;
    this.title = title ?? "";
    this.file = file;
    this.origin = origin;
    this.questions = questions;
    this.json = JSON.stringify(messages); // made once: it may have megabytes, and goes out with each question
  }

  /** A body with these messages and some more fields. */
  body(fields = {}) {
    const rest = Object.entries(fields).map(
      ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    return new Blob(['{"messages":', this.json, ...rest, "}"], { type: "application/json" });
  }

  /** What an excerpt, a rule or a candidate quotes; "" where it names no place. */
  quote({ message, part, start, end }) {
    if (part === undefined || !this.messages[message]) return "";
    return slice(stringAt(this.messages[message], part), start, end);
  }

  /** Where a place lies among all characters of its message, as the leaves of the tree count them. */
  character({ message, part, start, end }) {
    let before = 0;
    for (const each of strings(this.messages[message])) {
      const span = spanIn(each, this.messages[message], { part, start, end: end ?? start + 1 });
      if (span) return before + points(each.call) + span.start;
      before += points(each.text) + points(each.call);
    }
    return start;
  }
}

/** The first posted message that is sent as it is: from there on answer and history are the same. */
export function firstRecent(posted, answered) {
  let same = 0;
  while (
    same < posted.length &&
    same < answered.length &&
    equal(posted.at(-1 - same), answered.at(-1 - same))
  )
    same += 1;
  return posted.length - same;
}

function equal(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
