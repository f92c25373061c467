/** A list of memories with all that can be done in it. */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { key } from "../../shell/key.js";
import { Loading, Problem } from "../../shell/states.js";
import { VirtualList } from "../../shell/virtual_list.js";
import { MemoryCard } from "../card/card.js";
import { History } from "../card/history.js";
import { put } from "./row_set.js";
import { Selection } from "./selection.js";
import { useActions } from "./use_actions.js";
import { useDrafts } from "./use_drafts.js";
import { useFocus } from "./use_focus.js";
import { useUsed } from "./use_used.js";
import { useMemories } from "./use_memories.js";

const ROW = 118; // px of a card, at a guess

/**
 * @param {object} props
 * @param {import("../sources.js").Source} props.source
 * @param {import("../sources.js").Filter} props.filter
 * @param {string} props.query
 * @param {string[]|null} [props.used] Ids that stood in the last request.
 * @param {boolean} [props.usedOnly] Show those alone.
 * @param {object[]} [props.groups]
 * @param {() => void} [props.regroup] Called when members of groups have changed.
 * @param {unknown} props.empty What stands where there is nothing at all.
 * @param {() => void} props.clear Takes filters and the search away.
 * @param {(state: {rows: object[], total: number|null}) => void} [props.onState]
 * @param {{current: object}} [props.handle] Gets `{put, reload}`, for who adds memories.
 */
export function MemoryList(props) {
  const { source, filter, query, used = null, usedOnly = false, groups = [], handle } = props;
  const memories = useMemories(source, filter, query);
  const edits = useDrafts(source, memories);
  const [selected, setSelected] = useState(() => new Set());
  const [past, setPast] = useState(null);
  const ready = memories.current && !memories.loading;
  const wanted = useUsed(source, usedOnly ? used || [] : null, memories.rows, ready);
  const rows = useShown(wanted.rows, edits.drafts);
  const focusing = useFocus(rows);
  const toggle = (memory) => setSelected((was) => toggled(was, memory.id));
  const view = { toggle, history: setPast, focus: focusing.focus, neighbour: focusing.neighbour };
  const actions = useActions(source, memories, edits, view);

  if (handle) handle.current = { put: memories.put, reload: memories.reload, focus: focusing.focus };
  useLayoutEffect(() => setSelected(new Set()), [source.key, filter, query, usedOnly]);
  useEffect(() => {
    props.onState?.({ rows: memories.rows, total: memories.total });
  }, [memories.rows, memories.total]);

  const titles = useMemo(() => new Map(groups.map((one) => [one.id, one.title])), [groups]);
  const usedIds = useMemo(() => new Set(used || []), [used]);
  const card = (index) => {
    const memory = rows[index];
    return html`<${MemoryCard}
      ...${{ memory, source, actions }}
      draft=${edits.drafts.get(memory.id)}
      used=${usedIds.has(memory.id)}
      selected=${selected.has(memory.id)}
      groupTitles=${memory.groups.map((id) => titles.get(id)).filter(Boolean).join(", ")}
    />`;
  };
  return html`
    <div class="memories-list" ref=${focusing.box} onKeyDown=${focusing.press}>
      ${rows.length > 0 &&
      html`<${Selection}
        ...${{ source, filter, query, usedOnly, groups, memories, rows, selected, setSelected }}
        actions=${actions}
        regroup=${props.regroup}
      />`}
      <${Remarks} memories=${memories} />
      ${wanted.elsewhere > 0 &&
      html`<p class="hint">
        ${wanted.elsewhere} more ${wanted.elsewhere === 1 ? "is" : "are"} not of this chat, or gone:
        memories of the user are on the page <a href="/ui/memories">Memories</a>.
      </p>`}
      ${rows.length
        ? html`<${VirtualList}
            key=${memories.shows}
            count=${rows.length}
            rowHeight=${ROW}
            render=${card}
            itemKey=${(index) => rows[index].id}
            onEnd=${memories.loadMore}
            label="Memories"
            focusIndex=${focusing.index}
          />`
        : html`<${Nothing} ...${props} memories=${memories} />`}
      ${past &&
      html`<${History} ...${{ memory: past, source }} onClose=${() => setPast(null)} />`}
    </div>
  `;
}

function Remarks({ memories }) {
  const { error, loading, rows, degraded, reload, more, retryMore } = memories;
  const again = rows.length && !loading ? retryMore : reload;
  return html`
    ${error &&
    html`<${Problem} error=${error} title="The memories cannot be read" retry=${again} />`}
    ${degraded.includes("embedder") &&
    html`<p class="hint">Words alone decide for now; meaning follows when all is embedded.</p>`}
    <p class="visually-hidden" role="status">${more ? "Loading more memories" : ""}</p>
  `;
}

function Nothing({ memories, filter, query, usedOnly, empty, clear }) {
  if (memories.error) return null;
  if (memories.loading || !memories.current) {
    return html`<${Loading} rows=${3} label="Loading memories" />`;
  }
  const narrow = query.trim() || usedOnly || Object.values(filter).some((one) => one !== undefined);
  if (!narrow) return empty;
  return html`
    <div class="empty">
      <p class="empty-title">No memory matches</p>
      <button type="button" class="button" onClick=${clear}>Show all memories</button>
    </div>
  `;
}

/**
 * Rows with those that are being edited, also where they match no more or are gone; not those of
 * another key, whose memories may be those of somebody else.
 */
function useShown(rows, drafts) {
  return useMemo(() => {
    let set = { rows, cursor: null };
    const there = new Set(rows.map((row) => row.id));
    for (const { base, begunWith } of drafts.values()) {
      if (!there.has(base.id) && begunWith === key()) set = put(set, base);
    }
    return set.rows;
  }, [rows, drafts]);
}

function toggled(ids, id) {
  const changed = new Set(ids);
  if (!changed.delete(id)) changed.add(id);
  return changed;
}
