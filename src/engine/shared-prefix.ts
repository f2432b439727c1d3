/**
 * Attention over a prefix that all rows of a batch share, held once for all of them. The scores against the prefix are
 * one product for the whole batch (its rows folded together) joined to each row's own scores before the softmax, so the
 * result is that of attention over prefix and own text. Where key and value heads are shared by several query heads, the
 * products are grouped in place of repeating keys and values. Both are what makes a few-shot prompt nearly free in
 * decoding: a repeated prefix of 900 tokens costs a 135M model more than all of its weights.
 *
 * The idea of a separate product for the shared part is known as Hydragen (Juravsky et al. 2024).
 */

import type { CacheSignature } from '../model/index.ts';
import type { Graph, GraphNode } from '../onnx/index.ts';

/** Inputs that the edit adds: [heads, prefix, head size] per cache tensor; a prefix of length 0 is none. */
export const prefixInput = (past: string): string => `softbench.prefix.${past}`;

interface ScalarStep {
  node: GraphNode;
  /** Position of the operand that is the tensor; the other is a scalar. */
  at: number;
}

interface AttentionSite {
  pastKey: string;
  pastValue: string;
  /** Past and new joined: [batch, heads, time, head size]. */
  keys: string;
  values: string;
  /** Keys and values are repeated for several query heads. */
  repeated: boolean;
  scores: GraphNode;
  /** Scalings of the keys on their way into the product. */
  keyScalings: ScalarStep[];
  /** What happens to the scores before the softmax and also concerns the prefix: scaling, soft-capping, type. */
  scoreSteps: ScalarStep[];
  softmax: GraphNode;
  mix: GraphNode;
}

type Consumers = Map<string, GraphNode[]>;

/** The one node that does more with a value than ask for its shape. */
function onlyReader(consumers: Consumers, value: string): GraphNode | null {
  const readers = (consumers.get(value) ?? []).filter(({ operator }) => operator !== 'Shape');
  return readers.length === 1 ? (readers[0] ?? null) : null;
}

/** Follows keys or values into their product. */
function followInto(consumers: Consumers, start: string) {
  const scalings: ScalarStep[] = [];
  let [value, repeated, transposed] = [start, false, false];
  for (let steps = 0; steps < 12; steps++) {
    const node = onlyReader(consumers, value);
    if (!node) return null;
    const at = node.inputs.indexOf(value);
    if (node.operator === 'MatMul' && at === 1) return { product: node, repeated, transposed, scalings };
    if (['Unsqueeze', 'Expand', 'Reshape'].includes(node.operator) && at === 0) repeated = true;
    else if (node.operator === 'Transpose' && node.ints('perm')?.join() === '0,1,3,2') transposed = !transposed;
    else if (node.operator === 'Mul' || (node.operator === 'Div' && at === 0)) scalings.push({ node, at });
    else if (node.operator !== 'Identity') return null;
    value = node.output();
  }
  return null;
}

/** Follows the scores to their softmax, past the mask. */
function followScores(consumers: Consumers, start: string) {
  const steps: ScalarStep[] = [];
  let value = start;
  for (let count = 0; count < 12; count++) {
    const node = onlyReader(consumers, value);
    if (!node) return null;
    const at = node.inputs.indexOf(value);
    if (node.operator === 'Softmax') {
      const axis = node.int('axis', -1);
      return axis === -1 || axis === 3 ? { softmax: node, steps } : null;
    }
    if (['Mul', 'Tanh', 'Cast'].includes(node.operator) || (node.operator === 'Div' && at === 0))
      steps.push({ node, at });
    // The mask: nothing of a prefix is ever hidden.
    else if (node.operator !== 'Add' && node.operator !== 'Identity' && !(node.operator === 'Where' && at > 0))
      return null;
    value = node.output();
  }
  return null;
}

