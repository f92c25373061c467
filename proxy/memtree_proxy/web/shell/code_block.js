/**
 * A block of code: its language, a button that copies it, its words in colours.
 *
 * The tokenizer (27 kB) is loaded with the first block of a language that it knows. It yields
 * tokens, never HTML. Until it is there, and for what is too long for it, the code is plain.
 */

import { html, useEffect, useState } from "../vendor/preact.js";
import { CopyButton } from "./copy_button.js";
import { ScrollBox } from "./scroll_box.js";

// Characters that are coloured. A frame is 16 ms: the tokenizer takes 5 ms for 20,000 characters.
// Of CSS it takes 200 ms for 5,000 hyphens, and four times that for twice as many.
const LONGEST = 20_000;
const LONGEST_OF = { css: 1_500 };
const MAX_NAME = 30;

let loading = null;
let tokenizer = null;

/** @param {{text: string, language?: string}} props `language`: the info string of the fence */
export function CodeBlock({ text, language = "" }) {
  const name = language.trim().split(/[\s{:,]/, 1)[0].slice(0, MAX_NAME);
  const [, loaded] = useState(tokenizer !== null);
  useEffect(() => {
    if (!name || tokenizer) return undefined;
    let shown = true;
    load().then(
      () => shown && loaded(true),
      () => {}, // without it the code stays plain
    );
    return () => {
      shown = false;
    };
  }, [name]);
  return html`<div class="code-block" dir="ltr">
    <div class="code-head">
      <span>${name || "code"}</span>
      <${CopyButton} text=${text} label="Copy the code" />
    </div>
    <${ScrollBox} as="pre" label="Code"><code>${coloured(text, name)}</code><//>
  </div>`;
}

async function load() {
  loading ??= import("../vendor/sugar-high.js");
  try {
    tokenizer = await loading;
  } catch (error) {
    loading = null; // the server was away: the next block asks again
    throw error;
  }
}

/** @returns {unknown} the text, or spans that say it character by character as it is */
function coloured(text, name) {
  const spans = tokenizer && tokens(tokenizer, text, name);
  if (!spans) return text;
  return spans.map(({ type, value }) =>
    type === "identifier" || type === "space"
      ? value
      : html`<span class=${`token-${type}`}>${value}</span>`,
  );
}

/**
 * @param {{parse: Function, lang: Function, languages: {id: string, config?: object}[]}} sugar
 * @param {string} text
 * @param {string} name as the fence spells it: "py" is Python
 * @returns {{type: string, value: string}[] | null} null: it stays plain
 */
export function tokens(sugar, text, name) {
  const id = sugar.lang(name);
  if (!id || text.length > (LONGEST_OF[id] ?? LONGEST)) return null;
  const config = sugar.languages.find((language) => language.id === id).config;
  const { lines } = sugar.parse(text, config);
  const all = lines.flatMap((line, at) =>
    at === 0 ? line.tokens : [{ type: "space", value: "\n" }, ...line.tokens],
  );
  return all.map(({ value }) => value).join("") === text ? all : null;
}
