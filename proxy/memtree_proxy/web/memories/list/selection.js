/** What is done with many memories: those that are selected, or all that a filter means. */
import { html, useState } from "../../vendor/preact.js";
import { call } from "../../shell/api.js";
import { confirmDialog } from "../../shell/dialog.js";
import { count } from "../../shell/format.js";
import { toast } from "../../shell/toasts.js";
import { problem } from "./use_actions.js";

const TOGETHER = 4; // confirmations at a time
const ALL = "Everything that is remembered here.";
const MATCHING = "All that match the filter, also those that are not shown yet.";
const COME_BACK = "Until they are erased they can be brought back from the list of deleted memories.";

/** Props are those that `MemoryList` has at hand. */
export function Selection(props) {
  const { rows, selected, setSelected, memories } = props;
  const all = rows.length > 0 && selected.size >= rows.length;
  const chooseAll = () => setSelected(all ? new Set() : new Set(rows.map((row) => row.id)));
  const chosen = rows.filter((row) => selected.has(row.id));
  return html`
    <div class="memories-bulk">
      <label class="check">
        <input
          type="checkbox"
          checked=${all}
          disabled=${!rows.length}
          ref=${(box) => box && (box.indeterminate = chosen.length > 0 && !all)}
          onChange=${chooseAll}
        />
        <span>${chosen.length ? `${count(chosen.length)} selected` : "Select all shown"}</span>
      </label>
      <span class="hint number memories-shown" role="status">${shownText(rows, memories, props.query)}</span>
      ${chosen.length > 0 ? html`<${OfSelected} ...${props} chosen=${chosen} />` : html`<${OfFilter} ...${props} />`}
    </div>
  `;
}

function shownText(rows, { total, current, loadMore }, query) {
  if (!current) return query.trim() ? "Searching…" : "";
  if (query.trim()) return `${count(rows.length)} found`;
  if (!loadMore) return `${count(rows.length)} shown`;
  return total === null ? `${count(rows.length)} shown` : `${count(rows.length)} of ${count(total)} read`;
}

function OfSelected({ source, filter, chosen, setSelected, actions, memories, groups, regroup }) {
  const [busy, setBusy] = useState(false);
  const done = () => setSelected(new Set());
  const run = async (task) => {
    setBusy(true);
    await task();
    setBusy(false);
    done();
  };
  const tainted = chosen.filter((memory) => memory.tainted);
  const button = (name, task, kind = "") => html`
    <button type="button" class=${`button small ${kind}`} disabled=${busy} onClick=${() => run(task)}>
      ${name}
    </button>
  `;
  if (filter.deleted) {
    return button(`Bring ${count(chosen.length)} back`, () => actions.undeleteMany(chosen));
  }
  return html`
    ${tainted.length > 0 &&
    button(`Confirm ${count(tainted.length)}`, () => confirmAll(source, tainted, memories))}
    ${source.can.groups &&
    groups.length > 0 &&
    html`<${AddToGroup} ...${{ source, chosen, groups, regroup, memories, done }} />`}
    ${button(`Delete ${count(chosen.length)}`, () => actions.removeMany(chosen), "danger")}
    ${button("Clear", () => {}, "quiet")}
  `;
}

async function confirmAll(source, tainted, memories) {
  const left = [...tainted];
  let failed = null;
  const work = async () => {
    for (let memory = left.shift(); memory; memory = left.shift()) {
      await source.confirm(memory.id).then(memories.put, (error) => (failed = error));
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  if (failed) problem("Some of them were not confirmed", failed);
}

function AddToGroup({ source, chosen, groups, regroup, memories, done }) {
  const add = async (event) => {
    const id = event.target.value;
    if (!id) return;
    event.target.value = "";
    const ids = chosen.map((memory) => memory.id);
    const path = `/memories/groups/${encodeURIComponent(id)}/memories`;
    try {
      const body = { memory_ids: ids };
      const { json } = await call("POST", path, { body, headers: source.headers });
      toast(`${count(json.added_count)} added to the group.`, { kind: "success" });
      done();
      memories.reload();
      regroup?.();
    } catch (error) {
      problem("They were not added to the group", error);
    }
  };
  return html`
    <select class="input small-select" aria-label="Add the selected memories to a group" onChange=${add}>
      <option value="">Add to group…</option>
      ${groups.map((one) => html`<option key=${one.id} value=${one.id}>${one.title}</option>`)}
    </select>
  `;
}

function OfFilter({ source, filter, query, usedOnly, memories, rows }) {
  const [step, setStep] = useState(""); // "asking", then "deleting"
  if (filter.deleted || query.trim() || usedOnly || !rows.length) return null;
  const narrow = Object.values(filter).some((one) => one !== undefined);
  const run = async () => {
    setStep("asking");
    await deleteMatching(source, narrow ? { filter } : { all: true }, memories, () => setStep("deleting"));
    setStep("");
  };
  return html`
    <button type="button" class="button quiet small" disabled=${step !== ""} onClick=${run}>
      ${deleteLabel(step, narrow)}
    </button>
  `;
}

function deleteLabel(step, narrow) {
  if (step === "deleting") return "Deleting…";
  return narrow ? "Delete all that match…" : "Delete all…";
}

async function deleteMatching(source, which, memories, begin) {
  try {
    const number = await source.count(which);
    const what = number === 1 ? "1 memory" : `${count(number)} memories`;
    const sure = await confirmDialog({
      title: `Delete ${what}?`,
      text: [which.all ? ALL : MATCHING, source.can.deleted ? COME_BACK : ""].join(" "),
      confirm: `Delete ${what}`,
      danger: true,
    });
    if (!sure) return;
    begin();
    const { deleted, verified } = await source.removeMany(which);
    const proof = verified ? " A search has verified that none of them is found." : "";
    toast(`${count(deleted)} deleted.${proof}`, { kind: "success", seconds: 10 });
    memories.reload();
  } catch (error) {
    problem("They were not deleted", error);
  }
}
