/**
 * One stream of changes for each source and tab, however many parts of the page listen to it: a
 * server gives a tenant eight streams, and a browser gives a site six connections.
 */
const shared = new Map();

/**
 * @param {string} key Of the source.
 * @param {(handlers: {onEvent: Function, onOpen: Function, onProblem: Function}) => () => void} open
 *   Begins the stream, and returns what ends it.
 * @param {{onEvent?: Function, onOpen?: Function, onProblem?: Function}} listener `onOpen` is also
 *   called, a moment later, where the stream is open already.
 * @returns {() => void} Stops listening; the last one to stop ends the stream.
 */
export function listenTogether(key, open, listener) {
  let stream = shared.get(key);
  if (!stream) {
    stream = { listeners: new Set(), opened: false, stop: null };
    shared.set(key, stream);
    begin(stream, open);
  }
  stream.listeners.add(listener);
  if (stream.opened) {
    queueMicrotask(() => stream.listeners.has(listener) && listener.onOpen?.());
  }
  return () => {
    if (!stream.listeners.delete(listener) || stream.listeners.size) return;
    if (shared.get(key) === stream) shared.delete(key);
    stream.stop();
  };
}

function begin(stream, open) {
  const tell = (name, value) => [...stream.listeners].forEach((one) => one[name]?.(value));
  stream.stop = open({
    onEvent: (event) => tell("onEvent", event),
    onOpen() {
      stream.opened = true;
      tell("onOpen");
    },
    onProblem(error) {
      stream.opened = false;
      tell("onProblem", error);
    },
  });
}
