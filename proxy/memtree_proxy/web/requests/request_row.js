/** One request as a row of the list. */

import { html } from "../vendor/preact.js";
import { clock, count, moment, tokens } from "../shell/format.js";
import { inWords } from "../shell/memory_state.js";
import { took } from "../state/figures.js";
import { gone } from "./row_sums.js";

const CHIPS = { good: "good", warning: "warning", problem: "problem", plain: "" };

/** @param {{row: object, dated: boolean, onOpen: () => void}} props `dated`: of another day than those around it */
export function RequestRow({ row, dated, onOpen }) {
  const at = new Date(row.time);
  return html`<button type="button" class="request-row" data-request=${row.id} onClick=${onOpen}>
    <time class="number request-time" datetime=${row.time}>${dated ? moment(at) : clock(at, true)}</time>
    <${StateChip} row=${row} />
    <span class="request-what">
      <span class="request-title"><bdi>${nameOf(row)}</bdi></span>
      <span class="soft small-text"><bdi>${[row.client === "other" ? "another client" : row.client, row.model].filter(Boolean).join(" · ")}</bdi></span>
    </span>
    <span class="number request-tokens">${sizes(row)}</span>
    <${Saved} saved=${row.saved_tokens} />
    <span class="number soft request-took">${took(row.total_ms)}</span>
  </button>`;
}

/** @returns {string} the title of the conversation, or what there is in its place */
export function nameOf(row) {
  if (row.title) return row.title;
  return row.address ? "Untitled conversation" : "Not read by memory";
}

/** What memory made of it; where it failed, that. */
export function StateChip({ row }) {
  if (gone(row)) return html`<span class="chip">cancelled</span>`;
  if (row.status >= 400) return html`<span class="chip problem">error ${row.status}</span>`;
  const words = inWords(row.state, row.reason);
  return html`<span class=${`chip ${CHIPS[words?.kind] ?? ""}`}>${words?.label ?? "undecided"}</span>`;
}

function sizes({ posted_tokens: posted, sent_tokens: sent }) {
  if (posted === null) return "";
  return sent === null || sent === posted ? count(posted) : `${count(posted)} → ${count(sent)}`;
}

function Saved({ saved }) {
  if (!saved) return html`<span class="request-saved"></span>`;
  const kind = saved > 0 ? "good" : "warning";
  return html`<span class="request-saved"><span class=${`chip ${kind}`}>${savedOf({ saved_tokens: saved })}</span></span>`;
}

/** @returns {string} as in "saved 1,234 tokens" */
export function savedOf({ saved_tokens: saved }) {
  return saved < 0 ? `cost ${tokens(-saved)} more` : `saved ${tokens(saved)}`;
}
