/** One request opened: what became of its tokens, why, and what was chosen for it. */

import { html, useEffect, useState } from "../vendor/preact.js";
import { call } from "../shell/api.js";
import { CopyButton } from "../shell/copy_button.js";
import { Dialog } from "../shell/dialog.js";
import { count, counted, moment } from "../shell/format.js";
import { inWords } from "../shell/memory_state.js";
import { Loading, Problem } from "../shell/states.js";
import { took } from "../state/figures.js";
import { signed } from "../state/saved_card.js";
import { reasonText } from "../tree/model/picture.js";
import { nameOf, StateChip } from "./request_row.js";
import { gone } from "./row_sums.js";

const DIALECTS = {
  chat: "Chat Completions",
  messages: "Messages",
  responses: "Responses",
  context_memory: "/context_memory",
};

/**
 * @param {{id: string, known: object | null, onClose: () => void, choose: (filter: object) => void}} props
 *   `known`: its row, where the list has it
 */
export function RequestDetail({ id, known, onClose, choose }) {
  const [{ row, error }, setState] = useState({ row: null, error: null });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState({ row: null, error: null });
    call("GET", `/requests/${encodeURIComponent(id)}`, { signal })
      .then(({ json }) => setState({ row: json, error: null }))
      .catch((error) => signal.aborted || setState({ row: null, error }));
    return () => controller.abort();
  }, [id, attempt]);
  const shown = row ?? known;
  return html`<${Dialog} title=${shown ? nameOf(shown) : "Request"} class="large request-detail" onClose=${onClose}>
    ${
      error &&
      html`<${Problem} error=${error} title="The request cannot be shown" retry=${() => setAttempt(attempt + 1)} />`
    }
    ${!shown && !error && html`<${Loading} rows=${3} label="Reading the request" />`}
    ${shown && html`<${Parts} ...${{ row: shown, plan: row?.plan, choose }} />`}
  <//>`;
}

