/** Views of the memories and their groups. */
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { confirmDialog } from "../../shell/dialog.js";
import { count } from "../../shell/format.js";
import { problem } from "../list/use_actions.js";

/**
 * @param {object} props
 * @param {import("../sources.js").Source} props.source
 * @param {import("./use_hash.js").Place} props.place
 * @param {(place: object) => void} props.setPlace
 * @param {number|null} props.total
 * @param {object} props.groups As `useGroups` gives them.
 */
export function Sidebar({ source, place, setPlace, total, groups }) {
  const { filter, stones } = place;
  const conflicts = useConflicts(source, total);
  const view = (title, filter, { stones = false, number = null } = {}) => html`
    <li>
      <button
        type="button"
        class="memories-view"
        aria-pressed=${isShown(place, filter, stones)}
        onClick=${() => setPlace({ ...place, filter, stones })}
      >
        <span class="grow">${title}</span>
        ${number !== null && html`<span class="hint number">${count(number)}</span>`}
      </button>
    </li>
  `;
  return html`
    <nav class="memories-side" aria-label="Views of the memories">
      <ul>
        ${view("All memories", {}, { number: total })}
        ${source.can.filters.includes("tainted") && view("Not confirmed", { tainted: true })}
        ${source.can.filters.includes("conflicts") &&
        view("Conflicts", { conflicts: true }, { number: conflicts })}
        ${source.can.deleted && view("Deleted", { deleted: true })}
        ${source.can.live && view("Forgotten and replaced", {}, { stones: true })}
      </ul>
      ${source.can.groups &&
      html`
        <h2>Groups</h2>
        <ul>
          ${groups.all.map(
            (group) => html`<${Group} key=${group.id} ...${{ group, groups, place, setPlace }} />`,
          )}
        </ul>
        <${NewGroup} groups=${groups} />
      `}
    </nav>
  `;
}

/** How many memories may replace another one, counted anew where the number of all has changed. */
function useConflicts(source, total) {
  const [number, setNumber] = useState(null);
  useLayoutEffect(() => {
    let here = true;
    if (source.can.filters.includes("conflicts")) {
      const counting = source.count({ filter: { conflicts: true } });
      counting.then((count) => here && setNumber(count)).catch(() => null);
    }
    return () => (here = false);
  }, [source, total]);
  return number;
}

function isShown(place, filter, stones) {
  const text = ({ filter, stones }) =>
    JSON.stringify(
      [stones, filter.tainted, filter.conflicts, filter.deleted].map(Boolean).concat(filter.group),
    );
  return text(place) === text({ filter, stones });
}

function Group({ group, groups, place, setPlace }) {
  const [renaming, setRenaming] = useState(false);
  const chosen = place.filter.group === group.id;
  const rename = async (title) => {
    if (title !== group.title) await groups.rename(group.id, title);
    setRenaming(false);
  };
  const remove = async () => {
    const sure = await confirmDialog({
      title: "Delete this group?",
      text: `The group "${group.title}" goes; its memories stay.`,
      confirm: "Delete the group",
      danger: true,
    });
    if (!sure) return;
    try {
      await groups.remove(group.id);
      if (chosen) setPlace({ ...place, filter: {} });
    } catch (error) {
      problem("The group was not deleted", error);
    }
  };
  if (renaming) {
    return html`<li>
      <${TitleForm} label="Title of the group" value=${group.title} save=${rename}
        cancel=${() => setRenaming(false)} />
    </li>`;
  }
  return html`
    <li>
      <button
        type="button"
        class="memories-view"
        aria-pressed=${chosen}
        onClick=${() => setPlace({ ...place, filter: { group: group.id }, stones: false })}
      >
        <span class="grow">${group.title}</span>
        <span class="hint number">${count(group.member_count)}</span>
      </button>
      ${chosen &&
      html`<div class="memory-buttons">
        <button type="button" class="button quiet small" onClick=${() => setRenaming(true)}>
          Rename
        </button>
        <button type="button" class="button quiet small" onClick=${remove}>Delete group</button>
      </div>`}
    </li>
  `;
}

function NewGroup({ groups }) {
  const [open, setOpen] = useState(false);
  const save = async (title) => {
    await groups.add(title);
    setOpen(false);
  };
  if (open) {
    return html`<${TitleForm} label="Title of the new group" value="" save=${save}
      cancel=${() => setOpen(false)} />`;
  }
  return html`<button type="button" class="button quiet small" onClick=${() => setOpen(true)}>
    New group
  </button>`;
}

function TitleForm({ label, value, save, cancel }) {
  const [title, setTitle] = useState(value);
  const [error, setError] = useState(null);
  const field = useRef(null);
  useLayoutEffect(() => field.current.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    if (title.trim()) save(title.trim()).catch(setError);
  };
  return html`
    <form
      class="memories-title"
      onSubmit=${submit}
      onKeyDown=${(event) => event.key === "Escape" && cancel()}
    >
      <input
        ref=${field}
        class="input"
        aria-label=${label}
        value=${title}
        maxlength="200"
        onInput=${(event) => setTitle(event.target.value)}
      />
      ${error && html`<p class="note problem" role="alert">${error.message}</p>`}
      <div class="memory-buttons">
        <button type="submit" class="button small primary" disabled=${!title.trim()}>Save</button>
        <button type="button" class="button quiet small" onClick=${cancel}>Cancel</button>
      </div>
    </form>
  `;
}
