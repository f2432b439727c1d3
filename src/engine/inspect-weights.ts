/** What a graph says of its weights: which are quantised and how, and whether the head shares the embedding's table. */
import type { GraphNode } from '../onnx/index.ts';
import type { QuantisationReport } from '../shared/protocol.ts';
import type { GraphReader } from './graph-reader.ts';

/** Operators between the head's product and the logits. */
const behindHead = new Set([
  'Add',
  'Mul',
  'Div',
  'Tanh',
  'Cast',
  'Reshape',
  'Identity',
  'Where',
  'Squeeze',
  'Unsqueeze',
]);
/** Products, by the place of their weight among the inputs. */
const products: Readonly<Record<string, number>> = {
  MatMul: 1,
  Gemm: 1,
  'com.microsoft.FusedMatMul': 1,
  'com.microsoft.MatMulNBits': 1,
  MatMulInteger: 1,
  'com.microsoft.MatMulIntegerToFloat': 1,
  'com.microsoft.DynamicQuantizeMatMul': 1,
};

export interface Head {
  node: GraphNode;
  /** The initialiser it multiplies by; null where that is worked out in the graph. */
  weight: string | null;
  /** Bound of the logits. */
  softCap: number | null;
}

/** The last product before the logits. */
export function headOf(reader: GraphReader, logits: string): Head | null {
  let softCap: number | null = null;
  const queue = [logits];
  for (let steps = 0; queue.length && steps < 40; steps++) {
    const node = reader.made(queue.shift() ?? '');
    if (!node) continue;
    const at = products[node.fullOperator];
    if (at !== undefined) return { node, weight: reader.weightOf(node.input(at)), softCap };
    if (!behindHead.has(node.operator)) continue;
    // logits = cap · tanh(logits ÷ cap)
    if (node.operator === 'Mul')
      for (const [one, other] of [
        [0, 1],
        [1, 0],
      ] as const)
        if (reader.made(node.input(one))?.operator === 'Tanh') softCap ??= reader.scalar(node.input(other));
    queue.push(...node.inputs.filter((input) => reader.values(input) === null));
  }
  return null;
}

interface Found {
  weight: string;
  node: GraphNode;
  bits: number;
  block: QuantisationReport['block'];
  symmetric: boolean;
  activationBits: number | null;
}

const bitsOf = (dtype: string | undefined): number | null => {
  const bits = /^u?int(\d+)$/.exec(dtype ?? '')?.[1];
  return bits !== undefined && Number(bits) <= 8 ? Number(bits) : /^float8/.test(dtype ?? '') ? 8 : null;
};

type Reading = (node: GraphNode, reader: GraphReader) => Omit<Found, 'node'> | null;

const dtypeOf = (reader: GraphReader, name: string | null): string | undefined =>
  name === null ? undefined : reader.graph.initializers.get(name)?.dtype;

/** One scale for all, or one a channel. */
const scaleBlock = (reader: GraphReader, scale: string): QuantisationReport['block'] =>
  (reader.dims(scale) ?? []).reduce((product, size) => product * size, 1) > 1 ? 'channel' : 'tensor';

/** No zero point, or one that is 0 throughout (of few entries: more are not looked at). */
const withoutZero = (reader: GraphReader, zeroPoint: string): boolean =>
  zeroPoint === '' || (reader.values(zeroPoint)?.every((value) => value === 0) ?? false);

/** int8 products whose other factor is rounded as the graph runs. */
const integerProduct =
  (weightAt: number, scaleAt: number | null, zeroAt: number): Reading =>
  (node, reader) => {
    const weight = reader.weightOf(node.input(weightAt));
    const bits = bitsOf(dtypeOf(reader, weight));
    if (weight === null || bits === null) return null;
    // MatMulInteger's scales are multiplied in behind it; its zero points have one entry a channel where those do.
    const block = scaleBlock(reader, node.input(scaleAt ?? zeroAt));
    const behind = scaleAt === null ? (scaleBehind(reader, node) ?? block) : block;
    return { weight, bits, block: behind, symmetric: withoutZero(reader, node.input(zeroAt)), activationBits: 8 };
  };

/** MatMulInteger → Cast → Mul by (scale of the activations × scales of the weight). */
function scaleBehind(reader: GraphReader, node: GraphNode): QuantisationReport['block'] | null {
  const [cast] = reader.consumers.get(node.output()) ?? [];
  const [mul] = reader.consumers.get(cast?.output() ?? '') ?? [];
  const scales = mul?.inputs.find((input) => input !== cast?.output());
  const product = scales === undefined ? undefined : reader.made(scales);
  const weights = product?.inputs.find((input) => reader.graph.initializers.has(input));
  return weights === undefined ? null : scaleBlock(reader, weights);
}

