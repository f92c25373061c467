/** What to do when nothing came yet: the two things that a client needs, to be copied. */

import { html } from "../vendor/preact.js";
import { copy } from "../shell/clipboard.js";
import { toast } from "../shell/toasts.js";

/** @param {{title: string}} props */
export function FirstSteps({ title }) {
  return html`
    <section class="card state-first" aria-labelledby="state-first">
      <h2 id="state-first">${title}</h2>
      <p>
        Point your client at MemTree and switch memory on. Send the whole history with every
        request, as clients do: MemTree folds its older part, that is, replaces it
        by summaries and excerpts, once it has grown.
      </p>
      <dl class="state-copies">
        <${Copied} title="Base URL" text=${`${location.origin}/v1`} />
        <${Copied} title="Header" text="x-polychat-memory: on" />
      </dl>
      <p class="hint">
        No way to send a header? Put <code>:memory</code> behind the model's name. This page shows
        the requests of the key that it uses: give it the one that your client sends, by the button
        at the top.
      </p>
      <p><a class="button" href="/ui">Try it in the chat</a></p>
    </section>
  `;
}

function Copied({ title, text }) {
  const press = async () => {
    if (await copy(text)) toast(`${title} copied.`, { kind: "success" });
    else
      toast("The browser did not allow copying. Select the text and copy it.", { kind: "problem" });
  };
  return html`
    <div class="state-copy">
      <dt>${title}</dt>
      <dd><code>${text}</code></dd>
      <dd>
        <button type="button" class="button small" onClick=${press}>
          Copy<span class="visually-hidden"> the ${title.toLowerCase()}</span>
        </button>
      </dd>
    </div>
  `;
}
