/**
 * Markdown as vnodes. marked's lexer says what a text is made of; no HTML is ever made of it, so
 * there is nothing that could run. Raw HTML is shown as the text that it is, and an image as a link,
 * since loading it would tell its host who reads what.
 */

import { Component, h, html, useMemo, useRef } from "../vendor/preact.js";
import { Lexer } from "../vendor/marked.js";
import { CodeBlock } from "./code_block.js";
import { ScrollBox } from "./scroll_box.js";

const SCHEMES = new Set(["http:", "https:", "mailto:"]);
const DEEPEST = 24; // levels of lists, quotes and emphasis; what lies deeper is shown as text
// Characters that are read as Markdown; what is longer is shown as it is. Of emphasis that never
// ends the lexer takes 10 s for 100,000 characters in one paragraph, and 10 ms for 4,000.
const LONGEST = 200_000; // of a text
const LONGEST_PARAGRAPH = 4_000;

const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };
const ENTITY = /&(?:(amp|lt|gt|quot|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));/gi;

/**
 * @param {Object} props
 * @param {string} props.text
 * @param {boolean} [props.streaming] text is still coming in: blocks that are complete are drawn once
 * @param {number} [props.level] of its highest headings, one below that of the page around it
 */
export function Markdown({ text, streaming = false, level = 3 }) {
  const grown = useRef(null);
  const parsed = useMemo(() => {
    grown.current = streaming ? readMore(grown.current, text) : null;
    return grown.current?.blocks ?? read(text);
  }, [text, streaming]);
  const levels = headingLevels(parsed, level);
  return html`<div class="markdown" aria-busy=${streaming}>
    ${parsed.map(
      (token, index) => html`<${Block} key=${index} token=${token} level=${levels[index]} />`,
    )}
  </div>`;
}

/**
 * Levels for the headings among blocks, none skipped: who listens to a page goes by them.
 *
 * @param {{type: string, depth?: number}[]} tokens
 * @param {number} top of the first
 * @returns {number[]} one for each token; 0 for what is no heading
 */
export function headingLevels(tokens, top) {
  let open = []; // depths that the text gave to the headings above
  return tokens.map(({ type, depth }) => {
    if (type !== "heading") return 0;
    open = [...open.filter((one) => one < depth), depth];
    return Math.min(6, top - 1 + open.length);
  });
}

/** @returns {import("../vendor/marked.js").Token[]} */
export function read(text) {
  if (text.length > LONGEST) return [literal(text)];
  try {
    const lexer = new Lexer({ gfm: true, breaks: true });
    lexer.blockTokens(text.replace(/\r\n|\r/g, "\n"), lexer.tokens);
    for (let at = 0; at < lexer.inlineQueue.length; at++) {
      const { src, tokens } = lexer.inlineQueue[at];
      if (src.length > LONGEST_PARAGRAPH) tokens.push(literal(src));
      else lexer.inlineTokens(src, tokens);
    }
    return lexer.tokens;
  } catch {
    return [literal(text)]; // nested too deeply for the lexer
  }
}

/**
 * The blocks of a text that grows. Only its last two are read again: the last one goes on, and may
 * turn out to belong to the list before it. (A link that is defined further down is one as soon as
 * the text is complete.)
 *
 * @param {{text: string, settled: object[], blocks: object[]} | null} before what this returned for
 *   a beginning of the text. `settled`: blocks that are not read again, `text`: what they say
 * @param {string} text
 */
export function readMore(before, text) {
  const whole = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  const goesOn = before && whole.length <= LONGEST && whole.startsWith(before.text);
  const start = goesOn ? before.text.length : 0;
  const kept = goesOn ? before.settled : [];
  const added = read(whole.slice(start));
  const filled = added.flatMap((one, index) => (one.type === "space" ? [] : [index]));
  const done = added.slice(0, filled.at(-2) ?? 0);
  const end = done.reduce((sum, one) => sum + one.raw.length, start);
  return { text: whole.slice(0, end), settled: [...kept, ...done], blocks: [...kept, ...added] };
}

function literal(text) {
  return { type: "literal", raw: text };
}

class Block extends Component {
  shouldComponentUpdate(next) {
    const { token, level } = this.props;
    return next.token.raw !== token.raw || next.token.type !== token.type || next.level !== level;
  }

  render({ token, level }) {
    if (token.type === "heading") return h(`h${level}`, { dir: "auto" }, inline(token.tokens));
    return block(token, 0);
  }
}

