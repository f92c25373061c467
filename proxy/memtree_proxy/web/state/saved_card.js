/** What folding saved over the period, and what it cost where it has not paid yet. */

import { html } from "../vendor/preact.js";
import { count } from "../shell/format.js";
import { over } from "./period.js";

const amount = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });

/** @param {{usage: object | null}} props */
export function SavedCard({ usage }) {
  const saved = usage?.saved_tokens ?? 0;
  const lost = saved < 0;
  return html`
    <section class=${`card state-saved${lost ? " lost" : ""}`} aria-labelledby="state-saved">
      <h2 id="state-saved">
        ${lost ? "Spent more than saved" : "Saved"}${usage ? ` ${over(usage.period.days)}` : ""}
      </h2>
      <p class="state-hero number">
        <span>${usage ? signed(saved) : "\u2013"}</span> <span class="state-unit">tokens</span>
      </p>
      ${usage && html`<${Money} money=${usage.saved_money} total=${usage.requests.total} />`}
      <p class="hint">${usage && why(usage)}</p>
    </section>
  `;
}

function Money({ money, total }) {
  if (money === null) return null;
  const value = Math.abs(money.amount);
  const shown = value !== 0 && value < 0.01 ? small.format(value) : amount.format(value);
  return html`
    <p class="state-money number">
      <strong>${minus(money.amount)}${shown}</strong>${" "}at the prices that are set
      ${money.requests < total && html`${" "}(for ${count(money.requests)} of the requests)`}
    </p>
  `;
}

/** What the number means, in a sentence. */
function why({ saved_tokens: saved, requests }) {
  const unit = "Counted in tokens of plain input, with your provider's discount for cached input.";
  if (saved < 0) {
    return `A fold has to be written to the provider's cache before it pays, and these conversations
      did not go on for long enough yet. ${unit}`;
  }
  if (saved === 0 && !requests.by_state.packed && !requests.by_state.provisional) {
    return `Nothing was folded: these conversations were short enough to go whole. ${unit}`;
  }
  return `Against sending everything. ${unit}`;
}

/** @param {number} value @returns {string} with a real minus sign */
export function signed(value) {
  return `${minus(value)}${count(Math.abs(value))}`;
}

function minus(value) {
  return value < 0 ? "\u2212" : "";
}
