/** The top of the page: what is asked, how many tokens there are for the answer, and what came of it. */

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { count, counted, Time, tokens } from "../shell/format.js";
import { range } from "./tree_list.js";

/** The stops of the slider. */
export const TARGETS = [
  1000, 1500, 2000, 3000, 4000, 6000, 8000, 10_000, 12_000, 16_000, 20_000, 24_000, 32_000, 40_000,
  48_000, 64_000,
];
export const DEFAULT_TARGET = 20_000;
export const DEMO_TARGET = 8000;

/**
 * @param {{history: import("./model/history.js").History, question: {query: string, target: number},
 *   onChange: (question: object) => void}} props
 */
export function QuestionBar({ history, question, onChange }) {
  const [text, setText] = useState(question.query);
  const field = useRef(null);
  useLayoutEffect(() => setText(question.query), [question.query, history]);
  const submit = (event) => {
    event.preventDefault();
    onChange({ ...question, query: text.trim() });
  };
  const stop = Math.max(0, TARGETS.indexOf(question.target));
  return html`<form class="tree-question" onSubmit=${submit}>
    <label class="tree-ask"
      ><span class="label">What would the model see for this question?</span>
      <span class="tree-ask-row"
        ><input
          ref=${field}
          class="input"
          type="text"
          value=${text}
          maxlength="4000"
          autocomplete="off"
          placeholder="Leave it empty for the newest user message"
          onInput=${(event) => setText(event.target.value)}
        />
        <button type="submit" class="button primary">Ask</button></span
      ></label
    >
    <label class="tree-target"
      ><span class="label">Target: <output>${count(question.target)} tokens</output></span>
      <input
        type="range"
        min="0"
        max=${TARGETS.length - 1}
        step="1"
        value=${stop}
        aria-valuetext=${`${count(question.target)} tokens`}
        onInput=${(event) => onChange({ ...question, target: TARGETS[Number(event.target.value)] })}
      />
      <span class="tree-ends soft small-text" aria-hidden="true"
        ><span>1k</span><span>64k</span></span
      ></label
    >
    ${
      history.questions.length > 0 &&
      html`<div class="tree-suggestions" role="group" aria-label="Questions to try">
        ${history.questions
          .slice(0, 4)
          .map(
            (each) =>
              html`<button
                type="button"
                class="chip"
                title=${each}
                aria-pressed=${String(each === question.query)}
                onClick=${() => onChange({ ...question, query: each })}
              >
                ${each}
              </button>`,
          )}
      </div>`
    }
  </form>`;
}

/** @param {{asked: import("./asking.js").Asked, picture: import("./model/picture.js").Picture | null, history: object}} props */
export function AnswerLine({ asked, picture, history }) {
  const { answer, about, busy, waiting } = asked;
  if (!answer)
    return html`<p class="tree-status" role="status">
      ${busy ? "Asking what the model would see ..." : ""}
    </p>`;
  const { usage, memory } = answer;
  const raw = usage.raw_prompt_tokens;
  const sent = usage.completion_tokens;
  const share = raw ? Math.max(1, Math.round((sent / raw) * 100)) : 100;
  return html`<div class="tree-answer">
    <p class="tree-status" role="status" aria-busy=${String(busy)}>
      <strong class="tree-numbers-big"
        >${sent === raw ? tokens(raw) : `${count(raw)} → ${count(sent)} tokens`}</strong
      >
      <span class="soft">${sent === raw ? ". " : ` (${share} %) `}</span>
      <span class="tree-sentence">${sentence(answer, about, picture, history)}</span>
      ${busy && html` <span class="chip info">asking again</span>`}
    </p>
    <${StateNote} memory=${memory} waiting=${waiting} />
  </div>`;
}

function sentence({ explain, memory }, { target }, picture, history) {
  if (memory.state === "below-threshold") {
    return "Nothing is folded yet: under 10,000 tokens a conversation goes to the model as it is.";
  }
  if (memory.state === "passed")
    return `All of it fits into ${count(target)} tokens: nothing is folded.`;
  const last = history.messages.length - 1;
  const recent =
    picture && picture.cut <= last ? ` and messages ${range([picture.cut, last])} as they are` : "";
  return `With ${count(target)} tokens it would have seen ${counted(explain.nodes.length, "summary", "summaries")}, ${counted(explain.excerpts.length, "verbatim excerpt", "verbatim excerpts")}${recent}.`;
}

/** Why an answer is not as good as it will be, or as it could be. */
function StateNote({ memory, waiting }) {
  if (memory.state === "provisional") {
    return html`<p class="note">
      <strong>Not final yet.</strong>
      ${` ${provisional(memory.reason)}${waiting > 0 ? ` ${tokens(waiting)} to go.` : ""}`}
      ${" This page asks again when embeddings are there."}
    </p>`;
  }
  if (memory.state.startsWith("degraded")) {
    const cause = memory.state.split(":")[1] || memory.reason || "";
    return html`<p class="note warning">
      <strong>Degraded${cause ? ` (${cause})` : ""}.</strong>
      ${` ${DEGRADED[cause] ?? "A part of the server does not work; the answer is made without it."}`}
    </p>`;
  }
  return null;
}

function provisional(reason) {
  return reason && !reason.startsWith("embeddings")
    ? "The index of this conversation is not complete yet."
    : "Passages are ranked by their words so far; embeddings are being made.";
}

const DEGRADED = {
  embedder: "The embedder does not answer, so passages are ranked by their words alone.",
  store: "The store does not answer, so the tree was built for this view alone.",
  indexing: "The tree was not ready in time, so older rounds are shortened instead of folded.",
};

const EPOCHS = {
  first: "this was the first time that the conversation had to be folded",
  full: "what was sent had grown to its limit",
  idle: "what was sent before was in no cache any more, so a fresh cut cost nothing",
  question: "the newest question had too little room",
  lost: "something that was shown before is not stored any more",
  "memory-deleted": "a memory that was shown before was deleted",
};

/** When a known conversation was folded, and why. @param {{plan: object | null}} props */
export function EpochLine({ plan }) {
  const epoch = plan?.epoch;
  if (!epoch)
    return html`<p class="tree-epoch soft">
      Nothing of it is folded yet: so far it went to the model as it is.
    </p>`;
  const why = epoch.reason ? `, because ${EPOCHS[epoch.reason] ?? epoch.reason}` : "";
  const blocks = plan.recall?.filter((block) => block.excerpts.length).length ?? 0;
  const text = [
    ` with ${count(epoch.messages)} messages${why}.`,
    `Messages from ${plan.cut} on are sent as they are.`,
    ...(blocks
      ? [`Since then ${counted(blocks, "message", "messages")} brought further excerpts.`]
      : []),
  ];
  return html`<p class="tree-epoch">
    <span class="chip info">folded</span>${" Older messages became summaries and excerpts "}<${Time}
      at=${epoch.created}
    />${text.join(" ")}
  </p>`;
}