function blocks(tokens, depth) {
  return tokens.map((token) => block(token, depth));
}

function block(token, depth) {
  if (depth > DEEPEST) return plain(token);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "literal":
      return html`<span class="as-is">${token.raw}</span>`;
    case "hr":
      return html`<hr />`;
    case "heading": // in a list or a quotation, where it is none of the page's own
      return html`<p><strong>${inline(token.tokens, depth)}</strong></p>`;
    case "paragraph":
      return html`<p dir=${direction(depth)}>${inline(token.tokens, depth)}</p>`;
    case "blockquote":
      return html`<blockquote dir=${direction(depth)}>${blocks(token.tokens, depth + 1)}</blockquote>`;
    case "code":
      return html`<${CodeBlock} text=${token.text} language=${token.lang} />`;
    case "list":
      return list(token, depth);
    case "table":
      return table(token, depth);
    case "text":
      return token.tokens ? inline(token.tokens, depth) : decoded(token.text);
    default:
      return inlineToken(token, depth);
  }
}

/** An outermost block runs as its own text does; what is in it goes with it. */
function direction(depth) {
  return depth === 0 ? "auto" : undefined;
}

function list(token, depth) {
  const items = token.items.map(
    (item) => html`<li class=${item.task ? "task" : undefined}>
      ${item.task && html`<span aria-hidden="true">${item.checked ? "☑ " : "☐ "}</span>`}
      ${item.task && html`<span class="visually-hidden">${item.checked ? "Done: " : "To do: "}</span>`}
      ${blocks(
        item.tokens.filter((one) => one.type !== "checkbox"),
        depth + 1,
      )}
    </li>`,
  );
  if (!token.ordered) return html`<ul dir=${direction(depth)}>${items}</ul>`;
  const start = Number(token.start);
  const first = Number.isSafeInteger(start) ? start : 1;
  return html`<ol dir=${direction(depth)} start=${first}>${items}</ol>`;
}

function table(token, depth) {
  const side = (column) => (token.align[column] ? `at-${token.align[column]}` : undefined);
  const head = token.header.map(
    (cell, at) =>
      html`<th scope="col" dir="auto" class=${side(at)}>${inline(cell.tokens, depth)}</th>`,
  );
  const cells = (row) =>
    row.map((cell, at) => html`<td dir="auto" class=${side(at)}>${inline(cell.tokens, depth)}</td>`);
  const rows = token.rows.map((row) => html`<tr>${cells(row)}</tr>`);
  return html`<${ScrollBox} class="wide" label="Table">
    <table>
      <thead><tr>${head}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  <//>`;
}

function inline(tokens = [], depth = 0) {
  return tokens.map((token) => inlineToken(token, depth));
}

function inlineToken(token, depth) {
  if (depth > DEEPEST) return plain(token);
  switch (token.type) {
    case "strong":
      return html`<strong>${inline(token.tokens, depth + 1)}</strong>`;
    case "em":
      return html`<em>${inline(token.tokens, depth + 1)}</em>`;
    case "del":
      return html`<del>${inline(token.tokens, depth + 1)}</del>`;
    case "codespan":
      return html`<code>${token.text}</code>`;
    case "br":
      return html`<br />`;
    case "link":
      return link(token.href, inline(token.tokens, depth + 1), token.raw);
    case "image":
      return link(token.href, `[image: ${token.text || token.href}]`, token.raw);
    case "text":
      return token.tokens ? inline(token.tokens, depth + 1) : decoded(token.text);
    case "escape":
      return token.text;
    case "literal":
      return html`<span class="as-is">${token.raw}</span>`;
    default:
      return plain(token); // raw HTML among others
  }
}

/** The characters that entities of Markdown stand for. */
export function decoded(text) {
  return text.replace(ENTITY, (whole, name, decimal, hex) => {
    if (name) return NAMED[name.toLowerCase()];
    const point = decimal ? Number(decimal) : parseInt(hex, 16);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

function plain(token) {
  return token.raw ?? "";
}

function link(href, children, raw) {
  const target = safeAddress(href);
  if (target === null) return raw;
  return html`<a href=${target} target="_blank" rel="noopener noreferrer">${children}</a>`;
}

/** @returns {string | null} null: a link must not lead there */
export function safeAddress(href) {
  try {
    const url = new URL(href);
    return SCHEMES.has(url.protocol) ? url.href : null;
  } catch {
    return null; // relative: to this server's own pages, which no text of others should use
  }
}
