/**
 * The forward graph in the form whose way back is shortest: nodes that compute the same are one, and products, rotations
 * and guards stand as single operators of ONNX Runtime. One row per form; each looks at the last node of its group.
 * Everything is decided by the graph; a group that differs in any way stays as it is.
 */
import { eitherWay, type GraphNode, numbersOf, tensorOf } from '../onnx/index.ts';
import { mergeDuplicates } from './duplicates.ts';
import { guardedSoftmax, leastFloat } from './guards.ts';
import { sliceRanges, splitSizes } from './inference/index.ts';
import type { TypedGraph } from './typed-graph.ts';
import { axisOf, sameDims, size } from './types.ts';

interface Surroundings {
  g: TypedGraph;
  /** The node that makes a value, if it is one of the operators named. */
  made(value: string, ...operators: string[]): GraphNode | null;
  /** How many nodes and outputs read a value. */
  uses(value: string): number;
  /** Whether the value changes with the soft prompt. */
  varies(value: string): boolean;
  /** The number that a constant scalar holds, else null. */
  scalar(value: string): number | null;
  /** Constant tables made once for all layers. */
  memo: Map<string, string>;
}

/** Adds nodes and gives the one whose first output takes the place of the matched node's. */
type Form = (last: GraphNode, s: Surroundings) => GraphNode | null;

// ---------------------------------------------------------------- products

/** An operand as something simpler: value · factor, its last two axes swapped, each of its heads repeated. */
interface Operand {
  value: string;
  factor: number;
  transposed: boolean;
  /** How many query heads read each key or value head. */
  repeats: number;
}

/** Without a permutation a Transpose reverses all axes. */
const swapsLastTwo = (permutation: readonly number[] | null, rank: number): boolean =>
  permutation === null
    ? rank === 2
    : rank >= 2 &&
      permutation.every((axis, at) => axis === (at === rank - 2 ? rank - 1 : at === rank - 1 ? rank - 2 : at));

/** [batch, heads, …] whose heads are each repeated in a row: the value before that, and how often. */
function repeatedHeads(value: string, { g, made }: Surroundings): { base: string; repeats: number } | null {
  const join = made(value, 'Reshape');
  const repeat = join && made(join.input(0), 'Expand', 'Tile');
  if (!join || !repeat) return null;
  const open = repeat.input(0);
  const [to, from, out] = [g.dims(repeat.output()), g.dims(open), g.dims(value)];
  const [batch = 0, heads = 0, one = 0, rows = 0, columns = 0] = from;
  const repeats = to[2] ?? 0;
  const fits =
    from.length === 5 &&
    to.length === 5 &&
    one === 1 &&
    to.every((dim, axis) => axis === 2 || dim === from[axis]) &&
    out.length === 4 &&
    [batch, heads * repeats, rows, columns].every((dim, axis) => dim === out[axis]);
  if (!fits) return null;
  const before = made(open, 'Unsqueeze', 'Reshape');
  const base = before && g.dims(before.input(0)).length === 4 ? before.input(0) : null;
  return base !== null && [batch, heads, rows, columns].every((dim, axis) => dim === g.dims(base)[axis])
    ? { base, repeats }
    : null;
}

function operandOf(value: string, s: Surroundings, mayRepeat: boolean): Operand {
  const found: Operand = { value, factor: 1, transposed: false, repeats: 1 };
  for (;;) {
    const { value: at } = found;
    const scaled = s.made(at, 'Mul', 'Div');
    const turned = s.made(at, 'Transpose');
    const repeated = mayRepeat && found.repeats === 1 ? repeatedHeads(at, s) : null;
    if (scaled) {
      const [left, right] = [scaled.input(0), scaled.input(1)];
      const by = s.scalar(right);
      const [next, factor] = by !== null ? [left, by] : [right, scaled.operator === 'Mul' ? s.scalar(left) : null];
      if (!factor || !Number.isFinite(factor) || !sameDims(s.g.dims(next), s.g.dims(at))) return found;
      found.value = next;
      found.factor *= scaled.operator === 'Mul' ? factor : 1 / factor;
    } else if (turned && swapsLastTwo(turned.ints('perm'), s.g.dims(at).length)) {
      found.value = turned.input(0);
      found.transposed = !found.transposed;
    } else if (repeated) {
      found.value = repeated.base;
      found.repeats = repeated.repeats;
    } else return found;
  }
}

