/** What narrows a list: words, category, who saved it, and whether it waits for a person. */
import { html, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { useShortcut } from "../../shell/shortcuts.js";
import { CATEGORIES, SOURCE_NAMES, sourceLabel } from "../card/labels.js";

/**
 * @param {object} props
 * @param {import("../sources.js").Source} props.source
 * @param {import("../sources.js").Filter} props.filter
 * @param {(filter: import("../sources.js").Filter) => void} props.setFilter
 * @param {string} props.query
 * @param {(query: string) => void} props.setQuery
 * @param {import("../rows.js").Memory[]} props.rows Those that are known, for names that they have.
 * @param {boolean} [props.views] Whether what waits for a person, and what is deleted, is chosen here.
 * @param {{count: number, only: boolean, toggle: () => void}} [props.usedNow]
 */
export function Filters({ source, filter, setFilter, query, setQuery, rows, usedNow, views = true }) {
  const field = useRef(null);
  useShortcut("/", () => field.current.focus());
  const categories = useNames(CATEGORIES[source.kind], rows, (row) => [row.category], filter.category);
  const tags = useNames([], rows, (row) => row.tags, filter.tag);
  const can = (name) => source.can.filters.includes(name);
  const choose = (name) => (value) => setFilter({ ...filter, [name]: value || undefined });
  return html`
    <div class="memories-filters" role="search" aria-label="Memories">
      <input
        ref=${field}
        type="search"
        class="input memories-search"
        placeholder="Search by words and meaning"
        aria-label="Search memories by words and meaning"
        maxlength="2000"
        value=${query}
        onInput=${(event) => setQuery(event.target.value)}
      />
      <${Choice} label=${source.kind === "agent" ? "Kind" : "Category"} any=${source.kind === "agent" ? "Any kind" : "Any category"}
        value=${filter.category} names=${categories} choose=${choose("category")} />
      ${can("source") &&
      html`<${Choice} label="Saved by" any="Any origin" value=${filter.source}
        names=${SOURCE_NAMES[source.kind]} title=${sourceLabel} choose=${choose("source")} />`}
      ${can("tag") &&
      html`<${TagField} value=${filter.tag || ""} names=${tags} choose=${choose("tag")} />`}
      ${views &&
      can("tainted") &&
      html`<${Toggle} name="Not confirmed" on=${filter.tainted === true}
        flip=${() => setFilter({ ...filter, tainted: filter.tainted ? undefined : true })} />`}
      ${usedNow &&
      html`<${Toggle} name=${`Used now (${usedNow.count})`} on=${usedNow.only}
        flip=${usedNow.toggle} />`}
      ${views &&
      source.can.deleted &&
      html`<${Toggle} name="Deleted" on=${filter.deleted === true}
        flip=${() => setFilter({ ...filter, deleted: filter.deleted ? undefined : true })} />`}
    </div>
  `;
}

function Choice({ label, any, value, names, title = (name) => name, choose }) {
  return html`
    <select
      class="input small-select"
      aria-label=${label}
      value=${value || ""}
      onChange=${(event) => choose(event.target.value)}
    >
      <option value="">${any}</option>
      ${names.map((name) => html`<option key=${name} value=${name}>${title(name)}</option>`)}
    </select>
  `;
}

/** Tags that no row in sight has can be typed; it counts on Enter, or when the field is left. */
function TagField({ value, names, choose }) {
  const [typed, setTyped] = useState(value);
  useLayoutEffect(() => setTyped(value), [value]);
  const commit = (event) => choose(canonicalTag(event.target.value));
  return html`
    <input
      class="input small-select memories-tag"
      aria-label="Tag"
      placeholder="Any tag"
      list="memories-tags"
      maxlength="64"
      value=${typed}
      onInput=${(event) => setTyped(event.target.value)}
      onChange=${commit}
    />
    <datalist id="memories-tags">
      ${names.map((name) => html`<option key=${name} value=${name} />`)}
    </datalist>
  `;
}

/** As tags are kept: lower case, hyphens for white space. */
function canonicalTag(text) {
  return text.trim().toLowerCase().replace(/\s+/g, "-");
}

function Toggle({ name, on, flip }) {
  return html`
    <button type="button" class="button small" aria-pressed=${on} onClick=${flip}>${name}</button>
  `;
}

/** Those that one may know, and those that the rows have. */
function useNames(known, rows, of, chosen) {
  return useMemo(() => {
    const names = new Set([...known, ...rows.flatMap(of), chosen || ""]);
    names.delete("");
    return [...known, ...[...names].filter((name) => !known.includes(name)).sort()];
  }, [known, rows, chosen]);
}