function findSites(graph: Graph, cache: CacheSignature, joined: ReadonlyMap<string, string>): AttentionSite[] | null {
  const consumers = graph.consumers();
  const producers = graph.producers();
  const sites: AttentionSite[] = [];
  for (let layer = 0; layer < cache.tensors.length; layer += 2) {
    const pair = [cache.tensors[layer]?.past ?? '', cache.tensors[layer + 1]?.past ?? ''];
    // "past_key_values" names both.
    const part = (word: string): string | undefined =>
      pair.find((name) => name.replace('past_key_values', '').includes(word));
    const pastKey = part('key');
    const pastValue = part('value');
    const keys = joined.get(pastKey ?? '');
    const values = joined.get(pastValue ?? '');
    if (!pastKey || !pastValue || !keys || !values) return null;
    const key = followInto(consumers, keys);
    const value = followInto(consumers, values);
    const scores = key && followScores(consumers, key.product.output());
    if (!key?.transposed || !value || value.transposed || value.scalings.length || !scores) return null;
    if (key.repeated !== value.repeated) return null;
    // Between softmax and mix only what treats every score alone (a guard against NaN, a type).
    let probabilities: GraphNode | undefined = producers.get(value.product.input(0));
    for (let steps = 0; probabilities && probabilities !== scores.softmax; steps++) {
      const next: string | undefined = {
        Where: probabilities.input(2),
        Cast: probabilities.input(0),
        Identity: probabilities.input(0),
      }[probabilities.operator];
      if (next === undefined || steps > 4) return null;
      probabilities = producers.get(next);
    }
    if (!probabilities) return null;
    sites.push({
      pastKey,
      pastValue,
      keys,
      values,
      repeated: key.repeated,
      scores: key.product,
      keyScalings: key.scalings,
      scoreSteps: scores.steps,
      softmax: scores.softmax,
      mix: value.product,
    });
  }
  return sites;
}

/** Shapes that every layer's edit needs, computed once in the graph. */
interface Shapes {
  grouped: string;
  folded: string;
  /** [batch, heads, query, …] with the last dimension open, of the prefix, of a head. */
  scores: string;
  prefixScores: string;
  groupedPrefix: string;
  foldedPrefix: string;
  flatPrefix: string;
  foldedHead: string;
  head: string;
  length: string;
  groupedOpen: string;
}

function sharedShapes(graph: Graph, site: AttentionSite, { heads, headSize }: CacheSignature): Shapes {
  const add = graph.add.bind(graph);
  const take = (shape: string, ...axes: number[]): string => add('Gather', [shape, graph.int64s(axes)]);
  const join = (...parts: string[]): string => add('Concat', parts, { attributes: { axis: 0 } });
  const query = add('Shape', [site.scores.input(0)]);
  const front = take(query, 0, 1, 2);
  const batch = take(query, 0);
  const length = take(add('Shape', [prefixInput(site.pastKey)]), 1);
  const grouped = graph.int64s([0, heads, -1, headSize]);
  // Query heads per key head × query positions.
  const group = take(add('Shape', [add('Reshape', [site.scores.input(0), grouped])]), 2);
  const headCount = graph.int64s([heads]);
  const width = graph.int64s([headSize]);
  const rest = graph.int64s([-1]);
  const rows = add('Mul', [batch, group]);
  return {
    grouped,
    folded: graph.int64s([heads, -1, headSize]),
    scores: join(front, rest),
    prefixScores: join(front, length),
    groupedPrefix: join(batch, headCount, group, length),
    foldedPrefix: join(headCount, batch, group, length),
    flatPrefix: join(headCount, rows, length),
    foldedHead: join(headCount, batch, group, width),
    head: join(front, width),
    length,
    groupedOpen: join(batch, headCount, group, rest),
  };
}

