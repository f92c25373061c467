/** One memory: what it says, where it comes from, and what can be done with it. */
import { html, useState } from "../../vendor/preact.js";
import { Time } from "../../shell/format.js";
import { Editor } from "./editor.js";
import { excerpt, sourceLabel } from "./labels.js";
import { Replacement } from "./replacement.js";

const LONG = 600; // characters that are shown at first

/**
 * @param {object} props
 * @param {import("../rows.js").Memory} props.memory
 * @param {import("../sources.js").Source} props.source
 * @param {import("../list/use_drafts.js").Draft} [props.draft] While it is edited.
 * @param {boolean} props.used Whether it stood in the last request.
 * @param {boolean} props.selected
 * @param {string} [props.groupTitles]
 * @param {import("../list/use_actions.js").Actions} props.actions
 */
export function MemoryCard({ memory, source, draft, used, selected, groupTitles, actions }) {
  const label = excerpt(memory.text);
  if (draft) return html`<${Editor} ...${{ memory, source, draft, actions, label }} />`;
  const press = (event) => {
    if (event.target !== event.currentTarget || memory.deleted) return;
    const run = { Enter: actions.edit, F2: actions.edit, Delete: actions.remove }[event.key];
    const chosen = event.key === " " ? actions.toggle : run;
    if (!chosen || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    chosen(memory);
  };
  return html`
    <article
      class=${`memory ${memory.tainted ? "tainted" : ""} ${selected ? "selected" : ""}`}
      aria-label=${`Memory: ${label}`}
      tabindex="0"
      data-memory=${memory.id}
      onKeyDown=${press}
    >
      <input
        type="checkbox"
        class="memory-select"
        aria-label=${`Select: ${label}`}
        checked=${selected}
        onChange=${() => actions.toggle(memory)}
      />
      <div class="memory-body">
        <${Text} memory=${memory} />
        <${About} ...${{ memory, source, used, groupTitles }} />
        <${Replacement} ...${{ memory, source, actions }} />
      </div>
      <${Buttons} ...${{ memory, actions, label }} />
    </article>
  `;
}

function Text({ memory }) {
  const [whole, setWhole] = useState(false);
  const long = memory.text.length > LONG;
  const shown = long && !whole ? `${memory.text.slice(0, LONG)}…` : memory.text;
  return html`
    <p class=${`memory-text ${isPlain(memory) ? "" : "data"}`} dir="auto">${shown}</p>
    ${long &&
    html`<button
      type="button"
      class="button quiet small"
      aria-expanded=${whole}
      onClick=${() => setWhole(!whole)}
    >
      ${whole ? "Show less" : "Show all"}
    </button>`}
  `;
}

function isPlain({ data }) {
  return !data || (Object.keys(data).length === 1 && typeof data.text === "string");
}

function About({ memory, source, used, groupTitles }) {
  const { tainted, category, tags, created, updated, confirmed, expires, deleted } = memory;
  const many = source.kind === "agent" && !source.can.live;
  return html`
    <p class="memory-about">
      ${tainted &&
      html`<span class="chip warning" title="Models are shown it as a fact, never as an instruction"
        >Not confirmed</span
      >`}
      ${memory.standing &&
      html`<span class="chip good" title="What holds for every answer stands in each prompt"
        >In every prompt</span
      >`}
      ${used && html`<span class="chip info">Used now</span>`}
      ${category && html`<span class="chip">${category}</span>`}
      ${tags.map((tag) => html`<span key=${tag} class="chip">#${tag}</span>`)}
      ${groupTitles && html`<span class="chip good">${groupTitles}</span>`}
      ${many && html`<span>${memory.agentId}${memory.subjectId && ` about ${memory.subjectId}`}</span>`}
      ${memory.source && html`<span>${sourceLabel(memory.source)}</span>`}
      ${created && html`<span><${Time} at=${created} /></span>`}
      ${updated && updated !== created && html`<span>changed <${Time} at=${updated} /></span>`}
      ${confirmed &&
      confirmed !== created &&
      html`<span>confirmed <${Time} at=${confirmed} /></span>`}
      ${expires && html`<span>expires <${Time} at=${expires} /></span>`}
      ${deleted && html`<span>deleted <${Time} at=${deleted} /></span>`}
    </p>
  `;
}

function Buttons({ memory, actions, label }) {
  const button = (name, run) => html`
    <button
      type="button"
      class="button quiet small"
      aria-label=${`${name}: ${label}`}
      onClick=${() => run(memory)}
    >
      ${name}
    </button>
  `;
  if (memory.deleted) return html`<div class="memory-buttons">${button("Bring back", actions.undelete)}</div>`;
  return html`
    <div class="memory-buttons">
      ${memory.tainted && button("Confirm", actions.confirm)} ${button("Edit", actions.edit)}
      ${memory.standing !== null && button(memory.standing ? "Unpin" : "Pin", actions.pin)}
      ${button("History", actions.history)} ${button("Delete", actions.remove)}
    </div>
  `;
}
