/** "Replaces ...": a newer memory may take the place of an older one with one click. */
import { html, useLayoutEffect, useReducer } from "../../vendor/preact.js";
import { onReplacements, replacements } from "../remember.js";
import { excerpt } from "./labels.js";

/** Props as those of `MemoryCard`. Shows nothing where nothing may be replaced. */
export function Replacement({ memory, source, actions }) {
  const [, redraw] = useReducer((turn) => turn + 1, 0);
  useLayoutEffect(() => onReplacements(redraw), []);
  return replacements(source, memory).map(
    (older) => html`
      <div key=${older.id} class="note memory-replaces">
        <p>
          Replaces <q class="memory-text" dir="auto">${excerpt(older.text, 120)}</q>?
          ${older.differs.map((one) => html` <span key=${one} class="chip warning">${one}</span>`)}
        </p>
        <div class="memory-buttons">
          <button
            type="button"
            class="button small"
            onClick=${() => actions.replace(memory, older)}
          >
            Replace the older one
          </button>
          <button
            type="button"
            class="button quiet small"
            onClick=${() => actions.keepBoth(memory, older)}
          >
            Keep both
          </button>
        </div>
      </div>
    `,
  );
}
