/**
 * Reads server-sent events, as https://html.spec.whatwg.org/multipage/server-sent-events.html
 * describes them, from text that comes in pieces. No input or output of its own.
 *
 * @typedef {{id: string | null, type: string, data: string}} StreamEvent
 */

const MOST_CHARACTERS = 16 * 1024 * 1024; // of one event: more is no event of ours

export class EventParser {
  constructor() {
    this.pieces = []; // of a line that has not ended
    this.held = 0; // characters in `pieces` and `data`
    this.data = [];
    this.type = "";
    this.id = null; // as the lines so far say
    /** @type {string | null} what to come back with; an event without data may have told it */
    this.lastId = null;
    this.afterReturn = false;
  }

  /**
   * @param {string} text the next piece
   * @returns {StreamEvent[]} the events that end in it
   */
  push(text) {
    const events = [];
    let start = 0;
    if (this.afterReturn && text.startsWith("\n")) start = 1;
    if (text) this.afterReturn = text.endsWith("\r");
    const ends = /\r\n|\r|\n/g;
    ends.lastIndex = start;
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      this.pieces.push(text.slice(start, end.index));
      start = ends.lastIndex;
      this.takeLine(this.pieces.join(""), events);
      this.pieces = [];
    }
    const rest = text.slice(start);
    if (rest) this.pieces.push(rest);
    this.held += rest.length;
    if (this.held > MOST_CHARACTERS) throw new Error("An event of this stream is too long.");
    return events;
  }

  takeLine(line, events) {
    if (line === "") {
      this.lastId = this.id;
      if (this.data.length) {
        events.push({ id: this.id, type: this.type || "message", data: this.data.join("\n") });
      }
      this.data = [];
      this.type = "";
      this.held = 0;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment: a sign of life
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") {
      this.data.push(value);
      this.held += value.length;
    } else if (field === "event") {
      this.type = value;
    } else if (field === "id" && !value.includes("\0")) {
      this.id = value;
    }
  }
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {EventParser} [parser] where whoever reads wants its `lastId`
 * @returns {AsyncGenerator<StreamEvent>} the events of an answer as they come
 */
export async function* readEvents(body, parser = new EventParser()) {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {}); // whoever stops listening ends the request
  }
}
