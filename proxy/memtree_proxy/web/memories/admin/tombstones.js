/** What was forgotten, and what newer memories took the place of. */
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Time } from "../../shell/format.js";
import { Empty, Loading, Problem } from "../../shell/states.js";
import { toast } from "../../shell/toasts.js";
import { VirtualList } from "../../shell/virtual_list.js";
import { problem } from "../list/use_actions.js";

/** @param {{source: import("../sources.js").Source, onBack: () => void}} props */
export function Tombstones({ source, onBack }) {
  const [stones, setStones] = useState(null);
  const [error, setError] = useState(null);
  const turn = useRef(0);
  const read = () => {
    const mine = ++turn.current;
    const told = (set) => (value) => mine === turn.current && set(value);
    setError(null);
    source.tombstones().then(told(setStones), told(setError));
  };
  useEffect(() => {
    setStones(null); // those of another source
    read();
  }, [source.key]);
  const bringBack = async (stone) => {
    try {
      const back = await source.undelete([stone]);
      if (!back.length) return toast("It is erased and cannot be brought back.", { kind: "problem" });
      toast("It is back.", { kind: "success" });
      onBack();
      return read();
    } catch (failed) {
      return problem("It was not brought back", failed);
    }
  };
  return html`
    <h2>Forgotten and replaced</h2>
    <p class="hint">
      Of what was forgotten no text is left here. What was replaced stays, so that a correction can be
      told from a mistake.
    </p>
    ${error && html`<${Problem} error=${error} title="They cannot be read" retry=${read} />`}
    ${!stones && !error && html`<${Loading} rows=${3} />`}
    ${stones?.length === 0 &&
    html`<${Empty} title="Nothing was forgotten or replaced"><//>`}
    ${stones?.length > 0 &&
    html`<${VirtualList}
      class="memories-stones"
      count=${stones.length}
      rowHeight=${78}
      label="Forgotten and replaced memories"
      stop=${true}
      itemKey=${(index) => `${stones[index].id} ${index}`}
      render=${(index) => html`<${Stone} stone=${stones[index]} bringBack=${bringBack} />`}
    />`}
  `;
}

function Stone({ stone, bringBack }) {
  const text = stone.text ?? stone.content;
  return html`
    <div class="memory">
      <div class="memory-body">
        <p class=${`memory-text ${text ? "" : "soft"}`} dir="auto">${text || "Forgotten: no text is kept"}</p>
        <p class="memory-about">
          <span class="chip">${stone.replaced_by ? "replaced" : "forgotten"}</span>
          <span><${Time} at=${stone.at} /></span>
          ${stone.reason && html`<span>${stone.reason}</span>`}
        </p>
        ${!stone.replaced_by &&
        html`<div class="memory-buttons">
          <button
            type="button"
            class="button quiet small"
            aria-label=${`Bring back memory ${stone.number}`}
            onClick=${() => bringBack(stone)}
          >
            Bring back
          </button>
        </div>`}
      </div>
    </div>
  `;
}
