/** What is around every page: the link to its content, the navigation, the key, the messages. */

import { html, render, useLayoutEffect, useState } from "../vendor/preact.js";
import { keepPageOnDrop } from "./dropped_files.js";
import { askForKey } from "./key_dialog.js";
import { key, onKeyChange } from "./key.js";
import { Toasts } from "./toasts.js";

const PAGES = [
  { name: "chat", title: "Chat", path: "/ui" },
  { name: "memories", title: "Memories", path: "/ui/memories" },
  { name: "tree", title: "Tree", path: "/ui/tree" },
  { name: "state", title: "State", path: "/ui/state" },
];

/**
 * Draw a page.
 *
 * @param {{page: "chat" | "memories" | "tree" | "state", title: string, Page: Function}} options
 *   `title`: the page's one h1. `Page` is drawn anew when the key changes.
 */
export function start({ page, title, Page }) {
  keepPageOnDrop();
  render(
    html`<${Frame} page=${page} title=${title} Page=${Page} />`,
    document.getElementById("app"),
  );
}

function Frame({ page, title, Page }) {
  const [used, setUsed] = useState(key());
  useLayoutEffect(() => onKeyChange(setUsed), []);
  // The first answer to the question is no change: what waits for it goes on by itself.
  const [first, setFirst] = useState(used);
  if (first === null && used !== null) setFirst(used);
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <header class="top">
      <a class="brand" href="/ui" aria-label="MemTree, chat">
        <img src="/ui/static/shell/icon.svg" alt="" width="22" height="22" />
        <span>MemTree</span>
      </a>
      <nav aria-label="Pages">
        ${PAGES.map(
          (one) =>
            html`<a
              key=${one.name}
              href=${one.path}
              aria-current=${one.name === page ? "page" : undefined}
              >${one.title}</a
            >`,
        )}
      </nav>
      <${KeyButton} used=${used} />
    </header>
    <main id="main" class=${`page page-${page}`} tabindex="-1">
      <h1 class="visually-hidden">${title}</h1>
      <${Page} key=${used === first || first === null ? "first" : used} />
    </main>
    <${Toasts} />
  `;
}

function KeyButton({ used }) {
  return html`
    <button type="button" class="button small key-button" onClick=${() => askForKey(null)}>
      ${used ? "Key set" : "No key"}<span class="visually-hidden">: change the key</span>
    </button>
  `;
}
