/** Four numbers beside the savings: what was sent, how quick memory was, and what waits. */

import { html } from "../vendor/preact.js";
import { count } from "../shell/format.js";

const ENOUGH = 20; // requests, before anything is said of 19 of 20

/** @param {{usage: object | null}} props */
export function Figures({ usage }) {
  return html`
    <${Figure} title="Sent to the model" value=${usage && count(usage.sent_tokens)} unit="tokens">
      ${usage && share(usage)}
    <//>
    <${Figure} title="Added by memory" value=${usage && added(usage)}>
      for half of the requests${usage && several(usage) && ", and for 19 of 20"}
    <//>
    <${Figure} title="Waits to be indexed" value=${usage && count(usage.pending.tokens)} unit="tokens">
      ${usage && waits(usage.pending)}
    <//>
  `;
}

function Figure({ title, value, unit, children }) {
  return html`
    <section class="card state-figure">
      <h2>${title}</h2>
      <p class="state-value number">
        <span>${value ?? "\u2013"}</span> ${unit && html`<span class="state-unit">${unit}</span>`}
      </p>
      <p class="hint">${children}</p>
    </section>
  `;
}

/** Whether there are enough requests to say something of 19 of 20. */
function several({ latency_ms: latency, requests }) {
  return latency.p95 !== null && requests.total >= ENOUGH;
}

function added(usage) {
  const { p50, p95 } = usage.latency_ms;
  return several(usage) ? `${took(p50)} / ${took(p95)}` : took(p50);
}

function share({ raw_tokens: raw, sent_tokens: sent }) {
  if (raw === 0) return "Nothing was counted yet.";
  return `${Math.round((100 * sent) / raw)} % of the ${count(raw)} that were posted`;
}

function waits({ tokens, jobs }) {
  if (tokens === 0 && jobs === 0) return "Everything that was posted is indexed.";
  const many = jobs === 1 ? "1 conversation" : `${count(jobs)} conversations`;
  return `now, of ${many}; answers do not wait for it`;
}

/** @param {number | null} ms @returns {string} as in "12 ms" or "1.5 s" */
export function took(ms) {
  if (ms === null) return "\u2013";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
