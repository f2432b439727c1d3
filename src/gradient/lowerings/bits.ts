/** Products with weights of few bits as decoding and a plain product: what a training graph computes. */
import { decodedWeight, hasBlocks } from '../rules/quantised.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { lowerSized, type SizedLowering } from './sized.ts';

/**
 * Y = A · Wᵀ + bias. With the many rows of a training batch this is no slower than the operator (1024 rows, 4 bits: 0.8 of
 * its time), and without prepacking, which would copy all weights, the operator does not take 8 bits at all.
 */
const matMulNBits: SizedLowering = (g, node) => {
  const product = g.add('FusedMatMul', [node.input(0), decodedWeight(g, node)], { transB: 1 }, 'com.microsoft');
  return [node.input(5) ? g.add('Add', [product, node.input(5)]) : product];
};

/** Writes out products whose weights DequantizeLinear decodes, and those that the operator does not compute unpacked. */
export function lowerProductsOfFewBits(g: TypedGraph): void {
  const own = g.graph.nodes.filter(
    (node) => node.fullOperator === 'com.microsoft.MatMulNBits' && (hasBlocks(g) || node.int('bits', 4) === 8),
  );
  if (own.length > 0) lowerSized(g, new Set(own), { 'com.microsoft.MatMulNBits': matMulNBits });
}
