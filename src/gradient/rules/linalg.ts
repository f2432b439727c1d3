/** Gradient rules of matrix products. A frozen weight gets none, so a linear layer keeps nothing of its input. */
import { isFloat } from '../../onnx/index.ts';
import { einsumAxes, einsumEquation, einsumSizes } from '../einsum.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { size } from '../types.ts';
import type { GradientRule } from './rule.ts';

/** op(a) · op(b) · alpha; op swaps the last two axes where asked. */
export function product(
  g: TypedGraph,
  a: string,
  b: string,
  { transA = false, transB = false, alpha = 1 }: { transA?: boolean; transB?: boolean; alpha?: number } = {},
): string {
  if (!transA && !transB && alpha === 1) return g.add('MatMul', [a, b]);
  if (g.dtype(a) === 'float32' && isFloat(g.dtype(b)))
    return g.add(
      'FusedMatMul',
      [a, b],
      { transA: transA ? 1 : 0, transB: transB ? 1 : 0, alpha: { type: 'float', value: alpha } },
      'com.microsoft',
    );
  return g.scale(g.add('MatMul', [transA ? g.swapLast(a) : a, transB ? g.swapLast(b) : b]), alpha);
}

/** Gradients of y = alpha · op(A) · op(B), operands of rank 2 or more. */
function productGradients(
  g: TypedGraph,
  [a, b]: [string, string],
  dy: string,
  { transA, transB, alpha }: { transA: boolean; transB: boolean; alpha: number },
  needs: (input: number) => boolean,
): (string | undefined)[] {
  const gradientA = (): string => {
    const dA = transA
      ? product(g, b, dy, { transA: transB, transB: true, alpha })
      : product(g, dy, b, { transB: !transB, alpha });
    return g.unbroadcast(dA, g.dims(a));
  };
  const gradientB = (): string => {
    const [aDims, dyDims] = [g.dims(a), g.dims(dy)];
    // A matrix that multiplies many: one product over all rows in place of a sum of many products.
    if (g.dims(b).length === 2 && aDims.length > 2 && !transA) {
      const rows = g.reshape(a, [size(aDims.slice(0, -1)), aDims.at(-1) ?? 1]);
      const dRows = g.reshape(dy, [size(dyDims.slice(0, -1)), dyDims.at(-1) ?? 1]);
      return transB
        ? product(g, dRows, rows, { transA: true, alpha })
        : product(g, rows, dRows, { transA: true, alpha });
    }
    const dB = transB
      ? product(g, dy, a, { transA: true, transB: transA, alpha })
      : product(g, a, dy, { transA: !transA, alpha });
    return g.unbroadcast(dB, g.dims(b));
  };
  return [needs(0) ? gradientA() : undefined, needs(1) ? gradientB() : undefined];
}

export const linalgRules: Record<string, GradientRule> = {
  MatMul: ({ g, node, dy, needs }) => {
    const [a, b] = [node.input(0), node.input(1)];
    const [aDims, bDims] = [g.dims(a), g.dims(b)];
    // vectors as matrices of one row or one column
    const left = aDims.length === 1 ? g.reshape(a, [1, ...aDims]) : a;
    const right = bDims.length === 1 ? g.reshape(b, [...bDims, 1]) : b;
    const out = [...g.dims(dy)];
    if (aDims.length === 1) out.splice(bDims.length === 1 ? out.length : out.length - 1, 0, 1);
    if (bDims.length === 1) out.push(1);
    const plain = { transA: false, transB: false, alpha: 1 };
    const [dA, dB] = productGradients(g, [left, right], g.reshape(dy, out), plain, needs);
    return [dA && g.reshape(dA, aDims), dB && g.reshape(dB, bDims)];
  },
  'com.microsoft.FusedMatMul': ({ g, node, dy, needs }) =>
    productGradients(
      g,
      [node.input(0), node.input(1)],
      dy,
      {
        transA: node.int('transA', 0) === 1,
        transB: node.int('transB', 0) === 1,
        alpha: node.float('alpha', 1),
      },
      needs,
    ),
  Gemm: ({ g, node, dy, needs }) => {
    const how = {
      transA: node.int('transA', 0) === 1,
      transB: node.int('transB', 0) === 1,
      alpha: node.float('alpha', 1),
    };
    const addend = node.input(2);
    return [
      ...productGradients(g, [node.input(0), node.input(1)], dy, how, needs),
      addend && needs(2) ? g.unbroadcast(g.scale(dy, node.float('beta', 1)), g.dims(addend)) : undefined,
    ];
  },
  // An operand's gradient is the product of dy with the other operands, summed over what the operand does not have.
  Einsum: ({ g, node, dy, needs }) => {
    const shapes = node.inputs.map((input) => g.dims(input));
    const axes = einsumAxes(
      node.string('equation', ''),
      shapes.map((dims) => dims.length),
    );
    const sizes = einsumSizes(axes, shapes);
    if ([...axes.operands, axes.output].some((labels) => new Set(labels).size < labels.length))
      throw new Error('an equation that takes a diagonal is not differentiated');
    return node.inputs.map((input, at) => {
      if (!needs(at)) return undefined;
      const own = axes.operands[at] ?? [];
      const others = node.inputs.flatMap((name, other) =>
        other === at ? [] : [{ name, labels: axes.operands[other] ?? [] }],
      );
      const factors = [{ name: dy, labels: axes.output }, ...others];
      // What only this operand has was summed: its gradient is the same all along.
      const lone = own.filter((label) => !factors.some(({ labels }) => labels.includes(label)));
      if (lone.length > 0) {
        const ones = g.expand(
          g.scalarLike(dy, 1),
          lone.map((label) => sizes.get(label) ?? 1),
        );
        factors.push({ name: ones, labels: lone });
      }
      const equation = einsumEquation(
        factors.map(({ labels }) => labels),
        own,
      );
      const names = factors.map(({ name }) => name);
      return g.unbroadcast(g.add('Einsum', names, { equation }), g.dims(input));
    });
  },
};
