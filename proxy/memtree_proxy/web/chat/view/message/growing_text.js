/** The answer that grows: drawn at most once a frame, read out once a sentence. */
import { html, useLayoutEffect, useReducer, useRef, useState } from "../../../vendor/preact.js";
import { Markdown } from "../../../shell/markdown.js";
import { inPlainWords } from "../../conversation/failures.js";
import { Sentences } from "../../conversation/sentences.js";
import { Reasoning, Tools } from "./parts.js";

const SAID = 4; // sentences that stay in the region

/** Call `run` at most once a frame, however often it is asked for. */
function eachFrame(run) {
  let asked = 0;
  const frame = () => {
    asked = 0;
    run();
  };
  return {
    ask() {
      asked ||= requestAnimationFrame(frame);
    },
    stop() {
      cancelAnimationFrame(asked);
    },
  };
}

/** @param {{conversation: import("../../conversation/conversation.js").Conversation, id: string}} props */
export function GrowingText({ conversation, id }) {
  const [, draw] = useReducer((number) => number + 1, 0);
  useLayoutEffect(() => {
    const frames = eachFrame(() => draw());
    const stop = conversation.read(() => frames.ask());
    return () => {
      stop();
      frames.stop();
    };
  }, [conversation, id]);
  const { text, reasoning, tools } = conversation.message(id);
  return html`
    <${Reasoning} text=${reasoning} />
    ${text
      ? html`<${Markdown} text=${text} streaming=${true} />`
      : html`<p class="waiting">
          <span class="waiting-dots" aria-hidden="true"><i></i><i></i><i></i></span>
          ${reasoning ? "Thinking" : "Waiting for the answer"}
        </p>`}
    <${Tools} names=${tools} />
  `;
}

/** What a screen reader hears of answers. */
export function LiveRegion({ conversation }) {
  const [said, setSaid] = useState([]);
  const reader = useRef({ id: null, sentences: null });
  useLayoutEffect(() => {
    const say = (text) =>
      text && setSaid((before) => [...before, { text, key: Math.random() }].slice(-SAID));
    const frames = eachFrame(() => {
      const message = conversation.message(conversation.growing);
      if (message) say(sentencesOf(reader.current, message).take(message.text));
    });
    const end = () => {
      const { id, sentences } = reader.current;
      const message = conversation.message(id);
      if (!message || message.status === "streaming") return;
      reader.current = { id: null, sentences: null };
      say(sentences.take(message.text, true));
      say(ending(message));
    };
    const stops = [conversation.read(() => frames.ask()), conversation.listen(() => {
      const message = conversation.message(conversation.growing);
      if (message) sentencesOf(reader.current, message);
      else end();
    }), () => frames.stop()];
    return () => stops.forEach((stop) => stop());
  }, [conversation]);
  return html`<div class="visually-hidden" aria-live="polite">
    ${said.map(({ text, key }) => html`<span key=${key}>${text} </span>`)}
  </div>`;
}

function sentencesOf(reader, message) {
  if (reader.id !== message.id) {
    reader.id = message.id;
    reader.sentences = new Sentences();
  }
  return reader.sentences;
}

function ending({ status, error, text }) {
  if (status === "stopped") return "Stopped.";
  if (status === "failed") return `No answer: ${inPlainWords(error, text !== "").title}.`;
  return "The answer is complete.";
}
