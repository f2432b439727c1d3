/** Gradient rules of products with weights of few bits, which are decoded for the backward pass only. */
import { bytesOf, type DataType, type GraphNode, tensorOf } from '../../onnx/index.ts';
import { HumanError } from '../../shared/errors.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { sameDims } from '../types.ts';
import { product } from './linalg.ts';
import type { GradientRule } from './rule.ts';

/** From opset 21 on DequantizeLinear decodes block by block. */
export const hasBlocks = (g: TypedGraph): boolean => g.opset >= 21;

const refuse = (node: GraphNode, what: string): HumanError =>
  new HumanError('unsupported', `MatMulNBits (node "${node.place}") cannot be differentiated: ${what}.`, {
    todo: 'Quantise the model again with 4 or 8 bits and integer zero points, or tune on the unquantised file.',
  });

/** Element type whose entries lie in bytes as MatMulNBits packs them: the low half of a byte first. */
const stored: Readonly<Record<number, DataType>> = { 4: 'uint4', 8: 'uint8' };

/** Another reading of a constant's bytes, which stay where they are. */
function retyped(g: TypedGraph, node: GraphNode, name: string, dtype: DataType, dims: readonly number[]): string {
  const tensor = g.graph.initializers.get(name);
  if (!tensor || tensor.strings) throw refuse(node, `its input "${name}" is not a constant`);
  if (tensor.dtype === dtype && sameDims(tensor.dims, dims)) return name;
  if (bytesOf(tensor.dtype, tensor.dims) !== bytesOf(dtype, dims))
    throw refuse(node, `its constant "${name}" has the shape [${tensor.dims.join(', ')}], not [${dims.join(', ')}]`);
  return g.stored(`${name}:${dtype}[${dims}]`, { ...tensor, dtype, dims: [...dims] });
}

/** Zero points as [rows, blocks] entries of the weight's type. */
function zeroPoints(g: TypedGraph, node: GraphNode, dtype: DataType, rows: number, blocks: number): string {
  const bits = dtype === 'uint4' ? 4 : 8;
  const name = node.input(3);
  if (!name) {
    // Absent means the middle. One constant serves all products of these sizes.
    const bytes = new Uint8Array(Math.ceil((rows * blocks * bits) / 8)).fill(bits === 4 ? 0x88 : 128);
    return g.stored(`softbench_middle:${dtype}[${rows},${blocks}]`, { dtype, dims: [rows, blocks], data: bytes });
  }
  return retyped(g, node, name, dtype, [rows, blocks]);
}

/**
 * The weight of a MatMulNBits as a float matrix [N, K]: (entry - zero point) · scale of its block. The operator's weights
 * lie [N, blocks, bytes of a block], which is [N, K] once the last block is cut to length.
 */
export function decodedWeight(g: TypedGraph, node: GraphNode): string {
  const [depth, width] = [node.int('K', 0), node.int('N', 0)];
  const [bits, block] = [node.int('bits', 4), node.int('block_size', 32)];
  const dtype = stored[bits];
  if (!dtype && bits !== 2) throw refuse(node, `its weights have ${bits} bits`);
  if (node.input(4)) throw refuse(node, 'its columns are in another order (g_idx)');
  const blocks = Math.ceil(depth / block);
  const scales = g.reshape(node.input(2), [width, blocks]);
  const zeroName = node.input(3);
  const floatZeros = zeroName !== '' && g.dtype(zeroName) !== 'uint8';
  // Packed zero points of each row begin at a byte of their own.
  const dense = zeroName === '' || bits === 8 || blocks % 2 === 0;
  if (floatZeros && !dtype) throw refuse(node, 'its weights have 2 bits and their zero points are floats');
  const weight =
    floatZeros && dtype
      ? floatZeroWeight(g, node, { dtype, block, blocks, width, scales })
      : dtype && dense && hasBlocks(g)
        ? g.add(
            'DequantizeLinear',
            [
              retyped(g, node, node.input(1), dtype, [width, blocks * block]),
              scales,
              zeroPoints(g, node, dtype, width, blocks),
            ],
            { axis: 1, block_size: block },
          )
        : gathered(g, node, { bits, block, blocks, width, scales });
  return g.slice(weight, 1, 0, depth);
}

interface Blocks {
  block: number;
  blocks: number;
  width: number;
  scales: string;
}

/** Zero points that are no whole numbers: (entry - zero point) written out. */
function floatZeroWeight(
  g: TypedGraph,
  node: GraphNode,
  { dtype, block, blocks, width, scales }: Blocks & { dtype: DataType },
): string {
  if (!hasBlocks(g)) throw refuse(node, 'its zero points are floats and the graph is of an opset before 13');
  const entries = retyped(g, node, node.input(1), dtype, [width, blocks * block]);
  const one = g.scalarLike(scales, 1);
  const whole = g.reshape(g.add('DequantizeLinear', [entries, one]), [width, blocks, block]);
  const zero = g.reshape(node.input(3), [width, blocks, 1]);
  return g.reshape(g.mul(g.sub(whole, zero), g.reshape(scales, [width, blocks, 1])), [width, blocks * block]);
}

/** Where block-wise DequantizeLinear does not do: an opset that cannot be raised, zero points with gaps. Slower, the same numbers. */
function gathered(
  g: TypedGraph,
  node: GraphNode,
  { bits, block, blocks, width, scales }: Blocks & { bits: number },
): string {
  const entries = retyped(g, node, node.input(1), 'uint8', [width, (blocks * block * bits) / 8]);
  const all = g.constant(
    tensorOf(
      'int64',
      [width],
      Array.from({ length: width }, (_, row) => row),
    ),
  );
  const zero = node.input(3);
  const zeros = zero ? [retyped(g, node, zero, 'uint8', [width, Math.ceil((blocks * bits) / 8)])] : [];
  return g.add(
    'GatherBlockQuantized',
    [entries, all, scales, ...zeros],
    { bits, block_size: block, gather_axis: 0, quantize_axis: 1 },
    'com.microsoft',
  );
}

export const quantisedRules: Record<string, GradientRule> = {
  // Y = A · Wᵀ with W [N, K]: dA = dY · W
  'com.microsoft.MatMulNBits': ({ g, node, dy, needs }) => [
    needs(0) ? product(g, dy, decodedWeight(g, node)) : undefined,
  ],
};
