/**
 * The messages of the shown branch. Of a long chat only the blocks near the window are drawn, and
 * those that somebody writes in; the others keep their height. The end is followed while an answer grows, until somebody scrolls up.
 */
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { Icon } from "../../shell/icons.js";
import { isWritten } from "./message/drafts.js";
import { LiveRegion } from "./message/growing_text.js";
import { MessageItem } from "./message/message.js";

const BLOCK = 20; // messages
const GUESS = 160; // px of a message that was never drawn
const NEAR = 900; // px around the window that are drawn
const BOTTOM = 60; // px that count as the end

/** @param {unknown[]} path @returns {{first: number, messages: unknown[]}[]} */
export function inBlocks(path) {
  const blocks = [];
  for (let first = 0; first < path.length; first += BLOCK) {
    blocks.push({ first, messages: path.slice(first, first + BLOCK) });
  }
  return blocks;
}

/**
 * @param {{conversation: import("../conversation/conversation.js").Conversation, memories: object,
 *   onWritten: () => void}} props `onWritten`: an edited message was sent
 */
export function MessageList({ conversation, memories, onWritten }) {
  const scroll = useRef(null);
  const pinned = useRef(true);
  const chosen = useRef(null); // the version that somebody has just gone to
  const [atEnd, setAtEnd] = useState(true);
  const path = conversation.path();
  const blocks = inBlocks(path);
  const near = useNear(scroll, blocks.length);

  const follow = () => {
    if (pinned.current && scroll.current) scroll.current.scrollTop = scroll.current.scrollHeight;
  };
  const toEnd = () => {
    pinned.current = true;
    setAtEnd(true);
    follow();
  };
  useLayoutEffect(toEnd, []);
  useLayoutEffect(() => {
    if (conversation.growing !== null) toEnd();
  }, [conversation.growing]);
  useLayoutEffect(follow);
  useEffect(() => {
    // Pictures of text change their height after they are drawn: blocks, opened parts, the window.
    const observer = new ResizeObserver(follow);
    observer.observe(scroll.current.firstElementChild);
    observer.observe(scroll.current);
    return () => observer.disconnect();
  }, []);

  /** At once: a scroll that takes time ends early where blocks on its way get their true height. */
  const jump = (event) => {
    if (event.target !== scroll.current) return;
    if (event.key === "End") toEnd();
    else if (event.key === "Home") scroll.current.scrollTop = 0;
    else return;
    event.preventDefault();
  };

  /** Another version of a message: it stays where it is, and so does the focus. */
  const show = (id, direction) => {
    pinned.current = false;
    chosen.current = { id, direction };
    conversation.show(id);
  };
  useLayoutEffect(() => {
    if (chosen.current === null) return;
    const { id, direction } = chosen.current;
    chosen.current = null;
    const arrows = scroll.current.querySelector(`[data-message="${id}"] .branches`);
    (arrows?.querySelector(`.${direction}:enabled`) ?? arrows?.querySelector(":enabled"))?.focus();
  });
  const acts = { show, written: onWritten };
  const places = sentPlaces(path, conversation.chat.system ? 1 : 0);
  const moved = () => {
    const { scrollTop, scrollHeight, clientHeight } = scroll.current;
    pinned.current = scrollHeight - scrollTop - clientHeight < BOTTOM;
    if (pinned.current !== atEnd) setAtEnd(pinned.current);
  };
  return html`<div class="thread-middle">
    <div class="thread-scroll" ref=${scroll} onScroll=${moved} onKeyDown=${jump} tabindex="0" role="group" aria-label="Messages">
      <div class="messages">
        <a class="visually-hidden skip-inside" href="#composer" onClick=${skip}>Skip to the message box</a>
        ${blocks.map((block, index) =>
          near.has(index) || block.messages.some(({ id }) => isWritten(id))
            ? html`<${Block} key=${index} index=${index} near=${near} block=${block} of=${path.length} conversation=${conversation} memories=${memories} acts=${acts} places=${places} />`
            : html`<${Gap} key=${index} index=${index} near=${near} block=${block} named=${near.has(index + 1)} />`,
        )}
      </div>
    </div>
    <${LiveRegion} conversation=${conversation} />
    ${!atEnd &&
    html`<button type="button" class="button small to-end" onClick=${toEnd}>
      <${Icon} name="down" /> To the newest
    </button>`}
  </div>`;
}

/**
 * The index of each message among those that are sent, by id.
 * @param {number} before messages that are sent before the first one: a system prompt
 */
function sentPlaces(path, before) {
  const sent = path.filter((message) => message.text !== "");
  return new Map(sent.map((message, index) => [message.id, before + index]));
}

function skip(event) {
  event.preventDefault();
  document.getElementById("composer")?.focus();
}

/** Which blocks are near the window; the last two always are. */
function useNear(scroll, total) {
  const [seen, setSeen] = useState(() => new Set());
  const observer = useRef(null);
  const heights = useRef(new Map());
  const waiting = useRef(new Map());
  useEffect(() => {
    observer.current = new IntersectionObserver(
      (entries) => {
        setSeen((before) => {
          const after = new Set(before);
          for (const { target, isIntersecting } of entries) {
            const index = Number(target.dataset.block);
            if (isIntersecting) after.add(index);
            else after.delete(index);
          }
          return same(before, after) ? before : after;
        });
      },
      { root: scroll.current, rootMargin: `${NEAR}px 0px` },
    );
    for (const element of waiting.current.keys()) observer.current.observe(element);
    return () => observer.current.disconnect();
  }, []);
  return {
    has: (index) => index >= total - 2 || seen.has(index),
    show: (index) => setSeen((before) => new Set([...before, index])),
    heights: heights.current,
    watch(element) {
      waiting.current.set(element, true);
      observer.current?.observe(element);
      return () => {
        waiting.current.delete(element);
        observer.current?.unobserve(element);
      };
    },
  };
}

function same(one, other) {
  return one.size === other.size && [...one].every((index) => other.has(index));
}

function Block({ index, near, block, of, conversation, memories, acts, places }) {
  const element = useRef(null);
  useEffect(() => near.watch(element.current), []);
  useEffect(() => {
    near.heights.set(index, element.current.offsetHeight);
  });
  return html`<div ref=${element} data-block=${index} class="message-block">
    ${block.messages.map(
      (message, at) => html`<${MessageItem}
        key=${message.id}
        message=${message}
        number=${block.first + at + 1}
        of=${of}
        place=${conversation.place(message)}
        sentAt=${places.get(message.id) ?? 0}
        growing=${conversation.growing === message.id}
        busy=${conversation.growing !== null}
        conversation=${conversation}
        memories=${memories}
        acts=${acts}
      />`,
    )}
  </div>`;
}

/** Where a block is not drawn. The one before drawn ones can be opened without scrolling. */
function Gap({ index, near, block, named }) {
  const element = useRef(null);
  useEffect(() => near.watch(element.current), []);
  const height = near.heights.get(index) ?? block.messages.length * GUESS;
  const first = block.first + 1;
  const last = block.first + block.messages.length;
  return html`<div ref=${element} data-block=${index} class="message-gap" style=${{ height: `${height}px` }}>
    ${named &&
    html`<button type="button" class="button small quiet" onClick=${() => near.show(index)}>
      Show messages ${count(first)} to ${count(last)}
    </button>`}
  </div>`;
}
