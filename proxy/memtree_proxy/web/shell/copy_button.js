/** A button that copies a text and says that it did. */

import { Icon } from "./icons.js";
import { html, useRef, useState } from "../vendor/preact.js";
import { copy } from "./clipboard.js";
import { toast } from "./toasts.js";

/** @param {{text: string, label?: string}} props */
export function CopyButton({ text, label = "Copy" }) {
  const [done, setDone] = useState(false);
  const timer = useRef(0);
  const press = async () => {
    if (!(await copy(text))) {
      toast("The browser does not let this page copy.", { kind: "problem" });
      return;
    }
    setDone(true);
    toast("Copied.", { seconds: 2 });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(false), 2000);
  };
  return html`<button type="button" class="icon-button" title=${label} aria-label=${label} onClick=${press}>
    <${Icon} name=${done ? "check" : "copy"} />
  </button>`;
}