/** How each operator tells of a weight of few bits. One row an operator. */
const readings: Readonly<Record<string, Reading>> = {
  'com.microsoft.MatMulNBits': (node) => ({
    weight: node.input(1),
    bits: node.int('bits', 4),
    block: node.int('block_size', 32),
    symmetric: node.input(3) === '',
    // Levels of accuracy: 1 float32, 2 float16, 3 bfloat16, 4 int8.
    activationBits: node.int('accuracy_level', 0) === 4 ? 8 : null,
  }),
  'com.microsoft.GatherBlockQuantized': (node) => ({
    weight: node.input(0),
    bits: node.int('bits', 4),
    block: node.int('block_size', 128),
    symmetric: node.input(3) === '',
    activationBits: null,
  }),
  'com.microsoft.QMoE': (node) => ({
    weight: node.input(2),
    bits: node.int('expert_weight_bits', 4),
    block: node.int('block_size', 0) || 'channel',
    symmetric: true,
    activationBits: null,
  }),
  MatMulInteger: integerProduct(1, null, 3),
  'com.microsoft.MatMulIntegerToFloat': integerProduct(1, 3, 5),
  'com.microsoft.DynamicQuantizeMatMul': integerProduct(1, 2, 3),
  DequantizeLinear: (node, reader) => {
    const looked = reader.made(node.input(0));
    const weight = reader.weightOf(looked?.operator === 'Gather' ? looked.input(0) : node.input(0));
    const bits = bitsOf(dtypeOf(reader, weight));
    if (weight === null || bits === null) return null;
    const block = node.int('block_size', 0) || scaleBlock(reader, node.input(1));
    return { weight, bits, block, symmetric: withoutZero(reader, node.input(2)), activationBits: null };
  },
};

/** Inputs with scales, zero points and orders of weights: not weights themselves. */
const besideWeights: Readonly<Record<string, readonly number[]>> = {
  'com.microsoft.MatMulNBits': [2, 3, 4],
  'com.microsoft.GatherBlockQuantized': [2, 3],
  DequantizeLinear: [1, 2],
  MatMulInteger: [2, 3],
  'com.microsoft.MatMulIntegerToFloat': [2, 3, 4, 5],
  'com.microsoft.DynamicQuantizeMatMul': [2, 3],
};

/** Initialisers whose entries do not count one each as weights: how many each entry is. */
export function weightsPerEntry(reader: GraphReader): Map<string, number> {
  const result = new Map<string, number>();
  for (const node of reader.graph.nodes) {
    const found = readings[node.fullOperator]?.(node, reader);
    if (!found) continue;
    for (const at of besideWeights[node.fullOperator] ?? []) {
      const name = reader.weightOf(node.input(at));
      if (name !== null) result.set(name, 0);
    }
    // Weights of 4 bits lie in pairs in bytes, those of ONNX's own 4-bit types one by one.
    if (/^u?int8$/.test(dtypeOf(reader, found.weight) ?? '')) result.set(found.weight, 8 / found.bits);
  }
  return result;
}

export function quantisationOf(
  reader: GraphReader,
  head: Head | null,
  embeddingTable: string | null,
): QuantisationReport[] {
  const groups = new Map<string, QuantisationReport & { weights: Set<string> }>();
  for (const node of reader.graph.nodes) {
    const found = readings[node.fullOperator]?.(node, reader);
    if (!found) continue;
    const { weight, bits, block, symmetric, activationBits } = found;
    const part =
      node === head?.node || (weight === head?.weight && node.operator !== 'GatherBlockQuantized')
        ? 'head'
        : weight === embeddingTable || /Gather/.test(node.operator) || reader.made(node.input(0))?.operator === 'Gather'
          ? 'embedding'
          : 'linear layers';
    const key = JSON.stringify([node.fullOperator, bits, block, symmetric, activationBits]);
    const group = groups.get(key) ?? {
      operator: node.fullOperator,
      tensors: 0,
      parts: [],
      bits,
      block,
      symmetric,
      activationBits,
      weights: new Set<string>(),
    };
    group.weights.add(weight);
    group.tensors = group.weights.size;
    if (!group.parts.includes(part)) group.parts.push(part);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ weights: _, ...group }) => group);
}
