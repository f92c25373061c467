/** The title of the open conversation; one that the server knows can be renamed. */

import { html, useState } from "../vendor/preact.js";
import { TitleField, useRenaming } from "../shell/title_field.js";
import { toast } from "../shell/toasts.js";
import { rename } from "./conversation.js";

export const LONGEST_TITLE = 60; // characters

/** @param {{name: string, address: string | null, onRenamed: () => void}} props */
export function Title({ name, address, onRenamed }) {
  const [typed, setTyped] = useState(null); // what is shown until the list says it
  const title = typed ?? name;
  const { renaming, button, begin, finish } = useRenaming(title, async (text) => {
    setTyped(text);
    try {
      await rename(address, text);
      onRenamed();
    } catch (error) {
      setTyped(null);
      toast(error.message, { kind: "problem" });
    }
  });
  if (renaming)
    return html`<div class="tree-title"
      ><${TitleField} label="Title of the conversation" title=${title} most=${LONGEST_TITLE} onEnd=${finish}
    /></div>`;
  return html`<h2 class="tree-title">
      <bdi>${title}</bdi>
    </h2>
    ${
      address &&
      html`<button ref=${button} type="button" class="button small" onClick=${begin}>
        Rename
      </button>`
    }`;
}
