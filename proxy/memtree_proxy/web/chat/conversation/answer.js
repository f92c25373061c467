/**
 * An answer of a model, put together from what upstreams send: chunks with deltas, whole answers,
 * reasoning under several names, tool calls, errors in mid-stream.
 *
 * @typedef {{text: string, reasoning: string, tools: string[], finish: string | null,
 *   model: string | null, ended: boolean}} Answer
 *   `ended`: the upstream said that this is all
 */

const MOST_TOOLS = 50;
const MOST_NAME = 100;
const DONE = "[DONE]";

/** An error that came inside of an answer, in the shape of `ApiError`. */
export class AnswerFailed extends Error {
  constructor({ status = 0, code = null, message }) {
    super(message);
    this.name = "AnswerFailed";
    this.status = status;
    this.code = code;
    this.retryAfter = null;
  }
}

/** @returns {Answer} */
export function emptyAnswer() {
  return { text: "", reasoning: "", tools: [], finish: null, model: null, ended: false };
}

/**
 * The answer with one more event.
 * @param {Answer} answer
 * @param {string} data the data of a server-sent event, or a whole answer as JSON
 * @returns {Answer}
 * @throws {AnswerFailed} where the event tells an error
 */
export function withEvent(answer, data) {
  if (data === DONE) return { ...answer, ended: true };
  let chunk;
  try {
    chunk = JSON.parse(data);
  } catch {
    return answer; // some upstreams send signs of life that are no JSON
  }
  if (chunk === null || typeof chunk !== "object") return answer;
  if (chunk.error) throw failure(chunk.error);
  const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : null;
  if (!choice || typeof choice !== "object") return answer;
  const said = objectOf(choice.delta) ?? objectOf(choice.message) ?? {};
  const content = split(said.content ?? choice.text);
  const finish = typeof choice.finish_reason === "string" ? choice.finish_reason : answer.finish;
  return {
    text: answer.text + content.text + textOf(said.refusal),
    reasoning: answer.reasoning + content.reasoning + reasoningOf(said),
    tools: withTools(answer.tools, said.tool_calls),
    finish,
    model: answer.model ?? (typeof chunk.model === "string" ? chunk.model.slice(0, 200) : null),
    ended: answer.ended || finish !== null,
  };
}

/**
 * A connection that was closed early looks like any other end, but for what did not come.
 * @param {Answer} answer after its last event
 * @throws {AnswerFailed} where the upstream never said that this is all
 */
export function checkEnd(answer) {
  if (!answer.ended) throw new AnswerFailed({ code: "incomplete", message: "" });
}

function objectOf(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
}

function textOf(value) {
  return typeof value === "string" ? value : "";
}

/** Content as text, or as parts, some of which may be reasoning. */
function split(content) {
  if (!Array.isArray(content)) return { text: textOf(content), reasoning: "" };
  let text = "";
  let reasoning = "";
  for (const part of content) {
    if (!objectOf(part)) text += textOf(part);
    else if (part.type === "thinking") reasoning += split(part.thinking).text;
    else text += textOf(part.text);
  }
  return { text, reasoning };
}

/** The first name that is used counts: some upstreams send the same words under two. */
function reasoningOf(said) {
  for (const name of ["reasoning_content", "reasoning", "thinking"]) {
    if (typeof said[name] === "string") return said[name];
  }
  if (!Array.isArray(said.reasoning_details)) return "";
  return said.reasoning_details
    .map((detail) => textOf(objectOf(detail)?.text) || textOf(objectOf(detail)?.summary))
    .join("");
}

function withTools(tools, calls) {
  if (!Array.isArray(calls)) return tools;
  const names = calls
    .map((call) => textOf(objectOf(objectOf(call)?.function)?.name).slice(0, MOST_NAME))
    .filter((name) => name !== "");
  return names.length ? [...tools, ...names].slice(0, MOST_TOOLS) : tools;
}

function failure(error) {
  if (!objectOf(error)) return new AnswerFailed({ message: textOf(error) || "unknown error" });
  const number = [error.status, error.code].find((value) => Number.isInteger(value));
  return new AnswerFailed({
    status: number ?? 0,
    code: typeof error.code === "string" ? error.code : null,
    message: textOf(error.message) || "unknown error",
  });
}
