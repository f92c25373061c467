/** The memories of one chat beside it; whoever shows it names the region. */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { count } from "../shell/format.js";
import { Empty } from "../shell/states.js";
import { AddMemory } from "./add.js";
import { Filters } from "./list/filters.js";
import { MemoryList } from "./list/memory_list.js";
import { chatSource } from "./sources.js";

/**
 * @param {object} props
 * @param {string} props.chatId
 * @param {string[]|null} [props.used] Ids of memories that stood in a request; null: none named.
 * @param {() => void} [props.onUsedClear] Called when those alone are shown no longer.
 * @param {(count: number) => void} [props.onCount]
 * @param {() => void} [props.onClose]
 */
export function MemoriesPanel({ chatId, used = null, onUsedClear, onCount, onClose }) {
  const source = useMemo(() => chatSource(chatId), [chatId]);
  const [filter, setFilter] = useState({});
  const [query, setQuery] = useState("");
  const [usedOnly, setUsedOnly] = useState(false);
  const [adding, setAdding] = useState(false);
  const [known, setKnown] = useState({ rows: [], total: null });
  const list = useRef(null);
  useLayoutEffect(() => {
    setFilter({});
    setQuery("");
    setAdding(false);
  }, [chatId]);
  useLayoutEffect(() => setUsedOnly(Boolean(used?.length)), [used]);
  useEffect(() => {
    if (known.total !== null) onCount?.(known.total);
  }, [known.total]);
  const leaveUsed = () => {
    setUsedOnly(false);
    onUsedClear?.();
  };
  const clear = () => {
    setFilter({});
    setQuery("");
    if (usedOnly) leaveUsed();
  };
  const usedNow = used?.length
    ? { count: used.length, only: usedOnly, toggle: () => (usedOnly ? leaveUsed() : setUsedOnly(true)) }
    : null;
  return html`
    <div class="memories-panel">
      <header class="memories-head">
        <h2>Memories ${known.total !== null && html`<span class="badge">${count(known.total)}</span>`}</h2>
        <button
          type="button"
          class="button small"
          aria-expanded=${adding}
          onClick=${() => setAdding(!adding)}
        >
          Add
        </button>
        ${onClose &&
        html`<button type="button" class="icon-button" aria-label="Close memories" onClick=${onClose}>
          ✕
        </button>`}
      </header>
      ${adding &&
      html`<${AddMemory}
        source=${source}
        onAdded=${(memory) => list.current.put(memory)}
        onClose=${() => setAdding(false)}
      />`}
      ${(known.total !== 0 || filter.deleted) &&
      html`<${Filters}
        ...${{ source, filter, setFilter, query, setQuery, usedNow }}
        rows=${known.rows}
      />`}
      <${MemoryList}
        ...${{ source, filter, query, used, usedOnly, clear }}
        handle=${list}
        onState=${setKnown}
        empty=${html`<${Nothing} showDeleted=${() => setFilter({ deleted: true })} />`}
      />
    </div>
  `;
}

function Nothing({ showDeleted }) {
  return html`
    <${Empty} title="Nothing remembered in this chat">
      <p>
        Press <em>Remember this</em> under a message, add one by hand, or tell the model to remember
        something.
      </p>
      <button type="button" class="button quiet small" onClick=${showDeleted}>Show deleted ones</button>
    <//>
  `;
}
