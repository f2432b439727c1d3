/** Normalisations joined with the addition in front of them. Inputs by position: see ONNX Runtime's list of contrib operators. */
import { type Lowering, sum } from './lowering.ts';

/** What ONNX Runtime takes where a skip norm does not say. */
const skipEpsilon = 1e-12;

/**
 * norm(input + skip + bias). Outputs: the norm, two statistics that only training used (refused where read), and the
 * sum, which carries the residual stream on.
 */
const skipNorm =
  (operator: string, weights: readonly number[], bias: number): Lowering =>
  (graph, node) => {
    const total = sum(graph, [node.input(0), node.input(1), node.input(bias)], node.output(3));
    const inputs = [total, ...weights.map((at) => node.input(at)).filter((name) => name !== '')];
    const attributes = { axis: -1, epsilon: { type: 'float' as const, value: node.float('epsilon', skipEpsilon) } };
    const added = graph.addNode(operator, inputs, { attributes, outputs: [node.output()] });
    added.name = node.name;
  };

export const normLowerings: Record<string, Lowering> = {
  'com.microsoft.SkipLayerNormalization': skipNorm('LayerNormalization', [2, 3], 4),
  'com.microsoft.SkipSimplifiedLayerNormalization': skipNorm('SimplifiedLayerNormalization', [2], 3),
};
