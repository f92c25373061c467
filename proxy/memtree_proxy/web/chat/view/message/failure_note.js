/** Why an answer did not come, and what to do. */
import { html } from "../../../vendor/preact.js";
import { askForKey } from "../../../shell/key_dialog.js";
import { inPlainWords } from "../../conversation/failures.js";

const BRIEF = 200; // characters of what the server said that are shown at once

/** @param {{message: object, busy: boolean, onRetry: () => void}} props */
export function FailureNote({ message, busy, onRetry }) {
  const failure = inPlainWords(message.error ?? {}, message.text !== "");
  const brief = failure.detail !== "" && failure.detail.length <= BRIEF;
  const changeKey = async () => {
    if (await askForKey(null)) onRetry();
  };
  return html`<div class="note problem failure">
    <p><strong>${failure.title}.</strong> ${failure.text}</p>
    ${brief && html`<p class="message-text small-text">“${failure.detail}”</p>`}
    ${failure.detail &&
    !brief &&
    html`<details>
      <summary>What the server said</summary>
      <p class="message-text small-text">${failure.detail}</p>
    </details>`}
    <div class="row">
      <button type="button" class="button small" disabled=${busy} onClick=${onRetry}>Retry</button>
      ${failure.key &&
      html`<button type="button" class="button small" disabled=${busy} onClick=${changeKey}>Enter another key</button>`}
      ${failure.tree && html`<a class="button small" href="/ui/tree">Open the tree page</a>`}
    </div>
  </div>`;
}
