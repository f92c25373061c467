/** Verbatim text: an excerpt with its place and reason, a candidate, a message with what is quoted of it. */

import { html, useState } from "../vendor/preact.js";
import { tokens } from "../shell/format.js";
import { ScrollBox } from "../shell/scroll_box.js";
import { spanIn, speaker, strings, unitsOf } from "./model/history.js";
import { reasonText } from "./model/picture.js";

const LAST_RANK = 255; // the server keeps no greater one
const SHORT = 1200; // characters that are shown at once

/**
 * @param {{excerpt: object, history: import("./model/history.js").History | null,
 *   pins: ReturnType<typeof import("./model/pins.js").usePins>}} props
 */
export function ExcerptCard({ excerpt, history, pins }) {
  const { message, rank, reason, also } = excerpt;
  const ranked = rank ? `rank ${rank < LAST_RANK ? rank : `${rank} or behind`}` : "not ranked";
  const same = also?.length ? ` · the same text: ${also.slice(0, 20).join(", ")}` : "";
  return html`<section
    class="card tree-card"
    data-message=${message}
    data-start=${excerpt.start}
    data-end=${excerpt.end}
    data-part=${excerpt.part}
  >
    <p class="tree-card-head">
      <strong>${named(history, message)}</strong>
      <span class="soft"
        >${place(excerpt)}${excerpt.tokens ? ` · ${tokens(excerpt.tokens)}` : ""}</span
      >
    </p>
    ${history && html`<${Verbatim} text=${history.quote(excerpt)} label=${named(history, message)} />`}
    <p class="tree-why small-text soft">
      ${`Shown because ${reasonText(reason)} · ${ranked}${same}`}
    </p>
    ${pins && excerpt.sha256 && html`<${PinButton} excerpt=${excerpt} pins=${pins} />`}
  </section>`;
}

function PinButton({ excerpt, pins }) {
  const pinned = pins.has(excerpt);
  return html`<button
    type="button"
    class="button small"
    aria-pressed=${String(pinned)}
    title="What is pinned stays in the memory message, whatever is asked"
    onClick=${() => pins.toggle(excerpt)}
  >
    ${pinned ? "Pinned" : "Pin"}
  </button>`;
}

/** @param {{candidate: object, history: import("./model/history.js").History | null}} props */
export function CandidateCard({ candidate, history }) {
  const text = history ? history.quote(candidate) : "";
  return html`<section
    class="card tree-card below"
    data-message=${candidate.message}
    data-start=${candidate.start}
    data-end=${candidate.end}
    data-part=${candidate.part}
  >
    <p class="tree-card-head">
      <strong>${named(history, candidate.message)}</strong>
      <span class="soft">${text ? `${place(candidate)} · ` : ""}${tokens(candidate.tokens)}</span>
    </p>
    ${text && html`<${Verbatim} text=${text} label=${named(history, candidate.message)} />`}
  </section>`;
}

function named(history, message) {
  const posted = history?.messages[message];
  return posted ? `Message ${message}, ${speaker(posted)}` : `Message ${message}`;
}

function place({ part, start, end }) {
  if (start === undefined) return "";
  const where = part && part !== "content" ? ` of ${part}` : "";
  return `characters ${start}–${end}${where}`;
}

/** Letter for letter; long ones are cut until somebody asks for all. */
function Verbatim({ text, label }) {
  const [whole, setWhole] = useState(false);
  const cut = text.length > SHORT && !whole;
  return html`<${ScrollBox} as="pre" class="tree-verbatim" dir="auto" label=${label}>${cut ? head(text) : text}<//>
    ${cut && html`<button type="button" class="button small" onClick=${() => setWhole(true)}>Show all of it</button>`}`;
}

/** The beginning, not cut inside of a character. */
function head(text) {
  const end = /[\ud800-\udbff]/.test(text[SHORT - 1]) ? SHORT - 1 : SHORT;
  return text.slice(0, end);
}

/** A posted message; what is quoted of it is marked. */
export function MessageCard({ number, message, excerpts }) {
  if (!message) return null;
  const found = strings(message);
  return html`<section class="tree-message">
    <p class="tree-card-head"><strong>${number}</strong> <span>${speaker(message)}</span></p>
    ${found.length === 0 && html`<p class="soft small-text">No text.</p>`}
    ${found.map(
      (string) =>
        html`${string.call && html`<p class="soft small-text">calls <bdi>${string.call}</bdi></p>`}
          <${Marked}
            text=${string.text}
            label=${`Message ${number}`}
            spans=${excerpts
              .filter((each) => each.message === number)
              .map((each) => spanIn(string, message, each))
              .filter(Boolean)}
          />`,
    )}
  </section>`;
}

function Marked({ text, label, spans }) {
  const [whole, setWhole] = useState(false);
  const shown = whole || text.length <= SHORT ? text : head(text);
  const pieces = [];
  let at = 0;
  for (const { start, end } of [...spans].sort((one, other) => one.start - other.start)) {
    const from = unitsOf(shown, start);
    const to = unitsOf(shown, end);
    if (from < at || to <= from) continue;
    pieces.push(shown.slice(at, from), html`<mark>${shown.slice(from, to)}</mark>`);
    at = to;
  }
  return html`<${ScrollBox} as="pre" class="tree-verbatim" dir="auto" label=${label}>${pieces}${shown.slice(at)}<//>
    ${
      shown.length < text.length &&
      html`<button type="button" class="button small" onClick=${() => setWhole(true)}>
        Show all of it
      </button>`
    }`;
}
