/**
 * The key that the page sends with every request: the one that the user's client uses, so that the
 * page sees the same memories and conversations. It lives in `sessionStorage` alone: it ends with
 * the tab, and no request carries it by itself as it would carry a cookie.
 */

const NAME = "memtree.key";
const listeners = new Set();

/**
 * @returns {string | null} null: nobody was asked yet; "": the user goes on without a key
 */
export function key() {
  return sessionStorage.getItem(NAME);
}

/** @param {string | null} value null: ask again with the next request */
export function setKey(value) {
  if (value === null) {
    sessionStorage.removeItem(NAME);
  } else {
    sessionStorage.setItem(NAME, value.trim());
  }
  for (const listener of [...listeners]) listener(key());
}

/**
 * @param {(value: string | null) => void} listener called after each change in this tab
 * @returns {() => void} ends that
 */
export function onKeyChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
