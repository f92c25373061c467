/** One node: its summary, what of it the model sees and why, what was just below the cut, and its messages. */

import { html, useLayoutEffect, useState } from "../vendor/preact.js";
import { count, tokens } from "../shell/format.js";
import { CandidateCard, ExcerptCard, MessageCard } from "./passages.js";
import { Swatch } from "./drawing/patterns.js";
import { STATES } from "./model/picture.js";
import { range } from "./tree_list.js";

const PAGE = 12;

/**
 * @param {{model: import("./model/tree_model.js").TreeModel, picture: import("./model/picture.js").Picture | null,
 *   history: import("./model/history.js").History | null, selected: number, message: number | null,
 *   pins: ReturnType<typeof import("./model/pins.js").usePins>}} props
 *   `history`: null where no text is at hand; `message`: one of the node that is shown first
 */
export function NodeDetail({ model, picture, history, selected, message, pins }) {
  if (selected < 0) return html`<p class="soft">Select a node in the drawing or in the list.</p>`;
  const node = model.nodes[selected];
  const excerpts = picture ? picture.within(picture.excerpts, selected) : [];
  const candidates = picture ? picture.within(picture.candidates, selected) : [];
  return html`<article aria-labelledby="tree-node-title" key=${selected}>
    <h2 id="tree-node-title" class="tree-node-title">
      <bdi>${node.headline || "No headline"}</bdi>
    </h2>
    <p class="tree-facts soft">${facts(model, selected)}</p>
    ${
      history &&
      message !== null &&
      html`<${MessageCard} number=${message} message=${history.messages[message]} excerpts=${excerpts} />`
    }
    ${picture && html`<${StateLine} ...${{ picture, selected, node, excerpts }} />`}
    ${node.body && html`<p class="tree-body"><bdi>${node.body}</bdi></p>`}
    ${
      excerpts.length > 0 &&
      html`<h3>Quoted for the model <span class="soft">${count(excerpts.length)}</span></h3>
        <${Pages}
          items=${excerpts}
          what="excerpts"
          card=${(excerpt) => html`<${ExcerptCard} ...${{ excerpt, history, pins }} />`}
        />`
    }
    ${
      candidates.length > 0 &&
      html`<h3>Just below the cut <span class="soft">${count(candidates.length)}</span></h3>
        <p class="soft small-text">The next best passages. They found no room at this target.</p>
        <${Pages}
          items=${candidates}
          what="candidates"
          card=${(candidate) =>
            html`<${CandidateCard} candidate=${candidate} history=${history} />`}
        />`
    }
    ${
      node.anchors?.length > 0 &&
      html`<h3>Anchors</h3>
        <ul class="tree-anchors" aria-label="Anchors">
          ${node.anchors.slice(0, 60).map((anchor) => html`<li class="chip"><bdi>${anchor}</bdi></li>`)}
        </ul>`
    }
    <${Messages} ...${{ node, history, excerpts }} />
  </article>`;
}

function facts(model, index) {
  const { messages, tokens: size, summary, sealed } = model.nodes[index];
  return [
    kindOf(model, index),
    `messages ${range(messages)}`,
    tokens(size),
    `summary ${summary === "model" ? "by a model" : "by rules"}`,
    ...(model.isLeaf(index) && !sealed ? ["still growing"] : []),
  ].join(" · ");
}

function kindOf(model, index) {
  if (model.isLeaf(index)) return "Leaf";
  return model.parent[index] < 0
    ? "The whole conversation"
    : `Summary of ${model.nodes[index].children.length} parts`;
}

/** What the model sees of it, in one sentence. */
function StateLine({ picture, selected, node, excerpts }) {
  const state = picture.states[selected];
  const { name, means } = STATES[state];
  const seen = picture.opened.get(selected);
  const also = [];
  if (seen && state !== 1) also.push("its summary stands in the memory message");
  if (excerpts.length && state !== 2 && state !== 3) also.push("passages below it are quoted");
  if (state !== 4 && node.messages[1] >= picture.cut)
    also.push(`messages from ${picture.cut} on are sent as they are`);
  return html`<p class="tree-state">
    <${Swatch} state=${state} />
    <span
      ><strong>${name[0].toUpperCase() + name.slice(1)}</strong
      >${`: ${[means, ...also].join("; ")}.`}</span
    >
  </p>`;
}

/** A dozen at a time: there may be hundreds. */
function Pages({ items, what, card }) {
  const [shown, setShown] = useState(PAGE);
  useLayoutEffect(() => setShown(PAGE), [items.length]);
  return html`<div class="tree-cards">${items.slice(0, shown).map(card)}</div>
    ${
      items.length > shown &&
      html`<button type="button" class="button small" onClick=${() => setShown(shown + PAGE)}>
        Show ${Math.min(PAGE, items.length - shown)} more of ${count(items.length)} ${what}
      </button>`
    }`;
}

function Messages({ node, history, excerpts }) {
  const [first, last] = node.messages;
  const numbers = Array.from(
    { length: Math.max(0, Math.min(last - first + 1, 2000)) },
    (_, at) => first + at,
  );
  if (!history) {
    return html`<h3>Messages ${range(node.messages)}</h3>
      <p class="soft small-text">
        The server keeps no text of messages. Open the file of this conversation to read them here.
      </p>`;
  }
  return html`<details class="tree-messages">
    <summary><h3>Messages ${range(node.messages)}</h3></summary>
    <${Pages}
      items=${numbers}
      what="messages"
      card=${(number) =>
        html`<${MessageCard}
          key=${number}
          number=${number}
          message=${history.messages[number]}
          excerpts=${excerpts}
        />`}
    />
  </details>`;
}
