/** Narrows a tree to a file or a tool: by the anchors of its leaves and, where the text is at hand, by what was called. */

import { strings } from "./history.js";

const MOST = 300; // names that are offered
const LINE = /:\d+$/;
const FILE = /^(?=\S+$)(?:.*\/.+|.*[\w)\]]\.[a-z]\w{0,9})$/i;

export class PartFilter {
  #model;
  #anchors; // by leaf, in lower case
  #calls = []; // {leaf, tool, text}: tool calls of the history, in lower case

  /**
   * @param {import("./tree_model.js").TreeModel} model
   * @param {import("./history.js").History | null} history
   */
  constructor(model, history) {
    this.#model = model;
    const files = new Map();
    const tools = new Set();
    this.#anchors = model.leaves.map((leaf) => {
      const anchors = model.nodes[leaf].anchors ?? [];
      for (const name of new Set(anchors.filter((one) => FILE.test(one)))) {
        const file = name.replace(LINE, "");
        files.set(file, (files.get(file) ?? 0) + 1);
      }
      return anchors.join("\n").toLowerCase();
    });
    (history?.messages ?? []).forEach((message, number) => {
      for (const { text, call } of strings(message)) {
        if (!call) continue;
        tools.add(call);
        const leaf = model.leafAt(number);
        this.#calls.push({ leaf, tool: call.toLowerCase(), text: text.toLowerCase() });
      }
    });
    const often = [...files].sort((one, other) => other[1] - one[1]).slice(0, MOST);
    /** Tools first, then the files that most leaves name, each in order of the alphabet. */
    this.names = [...[...tools].sort(), ...often.map(([name]) => name).sort()];
  }

  /** The leaves that name it or call it, as marks by node; null where nothing is asked for. */
  find(name) {
    const wanted = name.trim().toLowerCase();
    if (!wanted) return null;
    const within = new Uint8Array(this.#model.count);
    this.#model.leaves.forEach((leaf, at) => {
      if (this.#anchors[at].includes(wanted)) within[leaf] = 1;
    });
    for (const { leaf, tool, text } of this.#calls) {
      if (leaf >= 0 && (tool === wanted || text.includes(wanted))) within[leaf] = 1;
    }
    return within;
  }
}