/**
 * A · B with scale, transposes and repeated heads taken into the product. Where each head of B serves several heads of
 * A, [batch, heads · repeats, rows, k] · [batch, heads, k, columns], the rows of these heads stand under each other
 * already: one product of repeats · rows rows a head, and B is never written out.
 */
const matrixProduct: Form = (last, s) => {
  const { g } = s;
  // Where the result is scaled, the product is the node before.
  const scaled = !last.domain && (last.operator === 'Mul' || last.operator === 'Div') ? last : null;
  let node = last;
  let after = 1;
  if (scaled) {
    const sides: [string, string][] =
      scaled.operator === 'Mul' ? eitherWay(scaled) : [[scaled.input(0), scaled.input(1)]];
    const side = sides.find(([value, by]) => s.scalar(by) && s.made(value, 'MatMul') && s.uses(value) === 1);
    const factor = side && s.scalar(side[1]);
    const product = side && s.made(side[0], 'MatMul');
    if (!product || !factor || !Number.isFinite(factor)) return null;
    node = product;
    after = scaled.operator === 'Mul' ? factor : 1 / factor;
    if (!sameDims(g.dims(scaled.output()), g.dims(product.output()))) return null;
  }
  if (node.domain || node.operator !== 'MatMul' || g.dtype(node.output()) !== 'float32') return null;
  const dims = g.dims(node.output());
  if (g.dims(node.input(0)).length < 2 || g.dims(node.input(1)).length < 2) return null;
  const a = operandOf(node.input(0), s, false);
  const b = operandOf(node.input(1), s, dims.length === 4 && g.dims(node.input(0)).length === 4);
  // Rows of grouped heads stand under each other only where A is not turned.
  const grouped = b.repeats > 1 && !a.transposed;
  const right = b.repeats > 1 && a.transposed ? operandOf(node.input(1), s, false) : b;
  const factor = a.factor * right.factor * after;
  if (!scaled && !grouped && factor === 1 && !a.transposed && !right.transposed) return null;
  const attributes = {
    transA: a.transposed ? 1 : 0,
    transB: right.transposed ? 1 : 0,
    alpha: { type: 'float' as const, value: factor },
  };
  const plain = factor === 1 && !a.transposed && !right.transposed;
  const multiply = (left: string): GraphNode =>
    plain
      ? g.node('MatMul', [left, right.value])
      : g.node('FusedMatMul', [left, right.value], { attributes, domain: 'com.microsoft' });
  if (!grouped) return multiply(a.value);
  const [batch = 1, heads = 1, rows = 1, inner = 1] = g.dims(a.value);
  const product = multiply(g.reshape(a.value, [batch, heads / right.repeats, right.repeats * rows, inner]));
  g.graph.nodes.push(product);
  return g.node('Reshape', [product.output(), g.int64s(dims)]);
};

// ---------------------------------------------------------------- rotary positions

/** Operators through which the two halves of the last axis stay alike. */
const keepsHalves = ['Cos', 'Sin', 'Cast', 'Identity', 'Unsqueeze', 'Reshape', 'Mul', 'Squeeze'];

