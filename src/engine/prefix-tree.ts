/** Texts as a tree of what they begin with: each node is a beginning that several texts share, each leaf a text. */

/** Token ids; negative ones may stand for what has no id. */
export type Text = ArrayLike<number>;

export interface PrefixNode {
  /** Tokens that all texts below begin with. */
  depth: number;
  children: PrefixNode[];
  /** Texts that end here, by their number. */
  ends: number[];
  /** One text that begins so. */
  text: number;
  /** Leaves below, and texts below: more, where texts are equal or begin others. */
  leaves: number;
  texts: number;
}

/** Tokens that two texts have in common at their start. */
export function sameBeginning(a: Text, b: Text): number {
  const end = Math.min(a.length, b.length);
  let same = 0;
  while (same < end && a[same] === b[same]) same++;
  return same;
}

function compare(a: Text, b: Text): number {
  const same = sameBeginning(a, b);
  return same === a.length || same === b.length ? a.length - b.length : (a[same] ?? 0) - (b[same] ?? 0);
}

/**
 * The tree of the given texts, without nodes that have a single child and no text of their own; its root has depth 0.
 * Sorted, texts that share a beginning stand together, and neighbours tell how much.
 */
export function prefixTree(texts: readonly Text[]): PrefixNode {
  const at = (index: number): Text => texts[index] ?? [];
  const order = [...texts.keys()].sort((a, b) => compare(at(a), at(b)) || a - b);
  const root: PrefixNode = { depth: 0, children: [], ends: [], text: order[0] ?? 0, leaves: 0, texts: 0 };
  /** From the root to the newest leaf. */
  const path = [root];
  let before: Text = [];
  for (const index of order) {
    const text = at(index);
    const same = sameBeginning(before, text);
    before = text;
    let below: PrefixNode | undefined;
    while ((path.at(-1)?.depth ?? 0) > same) below = path.pop();
    let node = path.at(-1) ?? root;
    if (below && node.depth < same) {
      // The edge to the node below forks in its middle.
      const fork = { depth: same, children: [below], ends: [], text: below.text, leaves: 0, texts: 0 };
      node.children[node.children.length - 1] = fork;
      path.push(fork);
      node = fork;
    }
    if (text.length === node.depth) node.ends.push(index);
    else {
      const leaf = { depth: text.length, children: [], ends: [index], text: index, leaves: 0, texts: 0 };
      node.children.push(leaf);
      path.push(leaf);
    }
  }
  count(root);
  return root;
}

function count(node: PrefixNode): void {
  node.leaves = node.children.length ? 0 : 1;
  node.texts = node.ends.length;
  for (const child of node.children) {
    count(child);
    node.leaves += child.leaves;
    node.texts += child.texts;
  }
}

/** All texts below a node, and those that end at it. */
export function textsBelow(node: PrefixNode, found: number[] = []): number[] {
  for (const end of node.ends) found.push(end);
  for (const child of node.children) textsBelow(child, found);
  return found;
}