function Parts({ row, plan, choose }) {
  const words = inWords(row.state, row.reason);
  return html`<p class="row">
      <${StateChip} row=${row} />
      <span>${words?.text ?? "It ended before memory decided."}</span>
    </p>
    ${row.status >= 400 && html`<p class=${`note ${gone(row) ? "" : "problem"}`}>${failure(row)}</p>`}
    ${
      row.address &&
      html`<p class="row request-links">
        ${row.title && html`<a class="button small" href=${`/ui/tree#conversation=${row.address}`}>Its tree</a>`}
        <button type="button" class="button small" onClick=${() => choose({ conversation: row.address })}>
          Requests of this conversation
        </button>
        <a class="button small" href="/ui/memories">Memories</a>
      </p>`
    }
    <h3>Tokens</h3>
    <${Tokens} row=${row} />
    ${row.epoch && html`<h3>What was chosen</h3><${Chosen} ...${{ row, plan }} />`}
    <h3>About it</h3>
    <${Facts} row=${row} />`;
}

function failure(row) {
  const { status, error_type: type } = row;
  if (gone(row)) return "The client went before the answer was complete.";
  return `The answer was an error ${status}${type ? ` (${type.replaceAll("_", " ")})` : ""}.`;
}

/** From what was posted to what it cost, a line for each part. */
function Tokens({ row }) {
  const lines = [
    ["Posted by the client", row.posted_tokens, ""],
    ["Sent in their place", row.sent_tokens, share(row)],
    ["Read from the provider's cache", row.cached_tokens, "as the provider counts"],
    ["Written to the provider's cache", row.written_tokens, "as the provider counts"],
    ["Answered", row.output_tokens, "as the provider counts"],
  ].filter(([, number]) => number !== null);
  return html`<table class="request-parts">
    <tbody>
      ${lines.map(
        ([title, number, note]) => html`<tr key=${title}>
          <th scope="row">${title}</th>
          <td class="number">${count(number)}</td>
          <td class="soft small-text">${note}</td>
        </tr>`,
      )}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">Saved</th>
        <td class="number"><strong>${signed(row.saved_tokens)}</strong></td>
        <td class="soft small-text">${savedWhy(row)}</td>
      </tr>
    </tfoot>
  </table>`;
}

function share({ posted_tokens: posted, sent_tokens: sent }) {
  return posted ? `${Math.round((100 * sent) / posted)} % of them` : "";
}

function savedWhy(row) {
  if (!row.epoch) return "It went whole, so nothing is saved and nothing lost.";
  const price = "What it would have cost as it was posted, less what it did cost, in tokens of plain input.";
  if (row.saved_tokens >= 0) return price;
  return `${price} A fold has to be written to the cache before it pays.`;
}

/** @param {{row: object, plan: object | null | undefined}} props undefined: not read yet */
function Chosen({ row, plan }) {
  if (plan === undefined) return html`<${Loading} rows=${1} label="Reading what was chosen" />`;
  if (!plan)
    return html`<p class="soft">
      The fold that this request was sent with is kept no longer: a newer one is in its place.
    </p>`;
  const blocks = plan.recall.filter(({ message }) => message >= plan.cut);
  const passages = [...plan.rules, ...plan.excerpts];
  const recalled = blocks.reduce((sum, { excerpts }) => sum + excerpts.length, 0);
  return html`<p>
      ${`${counted(plan.nodes.length, "summary", "summaries")} and ${counted(passages.length, "passage", "passages")} stand for messages before ${plan.cut}; later ones are sent as they are.`}
      ${recalled > 0 && ` ${counted(recalled, "passage was", "passages were")} recalled for later messages.`}
    </p>
    <ul class="request-reasons">
      ${reasons(passages).map(
        ([reason, group]) => html`<li key=${reason}>
          <details>
            <summary>
              <strong class="number">${count(group.length)}</strong>
              ${` because ${reasonText(reason || null)}`}
            </summary>
            <ul class="request-places">
              ${group.map(
                ({ message, start, end, rank }) => html`<li key=${`${message} ${start}`}>
                  <a href=${`/ui/tree#conversation=${row.address}&message=${message}`}>message ${message}</a>
                  <span class="soft">${`, characters ${start}–${end}${rank ? `, rank ${rank}` : ""}`}</span>
                </li>`,
              )}
            </ul>
          </details>
        </li>`,
      )}
    </ul>`;
}

/** By why they were chosen, the most frequent first. */
function reasons(passages) {
  const groups = new Map();
  for (const one of passages) {
    const reason = one.reason ?? "";
    groups.set(reason, [...(groups.get(reason) ?? []), one]);
  }
  return [...groups].sort((one, other) => other[1].length - one[1].length);
}

function Facts({ row }) {
  const facts = [
    ["When", html`<time datetime=${row.time}>${moment(new Date(row.time))}</time>`],
    ["Client", row.client === "other" ? "another client" : row.client],
    ["API", DIALECTS[row.dialect] ?? row.dialect],
    ["Model", row.model],
    ["First token after", row.first_token_ms === null ? "" : took(row.first_token_ms)],
    ["Whole answer after", took(row.total_ms)],
    ["Memories in it", row.memories ? count(row.memories) : ""],
    ["Rounds of recall", row.recalled ? count(row.recalled) : ""],
    ["Sent again, changed", row.retries ? counted(row.retries, "time", "times") : ""],
    ["Fold", row.epoch && html`<code>${row.epoch.slice(0, 12)}</code>${row.turn ? `, its request ${row.turn}` : ""}`],
    ["Run", row.wrap_run && html`<a href=${`#wrap=${encodeURIComponent(row.wrap_run)}`}>${row.wrap_run}</a>`],
    ["Id", html`<code>${row.id}</code><${CopyButton} text=${row.id} label="Copy the id" />`],
  ].filter(([, told]) => told);
  return html`<dl class="request-facts">
    ${facts.map(([title, told]) => html`<div key=${title}><dt>${title}</dt><dd><bdi>${told}</bdi></dd></div>`)}
  </dl>`;
}