/** Whether the last axis of a value is the same half twice. */
function halvesAlike(value: string, s: Surroundings): boolean {
  const { g } = s;
  for (let at = value; ; ) {
    const joined = s.made(at, 'Concat');
    if (joined) {
      const last = axisOf(joined.int('axis', 0), g.dims(at).length) === g.dims(at).length - 1;
      return last && joined.inputs.length === 2 && joined.input(0) === joined.input(1);
    }
    const node = s.made(at, ...keepsHalves);
    if (!node) return false;
    let next = node.input(0);
    if (node.operator === 'Mul') {
      const side = eitherWay(node).find(([, by]) => s.scalar(by) !== null);
      if (!side) return false;
      [next] = side;
    }
    if (g.dims(next).at(-1) !== g.dims(at).at(-1)) return false;
    at = next;
  }
}

/** The two halves of the last axis of a value: names of the first and the second, where they are cut out of it. */
function halfOf(value: string, s: Surroundings): { whole: string; half: 0 | 1 } | null {
  const { g } = s;
  const slice = s.made(value, 'Slice');
  const split = s.made(value, 'Split');
  const node = slice ?? split;
  if (!node) return null;
  const whole = node.input(0);
  const dims = g.dims(whole);
  const last = dims.length - 1;
  const width = dims[last] ?? 0;
  const input = { node, inputs: node.inputs.map((name) => (name ? g.typeOf(name) : undefined)), opset: g.opset };
  if (split) {
    if (axisOf(split.int('axis', 0), dims.length) !== last) return null;
    const parts = splitSizes(input);
    const half = split.outputs.indexOf(value);
    return parts.length === 2 && parts[0] === parts[1] && (half === 0 || half === 1) ? { whole, half } : null;
  }
  const [range, ...others] = sliceRanges(input);
  if (!range || others.length > 0 || range.axis !== last || range.step !== 1 || range.count * 2 !== width) return null;
  return range.start === 0 ? { whole, half: 0 } : range.start === range.count ? { whole, half: 1 } : null;
}

/** x · cos + [-x₂, x₁] · sin, over the halves x₁, x₂ of the last axis: one operator, and one on the way back. */
const rotation: Form = (last, s) => {
  const { g } = s;
  if (last.domain || last.operator !== 'Add' || g.dims(last.output()).length !== 4) return null;
  for (const [straight, crossed] of eitherWay(last)) {
    const [left, right] = [s.made(straight, 'Mul'), s.made(crossed, 'Mul')];
    if (!left || !right) continue;
    for (const [turned, sin] of eitherWay(right)) {
      const joined = s.made(turned, 'Concat');
      if (joined?.inputs.length !== 2 || axisOf(joined.int('axis', 0), 4) !== 3) continue;
      const second = halfOf(s.made(joined.input(0), 'Neg')?.input(0) ?? '', s);
      const first = halfOf(joined.input(1), s);
      if (!first || !second || first.half !== 0 || second.half !== 1 || first.whole !== second.whole) continue;
      for (const [x, cos] of eitherWay(left)) {
        if (x !== first.whole || g.dtype(x) !== 'float32') continue;
        const [batch = 1, , length = 1, width = 1] = g.dims(x);
        const table = (value: string): string | null => halfTable(value, [batch, length, width], s);
        const [cosines, sines] = [table(cos), table(sin)];
        if (cosines === null || sines === null) continue;
        const rows = (g.dims(cosines)[0] ?? 1) / length;
        if (g.dims(sines)[0] !== g.dims(cosines)[0]) continue;
        return g.node('RotaryEmbedding', [x, places(batch, length, rows, s), cosines, sines], {
          domain: 'com.microsoft',
        });
      }
    }
  }
  return null;
};

/** cos or sin of [batch or 1, 1, length, width], halves alike, as a table of [rows · length, width / 2]. */
function halfTable(value: string, [batch, length, width]: [number, number, number], s: Surroundings): string | null {
  const { g } = s;
  const dims = g.dims(value);
  const [rows = 0] = dims;
  const fits = dims.length === 4 && dims[1] === 1 && dims[2] === length && dims[3] === width;
  if (!fits || (rows !== 1 && rows !== batch) || s.varies(value) || !halvesAlike(value, s)) return null;
  return g.reshape(g.slice(value, 3, 0, width / 2), [rows * length, width / 2]);
}

