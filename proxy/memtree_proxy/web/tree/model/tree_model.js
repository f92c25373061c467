/**
 * The tree of summaries as flat arrays, in reading order: a node stands before its children, and all that lies below
 * node `i` has the indices `i + 1` to `end[i] - 1`. So whatever is asked of it is one linear pass, or one look-up.
 */

/**
 * @typedef {object} TreeNode
 * @property {string} id
 * @property {number} level leaf 0
 * @property {string[]} children
 * @property {[number, number]} messages the first and the last, as posted
 * @property {[number, number]} [chars] of a leaf: where it begins in its first and ends in its last message
 * @property {number} tokens
 * @property {string} headline
 * @property {string} body
 * @property {string[]} anchors
 * @property {"extracted" | "model"} summary
 * @property {boolean} sealed
 */

export class TreeModel {
  /** @param {{nodes: TreeNode[], roots: string[]}} tree as the server answers it */
  constructor({ nodes, roots }) {
    const given = new Map(nodes.map((node) => [node.id, node]));
    /** @type {TreeNode[]} */
    this.nodes = [];
    const parents = [];
    const waiting = roots.map((id) => [id, -1]).reverse();
    while (waiting.length) {
      const [id, parent] = waiting.pop();
      const node = given.get(id);
      if (!node) continue;
      given.delete(id); // an id that comes twice stands once, so that nothing can go in circles
      const index = this.nodes.push(node) - 1;
      parents.push(parent);
      for (let child = node.children.length - 1; child >= 0; child--)
        waiting.push([node.children[child], index]);
    }
    const count = this.nodes.length;
    this.count = count;
    this.parent = Int32Array.from(parents);
    this.depth = new Uint16Array(count);
    this.end = new Int32Array(count);
    this.position = new Int32Array(count);
    this.siblings = new Int32Array(count);
    this.start = new Float64Array(count);
    this.size = new Float64Array(count);
    this.byId = new Map(this.nodes.map((node, index) => [node.id, index]));
    this.#measure();
  }

  /** Depths, ends, places among siblings, and the tokens before each node. */
  #measure() {
    const { count, parent, depth, end, position, siblings, start, size, nodes } = this;
    const born = new Int32Array(count);
    const height = new Uint16Array(count); // levels below
    let tops = 0;
    for (let i = 0; i < count; i++) {
      depth[i] = parent[i] < 0 ? 0 : depth[parent[i]] + 1;
      position[i] = parent[i] < 0 ? ++tops : ++born[parent[i]];
    }
    for (let i = 0; i < count; i++) siblings[i] = parent[i] < 0 ? tops : born[parent[i]];
    for (let i = count - 1; i >= 0; i--) {
      if (!end[i]) end[i] = i + 1;
      if (!born[i]) size[i] = Math.max(1, Number(nodes[i].tokens) || 0);
      if (parent[i] >= 0) {
        end[parent[i]] = Math.max(end[parent[i]], end[i]);
        height[parent[i]] = Math.max(height[parent[i]], height[i] + 1);
        size[parent[i]] += size[i];
      }
    }
    let tokens = 0;
    for (let i = 0; i < count; i++) {
      start[i] = tokens;
      if (!born[i]) tokens += size[i];
    }
    this.tokens = tokens;
    this.rows = count ? 1 + depth.reduce((most, each) => Math.max(most, each), 0) : 0;
    this.#place(height);
    this.leaves = Array.from({ length: count }, (_, i) => i).filter((i) => !born[i]);
  }

  /** In the drawing leaves stand in one row at the bottom, and a node reaches up to the one above it. */
  #place(height) {
    this.bottomRow = height.map((below) => this.rows - 1 - below);
    this.topRow = this.bottomRow.map((_, i) =>
      this.parent[i] < 0 ? 0 : this.bottomRow[this.parent[i]] + 1,
    );
  }

  isLeaf(index) {
    return this.end[index] === index + 1;
  }

  /** The node itself last, the top first. */
  path(index) {
    const found = [];
    for (let i = index; i >= 0; i = this.parent[i]) found.push(i);
    return found.reverse();
  }

  /**
   * The rows of the list: all nodes below which nothing is closed, or where `kept` is given those alone.
   * @param {Uint8Array} expanded by node
   * @param {Uint8Array | null} kept by node
   */
  rowsShown(expanded, kept = null) {
    const rows = [];
    for (let i = 0; i < this.count;) {
      if (kept && !kept[i]) {
        i = this.end[i];
        continue;
      }
      rows.push(i);
      i = kept || expanded[i] ? i + 1 : this.end[i];
    }
    return rows;
  }

  /** The leaf that holds a character of a message, found by halving; -1 where there is none. */
  leafAt(message, character = 0) {
    const { leaves, nodes } = this;
    let low = 0;
    let high = leaves.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { messages, chars } = nodes[leaves[middle]];
      const end = chars?.[1] ?? Infinity; // null: at the end of its last message
      if (messages[1] < message || (messages[1] === message && end <= character)) low = middle + 1;
      else high = middle;
    }
    const holds = (leaf) =>
      leaf !== undefined &&
      nodes[leaf].messages[0] <= message &&
      message <= nodes[leaf].messages[1];
    return [leaves[low], leaves[low - 1]].find(holds) ?? -1;
  }
}

/** Searches headlines, bodies and anchors; the texts are made lower case once. */
export class NodeSearch {
  #model;
  #texts = null;

  /** @param {TreeModel} model */
  constructor(model) {
    this.#model = model;
  }

  /**
   * @param {string} words all of them must stand in a node
   * @param {Uint8Array | null} [within] by node: those that may be a hit
   * @returns {{hits: number[], kept: Uint8Array} | null} `kept`: the hits and the nodes above them; null where nothing is looked for
   */
  find(words, within = null) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
    if (!wanted.length && !within) return null;
    const { nodes, count, parent } = this.#model;
    this.#texts ??= nodes.map((node) =>
      `${node.headline}\n${node.body}\n${(node.anchors || []).join("\n")}`.toLowerCase(),
    );
    const hits = [];
    const kept = new Uint8Array(count);
    for (let i = 0; i < count; i++) {
      if (within && !within[i]) continue;
      if (!wanted.every((word) => this.#texts[i].includes(word))) continue;
      hits.push(i);
      for (let up = i; up >= 0 && !kept[up]; up = parent[up]) kept[up] = 1;
    }
    return { hits, kept };
  }
}
