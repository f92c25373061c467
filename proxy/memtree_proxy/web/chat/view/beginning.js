/** What an empty chat says. */
import { count } from "../../shell/format.js";
import { ScrollBox } from "../../shell/scroll_box.js";
import { html } from "../../vendor/preact.js";

const EXAMPLES = [
  "Remember that our API listens on port 8090.",
  "Explain in five sentences what a vector embedding is.",
  "Plan a weekend hike for four people, with a packing list.",
];

/**
 * @param {{offline: boolean, foldsAt: number | null, onPick: (text: string) => void}} props
 *   `offline`: nobody answers
 */
export function Beginning({ offline, foldsAt, onPick }) {
  return html`<${ScrollBox} class="thread-scroll" label="How to begin">
    <div class="beginning">
      <p class="beginning-title">A chat that does not forget</p>
      <p class="soft">
        Once a chat ${foldsAt ? `with this model is longer than about ${count(foldsAt)} tokens` : "has grown long"}, MemTree sends the model a summary of it and the
        exact passages that your message is about, and anything you save with “Remember this” stays
        available.
      </p>
      ${!offline &&
      html`<ul class="examples" aria-label="Examples to begin with">
        ${EXAMPLES.map(
          (text) => html`<li key=${text}>
            <button type="button" class="example" onClick=${() => onPick(text)}>${text}</button>
          </li>`,
        )}
      </ul>`}
    </div>
  <//>`;
}
