/** Bringing memories along from a file: a report first, and nothing is stored before it was seen. */
import { html, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";
import { Dialog } from "../../shell/dialog.js";
import { bytes, count } from "../../shell/format.js";
import { Loading, Problem } from "../../shell/states.js";
import { Report } from "./report.js";

const FORMATS = [
  ["", "Told from the content"],
  ["mem0", "mem0"],
  ["openmemory", "OpenMemory"],
  ["server-memory", "MCP server-memory"],
  ["chatgpt", "ChatGPT"],
  ["claude-ai", "claude.ai"],
  ["text", "Text or JSON, a memory a line"],
  ["memtree", "MemTree"],
];

/**
 * @param {object} props
 * @param {import("../sources.js").Source} props.source
 * @param {() => void} props.onDone Called after memories came in.
 * @param {() => void} props.onClose
 */
export function ImportDialog({ source, onDone, onClose }) {
  const [file, setFile] = useState(null);
  const [format, setFormat] = useState("");
  const [keepIds, setKeepIds] = useState(false);
  const [report, setReport] = useState(null);
  const [busy, setBusy] = useState("");
  const [error, setError] = useState(null);

  const send = async (given, dryRun) => {
    setError(null);
    setBusy(dryRun ? "Reading the file; nothing is stored yet" : "Importing");
    try {
      const query = { ...source.query, dry_run: dryRun, keep_ids: given.keepIds || undefined };
      if (given.format) query.format = given.format;
      const body = given.file;
      const { json } = await call("POST", "/memories/import", {
        query,
        headers: source.headers,
        body,
      });
      setReport(json);
      if (!dryRun) onDone();
    } catch (failed) {
      setError(failed);
    }
    setBusy("");
  };
  /** Another file or option: what it would come to, before anything else can be done. */
  const look = (change) => {
    const given = { file, format, keepIds, ...change };
    setFile(given.file);
    setFormat(given.format);
    setKeepIds(given.keepIds);
    setReport(null);
    if (given.file) send(given, true);
  };
  const given = { file, format, keepIds };
  const done = report && !report.dry_run;
  return html`
    <${Dialog} title="Import memories" class="large" onClose=${onClose}>
      ${!done && html`<${Choose} ...${{ file, format, keepIds, look, busy: Boolean(busy) }} />`}
      ${error &&
      html`<${Problem}
        error=${error}
        title="The file was not read"
        retry=${() => send(given, !report)}
      />`}
      ${busy && html`<p class="hint">${busy}…</p><${Loading} rows=${2} label=${busy} />`}
      ${report && !busy && html`<${Report} report=${report} />`}
      <div class="dialog-actions">
        <button type="button" class="button" onClick=${onClose}>${done ? "Done" : "Cancel"}</button>
        ${!done &&
        html`<button
          type="button"
          class="button primary"
          disabled=${!report?.imported || Boolean(busy)}
          onClick=${() => send(given, false)}
        >
          ${report ? `Import ${count(report.imported)}` : "Import"}
        </button>`}
      </div>
    <//>
  `;
}

function Choose({ file, format, keepIds, look, busy }) {
  const field = useRef(null);
  const drop = (event) => {
    event.preventDefault();
    if (busy) return;
    const [dropped] = event.dataTransfer.files;
    if (dropped) look({ file: dropped });
  };
  return html`
    <div class="memories-drop" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
      <label class="field">
        <span>File of mem0, OpenMemory, server-memory, ChatGPT, MemTree, or lines of text or JSON</span>
        <input
          ref=${field}
          type="file"
          disabled=${busy}
          onChange=${(event) => event.target.files[0] && look({ file: event.target.files[0] })}
        />
      </label>
      <p class="hint">
        ${file ? `${file.name}, ${bytes(file.size)}` : "Choose a file or drop it here. You see first what would come of it."}
      </p>
    </div>
    <div class="memory-fields">
      <label class="field">
        <span>Format</span>
        <select
          class="input"
          value=${format}
          disabled=${busy}
          onChange=${(event) => look({ format: event.target.value })}
        >
          ${FORMATS.map(([value, title]) => html`<option key=${value} value=${value}>${title}</option>`)}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked=${keepIds}
          disabled=${busy}
          onChange=${(event) => look({ keepIds: event.target.checked })}
        />
        <span>Keep ids and times of an own export (only where nothing is remembered yet)</span>
      </label>
    </div>
  `;
}
