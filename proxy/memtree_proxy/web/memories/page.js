/** The page `memories`: all that is remembered, whoever remembers it. */
import { html, useCallback, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { Folded } from "../shell/folded.js";
import { start } from "../shell/frame.js";
import { Empty } from "../shell/states.js";
import { AddMemory } from "./add.js";
import { ImportDialog } from "./admin/import.js";
import { saveExport } from "./admin/export.js";
import { Settings } from "./admin/settings.js";
import { Sidebar } from "./admin/sidebar.js";
import { Tombstones } from "./admin/tombstones.js";
import { useGroups } from "./admin/use_groups.js";
import { useHash } from "./admin/use_hash.js";
import { Whose, sourceOf } from "./admin/whose.js";
import { Filters } from "./list/filters.js";
import { MemoryList } from "./list/memory_list.js";

function Page() {
  const [place, setPlace] = useHash();
  const { whose, filter, stones } = place;
  const source = useMemo(() => sourceOf(whose), [JSON.stringify(whose)]);
  const [query, setQuery] = useState("");
  const [open, setOpen] = useState(null);
  const [known, setKnown] = useState({ rows: [], total: null });
  const list = useRef(null);
  const groups = useGroups(source);
  useLayoutEffect(() => {
    setQuery("");
    setOpen(null);
    setKnown({ rows: [], total: null });
  }, [source.key]);

  const close = useCallback(() => setOpen(null), []);
  const setFilter = (filter) => setPlace({ ...place, filter, stones: false });
  const clear = () => {
    setQuery("");
    setFilter({});
  };
  const changed = () => {
    list.current?.reload();
    groups.reload();
  };
  const side = { source, place, setPlace, total: known.total, groups };
  return html`
    <div class="memories-page">
      <${Folded} title=${shownAs(place)}>
        <div class="memories-top">
          <${Whose} whose=${whose} choose=${(whose) => setPlace({ whose, filter: {}, stones: false })} />
          <${Tools} ...${{ source, whose, open, setOpen }} />
        </div>
        <${Sidebar} ...${side} />
      <//>
      <section class="memories-main" aria-label="Memories">
        ${open === "add" &&
        html`<${AddMemory}
          source=${source}
          tagged=${source.kind !== "chat"}
          onAdded=${(memory) => list.current?.put(memory)}
          onClose=${close}
        />`}
        ${whose.kind === "chat" && !whose.chatId
          ? html`<${Empty} title="Which chat?"><p>Name its id above, as your client sends it in <code>x-chat-id</code>.</p><//>`
          : stones
          ? html`<${Tombstones} source=${source} onBack=${changed} />`
          : html`
              <${Filters} ...${{ source, filter, setFilter, query, setQuery }}
                rows=${known.rows} views=${false} />
              <${MemoryList}
                ...${{ source, filter, query, clear }}
                groups=${groups.all}
                regroup=${groups.reload}
                handle=${list}
                onState=${setKnown}
                empty=${html`<${Nothing} source=${source} setOpen=${setOpen} />`}
              />
            `}
      </section>
      ${open === "import" &&
      html`<${ImportDialog} source=${source} onDone=${changed} onClose=${close} />`}
      ${open === "settings" && html`<${Settings} source=${source} onClose=${close} />`}
    </div>
  `;
}

const KINDS = { user: "User", agent: "Agents", chat: "Chat" };

/** Whose memories are shown, and which of them, in a few words. */
function shownAs({ whose, filter, stones }) {
  const id = whose.userId || whose.chatId || (whose.agentId !== "*" && whose.agentId);
  const views = [
    [stones, "forgotten and replaced"],
    [filter.tainted, "not confirmed"],
    [filter.conflicts, "conflicts"],
    [filter.deleted, "deleted"],
    [filter.group, "a group"],
    [true, "all memories"],
  ];
  const [, view] = views.find(([shown]) => shown);
  return `${KINDS[whose.kind]}${id ? ` ${id}` : ""}: ${view}`;
}

function Tools({ source, whose, open, setOpen }) {
  const [saving, setSaving] = useState(false);
  const save = async () => {
    setSaving(true);
    await saveExport(source);
    setSaving(false);
  };
  return html`
    <div class="row memories-tools">
      ${source.can.create &&
      whose.chatId !== "" &&
      html`<button
        type="button"
        class="button small primary"
        aria-expanded=${open === "add"}
        onClick=${() => setOpen(open === "add" ? null : "add")}
      >
        Add
      </button>`}
      ${source.can.transfer &&
      html`
        <button type="button" class="button small" onClick=${() => setOpen("import")}>Import…</button>
        <button type="button" class="button small" disabled=${saving} onClick=${save}>
          ${saving ? "Exporting…" : "Export"}
        </button>
      `}
      ${source.can.settings &&
      html`<button type="button" class="button small" onClick=${() => setOpen("settings")}>
        Settings…
      </button>`}
    </div>
  `;
}

function Nothing({ source, setOpen }) {
  return html`
    <${Empty} title="Nothing is remembered here yet">
      ${source.can.transfer
        ? html`
            <p>
              Add a memory by hand, or bring them along: from mem0, OpenMemory, the MCP
              server-memory, ChatGPT, or lines of text or JSON.
            </p>
            <div class="row memories-center">
              <button type="button" class="button primary" onClick=${() => setOpen("import")}>
                Import a file…
              </button>
              <button type="button" class="button" onClick=${() => setOpen("add")}>Add one</button>
            </div>
          `
        : html`<p>What is remembered here will be listed, searched and corrected on this page.</p>`}
    <//>
  `;
}

start({ page: "memories", title: "Memories", Page });
