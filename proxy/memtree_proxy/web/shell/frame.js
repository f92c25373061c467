/** What is around every page: the link to its content, the navigation, the key, the messages. */

import { html, render, useLayoutEffect, useState } from "../vendor/preact.js";
import { keepPageOnDrop } from "./dropped_files.js";
import { askForKey } from "./key_dialog.js";
import { key, onKeyChange } from "./key.js";
import { signIn } from "./sign_in.js";
import { Toasts } from "./toasts.js";

const LOCAL = "mt-local-"; // of keys of this machine's user
const PAGES = [
  { name: "chat", title: "Chat", path: "/ui" },
  { name: "memories", title: "Memories", path: "/ui/memories" },
  { name: "tree", title: "Tree", path: "/ui/tree" },
  { name: "requests", title: "Requests", path: "/ui/requests" },
  { name: "state", title: "State", path: "/ui/state" },
];

/**
 * Draw a page.
 *
 * @param {{page: "chat" | "memories" | "tree" | "requests" | "state", title: string, Page: Function}} options
 *   `title`: the page's one h1. `Page` is drawn anew when the key changes.
 */
export async function start({ page, title, Page }) {
  keepPageOnDrop();
  const begun = await signIn();
  render(
    html`<${Frame} page=${page} title=${title} Page=${Page} begun=${begun} />`,
    document.getElementById("app"),
  );
  if (begun.ask) askForKey(null);
}

function Frame({ page, title, Page, begun }) {
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
    <${Notes} begun=${begun} used=${used} changed=${used !== first} />
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
      ${used?.startsWith(LOCAL) ? "Local user" : used ? "Key set" : "No key"}<span
        class="visually-hidden"
        >: change the key</span
      >
    </button>
  `;
}

/** What is to be said of how the page began, until the user gives another key. */
function Notes({ begun, used, changed }) {
  const refusal = !changed && begun.refusal;
  const missed = !refusal && !used && begun.missed;
  return (refusal || missed) && html`
    <aside class="top-notes" aria-label="Whose memory this is">
      ${refusal && html`<p class="note warning" role="alert">${refusal}</p>`}
      ${missed &&
      html`<p class="note" role="status">
        Nothing is kept for who comes without a key, but others have memory here. Set the key that
        your client uses (at the top right).
      </p>`}
    </aside>
  `;
}
