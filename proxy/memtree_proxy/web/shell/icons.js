/** Small drawings on buttons; each button has words of its own. */
import { html } from "../vendor/preact.js";

const PATHS = {
  send: "M12 19V5m-6 6 6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h10v10H9zM5 15V5h10",
  check: "m5 12.5 4.5 4.5L19 7.5",
  edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  again: "M19 12a7 7 0 1 1-2-4.9M19 4v4h-4",
  bookmark: "M7 4h10v16l-5-4-5 4z",
  tree: "M12 4v6m0 0H6v4m6-4h6v4M4 14h4v5H4zm6-10h4v3h-4zm6 10h4v5h-4z",
  left: "m14 6-6 6 6 6",
  right: "m10 6 6 6-6 6",
  down: "m6 10 6 6 6-6",
  plus: "M12 5v14M5 12h14",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  settings: "M5 8h9m4 0h1M5 16h1m4 0h9M16 6v4M8 14v4",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zm5 12 4 4",
  list: "M4 7h16M4 12h16M4 17h10",
};

/** @param {{name: keyof typeof PATHS}} props */
export function Icon({ name }) {
  return html`<svg
    class="icon"
    viewBox="0 0 24 24"
    width="18"
    height="18"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d=${PATHS[name]} />
  </svg>`;
}
