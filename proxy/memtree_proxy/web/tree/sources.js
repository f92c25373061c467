/** The left side: where a conversation comes from. Known ones, a file, a chat of this browser, the demo. */

import { html, useCallback, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { listHistories } from "../chat/store/history.js";
import { call } from "../shell/api.js";
import { Dialog, openDialog } from "../shell/dialog.js";
import { count, Time, tokens } from "../shell/format.js";
import { Loading, Problem } from "../shell/states.js";
import { VirtualList } from "../shell/virtual_list.js";

const PAGE = 50;

/**
 * The known conversations, the newest first; more are read when the end of the list comes near.
 * @param {number} version raised when something was forgotten
 */
export function useKnown(version) {
  const [state, setState] = useState({ rows: [], cursor: null, loading: true, error: null });
  const [attempt, setAttempt] = useState(0);
  const reading = useRef(null);
  const read = useCallback(async (rows, cursor) => {
    reading.current?.abort();
    const controller = (reading.current = new AbortController());
    setState((old) => ({ ...old, loading: true, error: null }));
    try {
      const query = { limit: PAGE, cursor };
      const { json } = await call("GET", "/context_memory/conversations", {
        query,
        signal: controller.signal,
      });
      if (controller.signal.aborted) return;
      setState({
        rows: [...rows, ...json.conversations],
        cursor: json.next_cursor,
        loading: false,
        error: null,
      });
    } catch (error) {
      if (!controller.signal.aborted) setState({ rows, cursor, loading: false, error });
    }
  }, []);
  useEffect(() => {
    read([], null);
    return () => reading.current?.abort();
  }, [version, attempt]);
  return {
    ...state,
    more: () => state.cursor && !state.loading && !state.error && read(state.rows, state.cursor),
    retry: () =>
      state.rows.length ? read(state.rows, state.cursor) : setAttempt((number) => number + 1),
  };
}

/** Chats that live in this browser. */
function useChats() {
  const [chats, setChats] = useState([]);
  useEffect(() => {
    let gone = false;
    listHistories()
      .then((found) => !gone && setChats(found))
      .catch(() => {}); // no store in this browser: then there are no chats
    return () => (gone = true);
  }, []);
  return chats;
}

/**
 * @param {{source: import("./conversation.js").Source, known: ReturnType<useKnown>,
 *   onOpen: (source: object) => void, onFile: (file: File) => void}} props
 */
export function Sources({ source, known, onOpen, onFile }) {
  const chats = useChats();
  return html`<div class="tree-sources-in">
    <section aria-labelledby="tree-known" class="tree-known">
      <h2 id="tree-known">Known conversations</h2>
      <${KnownList} ...${{ source, known, onOpen }} />
    </section>
    <section aria-labelledby="tree-open">
      <h2 id="tree-open">Open</h2>
      <${FileButton} onFile=${onFile} />
      <button
        type="button"
        class=${`button tree-wide${source.kind === "demo" ? " chosen" : ""}`}
        aria-pressed=${String(source.kind === "demo")}
        onClick=${() => onOpen({ kind: "demo" })}
      >
        Demo session
      </button>
    </section>
    ${
      chats.length > 0 &&
      html`<section aria-labelledby="tree-chats">
        <h2 id="tree-chats">Chats of this browser</h2>
        <ul class="tree-plain">
          ${chats.slice(0, 20).map(
            ({ id, title, updated }) =>
              html`<li key=${id}>
                <button
                  type="button"
                  class="tree-entry"
                  aria-current=${source.kind === "chat" && source.id === id ? "true" : undefined}
                  onClick=${() => onOpen({ kind: "chat", id })}
                >
                  <span class="tree-entry-title"><bdi>${title || "untitled"}</bdi></span>
                  <span class="soft small-text"
                    ><${Time} at=${typeof updated === "number" ? new Date(updated) : updated}
                  /></span>
                </button>
              </li>`,
          )}
        </ul>
      </section>`
    }
  </div>`;
}

function FileButton({ onFile }) {
  const input = useRef(null);
  const chosen = (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) onFile(file);
  };
  return html`<div class="tree-drop">
    <button type="button" class="button primary tree-wide" onClick=${() => input.current.click()}>
      Choose a file
    </button>
    <input
      ref=${input}
      type="file"
      class="tree-file"
      tabindex="-1"
      aria-label="Conversation file"
      onChange=${chosen}
    />
    <p class="soft small-text">
      or drop one anywhere: ChatGPT, claude.ai, Claude Code, Codex, Cline, Roo, opencode,
      SillyTavern, SpecStory, or messages as JSON.
    </p>
  </div>`;
}

