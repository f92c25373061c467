/**
 * What the model sees of a tree: for each node one of five states, and the excerpts, rules and candidates with the
 * leaf that each stands in. Made from an answer with `explain`, or from the plan that the server keeps.
 */

import { firstRecent } from "./history.js";

export const HIDDEN = 0;
export const OPENED = 1;
export const QUOTED = 2;
export const PINNED = 3;
export const RECENT = 4;

/** By state: its name, and what it means for the model. */
export const STATES = [
  { name: "hidden", means: "the model does not see it; it can be unfolded for another question" },
  { name: "opened", means: "its summary stands in the memory message" },
  { name: "quoted", means: "passages of it are quoted letter for letter" },
  { name: "pinned", means: "a passage that stays visible whatever is asked" },
  { name: "recent", means: "its messages are sent as they are" },
];

const PINS = new Set(["rule", "kept", "ask", "card", "trail", "step", "tail"]);

const REASONS = {
  excerpt: "it ranks high for the question",
  user: "the user said it, and it ranks high among what the user said",
  line: "it is a telling line of a long answer",
  rule: "it is a standing request of the user",
  kept: "it is marked to stay, by the user or the request",
  ask: "it is the request that the latest tool calls work for",
  card: "it is the persona card at the beginning",
  trail: "it is one of the latest tool calls",
  step: "it is one of the latest tool calls",
  recalled: "it was recalled for one message of this stretch",
  decayed: "it is the beginning or end of a message that found no room as a whole",
  earlier: "it was chosen when this stretch began",
};

/** Why an excerpt is shown, as the end of the sentence "Shown because ...". */
export function reasonText(reason) {
  return REASONS[reason] ?? (reason ? String(reason) : "it was chosen when this stretch began");
}

export function isPin(reason) {
  return PINS.has(reason);
}

export class Picture {
  /**
   * @param {import("./tree_model.js").TreeModel} model
   * @param {{nodes: object[], excerpts: object[], candidates?: object[], rules?: object[], work?: object[],
   *   cut: number, recent?: number, leafOf: (place: object) => number}} seen
   *   `cut`: the first message that is sent as it is; `recent`: how many tokens these are
   */
  constructor(model, { nodes, excerpts, candidates = [], rules = [], work = [], cut, recent, leafOf }) {
    this.model = model;
    this.cut = cut;
    this.rules = rules;
    this.recent = recent;
    this.opened = new Map();
    for (const node of nodes) {
      const index = model.byId.get(node.id);
      if (index !== undefined) this.opened.set(index, node);
    }
    this.excerpts = ranked(excerpts).map((excerpt) => ({
      ...excerpt,
      leaf: this.#leaf(excerpt, leafOf),
    }));
    this.candidates = candidates.map((candidate) => ({
      ...candidate,
      leaf: this.#leaf(candidate, leafOf),
    }));
    /** Files and commands of the log of what was done. */
    this.work = work.map((one) => ({ ...one, leaf: leafOf(one) }));
    this.states = this.#states();
    this.shares = this.#shares();
    this.sums = this.#sums();
  }

  /** The deepest node above an excerpt is a leaf where that leaf was opened; else its place tells. */
  #leaf(place, leafOf) {
    const above = place.path?.length ? this.model.byId.get(place.path.at(-1)) : undefined;
    return above !== undefined && this.model.isLeaf(above) ? above : leafOf(place);
  }

  #states() {
    const { model, cut, opened, excerpts } = this;
    const states = new Uint8Array(model.count);
    for (const index of opened.keys()) {
      for (let up = index; up >= 0 && states[up] !== OPENED; up = model.parent[up])
        states[up] = OPENED;
    }
    for (const { leaf, reason } of excerpts) {
      if (leaf >= 0 && states[leaf] !== PINNED) states[leaf] = isPin(reason) ? PINNED : QUOTED;
    }
    for (let i = 0; i < model.count; i++) {
      if (model.nodes[i].messages[0] >= cut) states[i] = RECENT;
    }
    return states;
  }

  /** By node: how much of a leaf is quoted, 0 to 1. */
  #shares() {
    const { model, excerpts } = this;
    const shares = new Float32Array(model.count);
    for (const excerpt of excerpts) {
      if (excerpt.leaf >= 0)
        shares[excerpt.leaf] += (excerpt.tokens ?? 0) / model.size[excerpt.leaf];
    }
    return shares.map((share) => Math.min(1, share));
  }

  /** What the legend says of each state: tokens, but of the opened ones how many there are. */
  #sums() {
    const sums = STATES.map(() => 0);
    for (const leaf of this.model.leaves) {
      const state = this.states[leaf];
      if (state === HIDDEN || state === RECENT) sums[state] += this.model.size[leaf];
    }
    for (const { reason, tokens } of this.excerpts)
      sums[isPin(reason) ? PINNED : QUOTED] += tokens ?? 0;
    sums[OPENED] = this.opened.size;
    sums[RECENT] = this.recent ?? sums[RECENT];
    return sums;
  }

  /**
   * Of `excerpts` or `candidates`, those in a node or below it, the best first. At the top those
   * are listed, too, whose leaf is not stored: the end of a conversation that is still growing.
   */
  within(list, index) {
    const first = this.model.parent[index] < 0 ? -1 : index;
    const end = this.model.end[index];
    return list.filter(({ leaf }) => leaf >= first && leaf < end);
  }
}

/** The excerpts with their rank, best first: 1 is the best; those that were not ranked come last, with null. */
function ranked(excerpts) {
  const scored = excerpts.map((excerpt) => ({ excerpt, score: excerpt.scores?.fused ?? null }));
  const order = scored
    .filter(({ score }) => score !== null)
    .sort((one, other) => other.score - one.score);
  const ranks = new Map(order.map(({ excerpt }, index) => [excerpt, index + 1]));
  const all = excerpts.map((excerpt) => ({
    ...excerpt,
    rank: excerpt.rank ?? ranks.get(excerpt) ?? null,
  }));
  return all.sort((one, other) => (one.rank ?? Infinity) - (other.rank ?? Infinity) || 0);
}

/** What an answer with `explain` shows of a history at hand. */
export function ofAnswer(model, history, answer) {
  const { nodes, excerpts, candidates, rules, log: work } = answer.explain;
  const { state, recent_tokens: recentTokens } = answer.memory;
  const whole = state === "passed" || state === "below-threshold";
  const cut = whole ? 0 : firstRecent(history.messages, answer.messages);
  const recent = whole ? undefined : recentTokens;
  const leafOf = (place) => model.leafAt(place.message, history.character({ start: 0, ...place }));
  return new Picture(model, { nodes, excerpts, candidates, rules, work, cut, recent, leafOf });
}

/** What the plan of a known conversation shows: places, no text. */
export function ofPlan(model, plan) {
  const recalled = (plan.recall ?? []).flatMap((block) =>
    block.excerpts.map((each) => ({ reason: "recalled", ...each })),
  );
  const pinned = (plan.rules ?? []).map((rule) => ({ tokens: null, ...rule, reason: "rule" }));
  const leafOf = (place) => model.leafAt(place.message, place.start);
  return new Picture(model, {
    nodes: plan.nodes ?? [],
    excerpts: [...pinned, ...(plan.excerpts ?? []), ...recalled],
    work: plan.log ?? [],
    cut: plan.epoch ? plan.cut : Infinity,
    leafOf,
  });
}
