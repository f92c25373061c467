/** Words for what memories hold. */

export const CATEGORIES = {
  chat: ["preference", "fact", "instruction"],
  user: ["fact", "preference", "schedule", "general", "snapshot"],
  agent: [],
};

const SOURCES = {
  user: "Saved by hand",
  model: "Saved by the model",
  extraction: "From a conversation",
  import: "Imported",
  agent: "Saved by the agent",
};

/** @returns {string} who saved a memory; "" where it is not told */
export function sourceLabel(source) {
  return SOURCES[source] || source;
}

/** Sources that a filter can ask for. */
export const SOURCE_NAMES = { chat: ["user", "model"], user: ["user", "model", "extraction", "import"] };

/** The beginning of a text, for a label or a message. */
export function excerpt(text, most = 60) {
  const line = text.replace(/\s+/g, " ").trim();
  const letters = [...line.slice(0, 2 * most + 2)];
  return letters.length > most ? `${letters.slice(0, most - 1).join("").trimEnd()}…` : line;
}