function KnownList({ source, known, onOpen }) {
  const { rows, loading, error, more, retry } = known;
  if (error && !rows.length)
    return html`<${Problem} error=${error} title="The list could not be read" retry=${retry} />`;
  if (loading && !rows.length) return html`<${Loading} rows=${3} />`;
  if (!rows.length) {
    return html`<p class="soft small-text">
      None yet. A conversation appears here once it goes through MemTree under your key.
    </p>`;
  }
  return html`<${VirtualList}
      class="tree-known-list"
      label="Known conversations"
      count=${rows.length}
      rowHeight=${74}
      onEnd=${more}
      itemKey=${(index) => rows[index].address}
      render=${(index) => html`<${KnownRow} row=${rows[index]} chosen=${source.kind === "known" && source.address === rows[index].address} onOpen=${onOpen} />`}
    />
    ${error && html`<${Problem} error=${error} title="More could not be read" retry=${retry} />`}`;
}

const STATES = { packed: "folded", indexed: "indexed", indexing: "being indexed" };

function KnownRow({ row, chosen, onOpen }) {
  const saved = row.saved_tokens ?? 0;
  return html`<button
    type="button"
    class="tree-entry"
    aria-current=${chosen ? "true" : undefined}
    onClick=${() => onOpen({ kind: "known", address: row.address })}
  >
    <span class="tree-entry-title"><bdi>${row.title || "untitled"}</bdi></span>
    <span class="soft small-text"
      >${`${count(row.messages)} messages · ${tokens(row.tokens)} · `}<${Time} at=${row.last_used}
    /></span>
    <span class="tree-entry-chips"
      >${row.project && html`<span class="chip"><bdi>${row.project}</bdi></span>`}
      ${row.client && row.client !== "other" && html`<span class="chip">${row.client}</span>`}
      ${row.state && html`<span class="chip">${STATES[row.state] ?? row.state}</span>`}
      ${saved !== 0 && html`<span class=${`chip ${saved > 0 ? "good" : "warning"}`}>${saved > 0 ? `saved ${tokens(saved)}` : `cost ${tokens(-saved)} more`}</span>`}</span
    >
  </button>`;
}

/** A file may hold many conversations. @returns {Promise<number>} which; -1: none */
export function chooseConversation(conversations) {
  return openDialog(
    (answer) =>
      html`<${Dialog} title="Which conversation?" class="large" onClose=${() => answer(-1)}>
        <p class="soft">The file has ${count(conversations.length)}.</p>
        <${VirtualList}
          class="tree-choice"
          label="Conversations in the file"
          count=${conversations.length}
          rowHeight=${58}
          render=${(index) =>
            html`<button type="button" class="tree-entry" onClick=${() => answer(index)}>
              <span class="tree-entry-title"
                ><bdi>${conversations[index].title || "untitled"}</bdi></span
              >
              <span class="soft small-text"
                >${count(conversations[index].messages.length)} messages ·
                ${conversations[index].format}</span
              >
            </button>`}
        />
      <//>`,
  );
}

/** Files may be dropped anywhere on the page. @returns {boolean} whether one hangs over it now */
export function useFileDrop(onFile) {
  const [over, setOver] = useState(false);
  const latest = useRef(onFile);
  latest.current = onFile;
  useLayoutEffect(() => {
    const carries = (event) => event.dataTransfer?.types.includes("Files");
    const hover = (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const leave = (event) => {
      if (!event.relatedTarget) setOver(false);
    };
    const drop = (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      setOver(false);
      const [file] = event.dataTransfer.files;
      if (file) latest.current(file);
    };
    const listeners = { dragenter: hover, dragover: hover, dragleave: leave, drop };
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener);
    };
  }, []);
  return over;
}