function editSite(graph: Graph, site: AttentionSite, shapes: Shapes): void {
  const add = graph.add.bind(graph);
  const swap = (value: string): string => add('Transpose', [value], { attributes: { perm: [1, 0, 2, 3] } });
  // A size of 0 means 0 here, not "as before".
  const reshape = (value: string, shape: string): string =>
    add('Reshape', [value, shape], { attributes: { allowzero: 1 } });
  /** The same scalar operation on another tensor. */
  const again = (value: string, { node, at }: ScalarStep): string => {
    const copy = node.clone();
    copy.inputs[at] = value;
    copy.outputs = [graph.fresh('softbench.scaled')];
    copy.name = '';
    graph.nodes.push(copy);
    return copy.output();
  };
  let query = site.scores.input(0);
  for (const step of site.keyScalings) {
    // Scaling the keys is scaling the query; a division's scalar stands second as before.
    query = again(query, step);
  }
  const grouped = add('Reshape', [query, shapes.grouped]);

  const own = site.scores.output();
  if (site.repeated) {
    const keys = add('Transpose', [site.keys], { attributes: { perm: [0, 1, 3, 2] } });
    graph.nodes.splice(graph.nodes.indexOf(site.scores), 1);
    add('Reshape', [add('MatMul', [grouped, keys]), shapes.scores], { outputs: [own] });
  }
  const folded = add('Reshape', [swap(grouped), shapes.folded]);
  const prefixKeys = add('Transpose', [prefixInput(site.pastKey)], { attributes: { perm: [0, 2, 1] } });
  const prefixProduct = reshape(add('MatMul', [folded, prefixKeys]), shapes.foldedPrefix);
  let prefixScores = reshape(swap(prefixProduct), shapes.prefixScores);
  for (const step of site.scoreSteps) prefixScores = again(prefixScores, step);
  site.softmax.inputs[0] = add('Concat', [prefixScores, site.softmax.input(0)], { attributes: { axis: 3 } });

  const probabilities = site.mix.input(0);
  const axis = graph.int64s([3]);
  const prefixPart = add('Slice', [probabilities, graph.int64s([0]), shapes.length, axis]);
  const ownPart = add('Slice', [probabilities, shapes.length, graph.int64s([2 ** 63]), axis]);
  const prefixMix = add('MatMul', [
    reshape(swap(reshape(prefixPart, shapes.groupedPrefix)), shapes.flatPrefix),
    prefixInput(site.pastValue),
  ]);
  const fromPrefix = add('Reshape', [swap(add('Reshape', [prefixMix, shapes.foldedHead])), shapes.head]);
  const output = site.mix.output();
  graph.nodes.splice(graph.nodes.indexOf(site.mix), 1);
  const fromOwn = site.repeated
    ? add('Reshape', [add('MatMul', [add('Reshape', [ownPart, shapes.groupedOpen]), site.values]), shapes.head])
    : add('MatMul', [ownPart, site.mix.input(1)]);
  add('Add', [fromPrefix, fromOwn], { outputs: [output] });
}

/**
 * Edits all attention layers in place, and adds the prefix inputs. `joined`: past → Concat(past, new). False, and nothing
 * changed, where a layer is not written as products and a softmax in the open. Needs opset 14 (Reshape to empty tensors).
 */
export function sharePrefix(
  graph: Graph,
  cache: CacheSignature,
  joined: ReadonlyMap<string, string>,
  opset: number,
): boolean {
  const uniform = cache.tensors.every(({ heads, headSize }) => heads === cache.heads && headSize === cache.headSize);
  const sites = opset >= 14 && uniform ? findSites(graph, cache, joined) : null;
  const [first] = sites ?? [];
  if (!sites || !first) return false;
  for (const { past } of cache.tensors)
    graph.inputs.push({
      name: prefixInput(past),
      dtype: cache.dtype,
      dims: [cache.heads, 'softbench_prefix', cache.headSize],
    });
  const shapes = sharedShapes(graph, first, cache);
  for (const site of sites) editSite(graph, site, shapes);
  return true;
}
