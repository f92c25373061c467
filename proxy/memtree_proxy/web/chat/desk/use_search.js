/** The chats that hold typed words, in their title or in what was said. */
import { useEffect, useState } from "../../vendor/preact.js";

const WAIT = 200; // ms without a key, until the messages are looked through
const MOST_WORDS = 10;

/**
 * @param {string} typed
 * @returns {((text: string) => boolean) | null} whether a text holds every word; null: none is typed
 */
export function matcher(typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  if (!words.length) return null;
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}

/**
 * @param {typeof import("./desk.js").desk} desk
 * @param {string} typed
 * @returns {{chats: import("../store/chat_store.js").Chat[], looking: boolean}} those whose title
 *   matches at once, those of which a message does as soon as they are found; all without words
 */
export function useSearch(desk, typed) {
  const [said, setSaid] = useState({ typed: "", ids: new Set() });
  useEffect(() => {
    const matches = matcher(typed);
    if (!matches) return undefined;
    let wanted = true;
    const look = async () => {
      const ids = await desk.store.search(matches);
      if (wanted) setSaid({ typed, ids });
    };
    const timer = setTimeout(() => look().catch(() => wanted && setSaid({ typed, ids: new Set() })), WAIT);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [desk, typed]);
  const matches = matcher(typed);
  if (!matches) return { chats: desk.chats, looking: false };
  const ids = said.typed === typed ? said.ids : new Set();
  const chats = desk.chats.filter(({ id, title }) => ids.has(id) || matches(title));
  return { chats, looking: said.typed !== typed };
}
