/** One request for an answer, and the answer as it comes. */
import { stream } from "../../shell/api.js";
import { checkEnd, emptyAnswer, withEvent } from "./answer.js";
import { memoryOf } from "../../shell/memory_state.js";

/**
 * @param {{chat: string, model: string, temperature: number | null,
 *   messages: {role: string, content: string}[]}} asked `temperature`: null: the model's own
 * @param {AbortSignal} signal ends the request, and the upstream's with it
 * @param {(memory: object) => void} onHead what the headers tell of memory
 * @param {(answer: import("./answer.js").Answer) => void} onAnswer the answer so far
 * @returns {Promise<void>} when the answer is complete
 * @throws {import("../../shell/api.js").ApiError | import("./answer.js").AnswerFailed}
 */
export async function exchange(asked, signal, onHead, onAnswer) {
  const { model, messages, temperature } = asked;
  const options = temperature === null ? {} : { temperature };
  const { headers, events } = await stream("/chat/completions", {
    body: { model, messages, ...options, stream: true },
    headers: { "x-polychat-memory": "on", "x-chat-id": asked.chat },
    signal,
  });
  onHead(memoryOf(headers));
  let answer = emptyAnswer();
  for await (const data of events) {
    const next = withEvent(answer, data);
    if (next !== answer) onAnswer(next);
    answer = next;
  }
  checkEnd(answer);
}
