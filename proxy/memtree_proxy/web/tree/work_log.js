/** The log of what was done: files, commands and how they ended, each with its message. */

import { html } from "../vendor/preact.js";
import { count } from "../shell/format.js";

const KINDS = {
  created: "created",
  edited: "edited",
  deleted: "deleted",
  changed: "changed",
  run: "run",
};
const OUTCOMES = {
  passed: { title: "passed", chip: "good" },
  failed: { title: "failed", chip: "problem" },
};

/**
 * @param {{work: object[], model: import("./model/tree_model.js").TreeModel,
 *   history: import("./model/history.js").History | null, onShow: (work: object) => void}} props
 *   `work`: rows of the log, each with the `leaf` in which its message is
 */
export function WorkLog({ work, model, history, onShow }) {
  const commands = work.filter(({ kind }) => kind === "run");
  const files = work.filter(({ kind }) => kind !== "run");
  const row = (one) => html`<${Work} key=${`${one.message} ${one.start}`} ...${{ one, model, history, onShow }} />`;
  return html`<div class="tree-work">
    <p class="soft small-text">
      What tools were called for, as the memory message tells it: the newest of each file and command.
      ${!history && " The server keeps no text, so parts of the tree stand in the place of names."}
    </p>
    ${
      files.length > 0 &&
      html`<h3 id="tree-files">Files <span class="soft">${count(files.length)}</span></h3>
        <ul class="tree-work-list" aria-labelledby="tree-files">${files.map(row)}</ul>`
    }
    ${
      commands.length > 0 &&
      html`<h3 id="tree-commands">Commands <span class="soft">${count(commands.length)}</span></h3>
        <ul class="tree-work-list" aria-labelledby="tree-commands">${commands.map(row)}</ul>`
    }
  </div>`;
}

function Work({ one, model, history, onShow }) {
  const outcome = OUTCOMES[one.outcome];
  const name = history ? unescaped(one, history.quote(one)) : "";
  return html`<li>
    <span class=${`chip ${outcome?.chip ?? ""}`}>${outcome?.title ?? KINDS[one.kind] ?? one.kind}</span>
    ${
      name
        ? html`<code class="grow"><bdi>${name}</bdi></code>`
        : html`<span class="grow"><bdi>${model.nodes[one.leaf]?.headline ?? ""}</bdi></span>`
    }
    <button type="button" class="button quiet small" onClick=${() => onShow(one)}>
      message ${one.message}${name && html`<span class="visually-hidden">${` about ${name}`}</span>`}
    </button>
  </li>`;
}

/** A name out of the JSON of arguments, as a person reads it. */
function unescaped({ part }, text) {
  if (!text.includes("\\") || !/arguments$/.test(part ?? "")) return text;
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return text; // cut within an escape
  }
}