/** Rows of such a table by batch and position: int64 [batch, length]. */
function places(batch: number, length: number, rows: number, { g, memo }: Surroundings): string {
  const key = `places ${batch} ${length} ${rows}`;
  const known = memo.get(key);
  if (known !== undefined) return known;
  const values = Array.from({ length: batch * length }, (_, at) => (rows === 1 ? at % length : at));
  const name = g.constant(tensorOf('int64', [batch, length], values));
  memo.set(key, name);
  return name;
}

// ---------------------------------------------------------------- softmax guards

/**
 * A guarded softmax (guards.ts) without its guard. Right only because nothing reads a row that sees nothing. Every place of a
 * text sees itself, so the row is one of padding: a place behind a text by more than a sliding window. Training batches pad on
 * the right and hide padding from every text by the attention mask, in later layers too, and answers are predicted at places
 * of texts (training-batch.ts, suffix-training.ts).
 */
const unguardedSoftmax: Form = (last, s) => {
  const { g } = s;
  const softmax = guardedSoftmax(
    last,
    (value) => s.made(value, 'Softmax', 'IsNaN'),
    (value) => g.values(value),
  );
  if (!softmax || g.dtype(softmax.output()) !== 'float32') return null;
  const sum = s.made(softmax.input(0), 'Add');
  const side = sum && eitherWay(sum).find(([scores, mask]) => s.varies(scores) && !s.varies(mask));
  if (!side) return null;
  const [scores, mask] = side;
  const finite = g.add('Max', [mask, g.scalar('float32', leastFloat)]);
  const axis = softmax.int('axis', g.opset < 13 ? 1 : -1);
  return g.node('Softmax', [g.add('Add', [scores, finite])], { attributes: { axis } });
};

const forms: Record<string, Form> = { rotation, matrixProduct, unguardedSoftmax };

/**
 * Applies every form to every node; nodes of a group that nothing else needs go.
 * @param source values that the graph is to be differentiated by
 */
export function simplify(g: TypedGraph, source: readonly string[]): void {
  mergeDuplicates(g);
  const varying = new Set(source);
  for (const node of g.graph.nodes)
    if (node.inputs.some((input) => varying.has(input))) for (const output of node.outputs) varying.add(output);
  const producers = g.graph.producers();
  const counts = new Map<string, number>();
  for (const node of g.graph.nodes) for (const input of node.inputs) counts.set(input, (counts.get(input) ?? 0) + 1);
  for (const { name } of g.graph.outputs) counts.set(name, (counts.get(name) ?? 0) + 1);
  const surroundings: Surroundings = {
    g,
    made: (value, ...operators) => {
      const node = producers.get(value);
      return node && !node.domain && operators.includes(node.operator) ? node : null;
    },
    uses: (value) => counts.get(value) ?? 0,
    varies: (value) => varying.has(value),
    scalar: (value) => {
      const tensor = g.graph.initializers.get(value);
      const values = g.values(value) ?? (tensor?.data && size(tensor.dims) === 1 ? numbersOf(tensor) : undefined);
      return values?.length === 1 ? (values[0] ?? null) : null;
    },
    memo: new Map(),
  };
  const before = g.graph.nodes;
  const after: GraphNode[] = [];
  // Nodes that forms add are pushed onto the graph's list: collected apart.
  g.graph.nodes = [];
  for (const node of before) {
    let replacement: GraphNode | null = null;
    for (const form of Object.values(forms)) {
      replacement = form(node, surroundings);
      if (replacement) break;
    }
    if (replacement) {
      replacement.name = node.name;
      replacement.outputs = [...node.outputs];
    }
    after.push(replacement ?? node);
  }
  g.graph.nodes = [...after, ...g.graph.nodes];
  g.graph.prune();
}
