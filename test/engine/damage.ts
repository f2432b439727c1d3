/** Damage to graph files, seeded: bytes that flipped, and graphs that were put together wrongly. */
import { inferenceRows } from '../../src/gradient/inference/index.ts';
import { decodeOnnx, encodeOnnx, type Graph, type GraphNode, numbersOf, tensorOf } from '../../src/onnx/index.ts';
import { randomNumbers } from '../gradient/random-graph.ts';

export interface Damaged {
  bytes: Uint8Array;
  /** What was done, for a person. */
  what: string;
}

/** Some bytes of a file changed: a bit flipped, another value, 0 or 255. */
export function withFlippedBytes(whole: Uint8Array, seed: number): Damaged {
  const random = randomNumbers(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const bytes = Uint8Array.from(whole);
  const what: string[] = [];
  for (let count = 1 + below(3); count > 0; count--) {
    const at = below(bytes.length);
    const old = bytes[at] ?? 0;
    bytes[at] = [old ^ (1 << below(8)), below(256), below(2) * 255][below(3)] ?? 0;
    what.push(`byte ${at}: ${old} → ${bytes[at]}`);
  }
  return { bytes, what: what.join(', ') };
}

/** Numbers that break sizes and axes: negative, huge, beyond 32 bits, about to overflow 64. */
const odd = [-1, 0, 1, 2, 3, 7, -2, -9, 1e5, 2 ** 31, 2 ** 40, -(2 ** 62), 2 ** 62];

type Damage = (graph: Graph, node: GraphNode, pick: <T>(list: readonly T[]) => T) => string | null;

const damages: Damage[] = [
  function anotherOperator(_graph, node, pick) {
    const full = pick(Object.keys(inferenceRows));
    const dot = full.lastIndexOf('.');
    const was = node.fullOperator;
    node.operator = full.slice(dot + 1);
    node.domain = dot < 0 ? '' : full.slice(0, dot);
    return `${was} is ${full} now`;
  },
  function anotherInput(graph, node, pick) {
    if (node.inputs.length === 0) return null;
    const at = pick([...node.inputs.keys()]);
    const name = pick([...graph.initializers.keys(), ...graph.nodes.flatMap(({ outputs }) => outputs)]);
    node.inputs[at] = name;
    return `input ${at} of ${node.place} is ${name} now`;
  },
  function missingInput(_graph, node, pick) {
    if (node.inputs.length === 0) return null;
    const at = pick([...node.inputs.keys()]);
    node.inputs.splice(at, 1);
    return `${node.place} (${node.operator}) lost input ${at}`;
  },
  function anotherConstant(graph, _node, pick) {
    const constants = [...graph.initializers].filter(([, { dtype, data }]) => dtype === 'int64' && data?.length);
    if (constants.length === 0) return null;
    const [name, tensor] = pick(constants);
    const values = numbersOf(tensor);
    values[pick([...values.keys()])] = pick(odd);
    graph.initializers.set(name, tensorOf('int64', tensor.dims, values));
    return `${name} is [${values}] now`;
  },
  function anotherAttribute(_graph, node, pick) {
    const name = pick(['axis', 'axes', 'perm', 'to', 'keepdims', 'transA', 'num_outputs', 'split', 'allowzero']);
    const value = pick([0, 1]) ? pick(odd) : [pick(odd), pick(odd)];
    node.attributes.set(name, typeof value === 'number' ? { type: 'int', value } : { type: 'ints', value });
    return `${node.place} (${node.operator}) has ${name} = ${value} now`;
  },
  function anotherShape(graph, _node, pick) {
    const [name, tensor] = pick([...graph.initializers]);
    const dims = pick([0, 1]) ? [...tensor.dims, 1] : tensor.dims.toReversed();
    graph.initializers.set(name, { ...tensor, dims });
    return `${name} has the shape [${dims}] now`;
  },
];

/** A readable file whose graph makes no sense in one or two places. */
export function withWrongGraph(whole: Uint8Array, seed: number): Damaged {
  const random = randomNumbers(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const model = decodeOnnx(whole);
  const what: string[] = [];
  for (let count = pick([1, 2]); count > 0; count--) {
    const said = pick(damages)(model.graph, pick(model.graph.nodes), pick);
    if (said) what.push(said);
  }
  return { bytes: encodeOnnx(model), what: what.join('; ') };
}
