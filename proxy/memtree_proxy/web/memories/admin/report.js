/** What comes of a file, line by line. */
import { html, useState } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { VirtualList } from "../../shell/virtual_list.js";

const KINDS = { imported: "good", duplicate: "", refused: "warning", invalid: "problem" };

/** @param {{report: object}} props As `POST /memories/import` answers it. */
export function Report({ report }) {
  const [all, setAll] = useState(false);
  const lines = all ? report.lines : report.lines.filter((line) => line.status !== "imported");
  return html`
    <div class=${`note ${report.imported ? "good" : "warning"}`} role="status">
      <p>${summary(report)}</p>
    </div>
    ${report.stopped &&
    html`<p class="note warning">The rest was not read: ${report.stopped}.</p>`}
    ${report.warnings.map((one) => html`<p key=${one} class="note">${one}</p>`)}
    <div class="row">
      <h3 class="grow">Line by line</h3>
      <label class="check">
        <input type="checkbox" checked=${all} onChange=${(event) => setAll(event.target.checked)} />
        <span>Also those without a remark</span>
      </label>
    </div>
    ${lines.length
      ? html`<${VirtualList}
          class="memories-report"
          count=${lines.length}
          rowHeight=${44}
          label="Lines of the file"
          stop=${true}
          render=${(index) => html`<${Line} line=${lines[index]} />`}
        />`
      : html`<p class="hint">No line needs a remark.</p>`}
    ${report.truncated && html`<p class="hint">Only the first lines are listed.</p>`}
  `;
}

function summary({ dry_run: dry, imported, skipped, failed, tainted, read, format, reasons }) {
  const parts = [
    `${count(read)} read${format ? ` (${format})` : ""}`,
    `${count(imported)} ${dry ? "would be imported" : "imported"}`,
  ];
  if (skipped) parts.push(`${count(skipped)} left out`);
  if (failed) parts.push(`${count(failed)} refused`);
  if (tainted) parts.push(`${count(tainted)} to be confirmed by a person`);
  const why = Object.entries(reasons).map(([reason, number]) => `${plain(reason)} ${count(number)}`);
  return `${parts.join(", ")}.${why.length ? ` Reasons: ${why.join(", ")}.` : ""}`;
}

/** A code as words. */
function plain(reason) {
  return reason.replaceAll("_", " ");
}

function Line({ line }) {
  return html`
    <p class="memory-about memories-line">
      <span class="number">Line ${line.line}</span>
      <span class=${`chip ${KINDS[line.status] ?? "warning"}`}>${line.status}</span>
      ${line.reason && html`<span>${plain(line.reason)}</span>`}
      ${line.message && html`<span>${line.message}</span>`}
    </p>
  `;
}
