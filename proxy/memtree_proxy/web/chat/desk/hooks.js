/** What views look at: the desk, a conversation, the width of the window, the count of memories. */
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "../../vendor/preact.js";
import { chatSource } from "../../memories/sources.js";
import { desk } from "./desk.js";

/**
 * Draw again whenever `listen` tells, from the first drawing on.
 * @param {((tell: () => void) => () => void) | null} listen
 */
function useChanges(listen, on) {
  const [, again] = useReducer((count) => count + 1, 0);
  useLayoutEffect(() => listen?.(() => again()), on);
}

export function useDesk() {
  useChanges((tell) => desk.listen(tell), []);
  return desk;
}

/** @param {import("../conversation/conversation.js").Conversation | null} conversation */
export function useConversation(conversation) {
  useChanges(conversation && ((tell) => conversation.listen(tell)), [conversation]);
  return conversation;
}

/** @param {string} query a media query @returns {boolean} */
export function useMedia(query) {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const tell = () => setMatches(list.matches);
    tell();
    list.addEventListener("change", tell);
    return () => list.removeEventListener("change", tell);
  }, [query]);
  return matches;
}

/**
 * The number of memories of a chat, as other tabs and the model change it. A turn that saves some
 * is told so.
 * @param {import("../conversation/conversation.js").Conversation | null} conversation
 * @returns {[number | null, () => void]} null: not known (yet); and what asks anew
 */
export function useMemoryCount(conversation) {
  const chatId = conversation?.chat.id ?? null;
  const [count, setCount] = useState(null);
  const shown = useRef(chatId);
  const turn = useRef(0); // an answer to an older question says nothing any more
  shown.current = chatId;
  const take = (number) => {
    turn.current += 1;
    setCount(number);
  };
  const ask = () => {
    if (!shown.current) return;
    const asked = ++turn.current;
    const answer = chatSource(shown.current).count();
    answer.then((number) => asked === turn.current && setCount(number), () => {});
  };
  useEffect(() => {
    take(null);
    if (!chatId) return undefined;
    const source = chatSource(chatId);
    const note = async ({ id, type }) => {
      if (type === "deleted" || !conversation.inTurn) return;
      const { source: by } = await source.get(id);
      if (by !== "user") conversation.noteMemory(id);
    };
    return source.listen({
      onOpen: ask,
      onEvent: (event) => {
        if (Number.isInteger(event.count)) take(event.count);
        note(event).catch(() => {}); // it is gone again
      },
    });
  }, [conversation]);
  return [count, ask];
}
