/** What folds away on a narrow screen, so that the content of a page comes first there. */

import { html, useLayoutEffect, useState } from "../vendor/preact.js";

/**
 * On a wide screen there is no button, and all is seen; style sheets say from which width on.
 * @param {{title: string, closed?: boolean, children: unknown}} props `closed`: as it begins, and
 *   becomes whenever this changes
 */
export function Folded({ title, closed = true, children }) {
  const [open, setOpen] = useState(!closed);
  useLayoutEffect(() => setOpen(!closed), [closed]);
  return html`<button
      type="button"
      class="button fold"
      aria-expanded=${String(open)}
      onClick=${() => setOpen(!open)}
    >
      ${title} ${open ? "▴" : "▾"}
    </button>
    <div class=${open ? "folded" : "folded closed"}>${children}</div>`;
}
