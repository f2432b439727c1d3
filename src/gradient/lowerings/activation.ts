/** Products with an activation behind them, written out. */
import type { AttributeValues, GraphNode } from '../../onnx/index.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { notLowered, type SizedLowering } from './sized.ts';

/** Attributes of an activation, by the names that fused nodes give them. */
const activationAttributes = { alpha: 'activation_alpha', beta: 'activation_beta', gamma: 'activation_gamma' };

function activated(g: TypedGraph, node: GraphNode, x: string): string {
  const operator = node.string('activation', '');
  if (!operator) return x;
  const attributes: AttributeValues = {};
  for (const [name, from] of Object.entries(activationAttributes)) {
    const given = node.attributes.get(from);
    if (given) attributes[name] = given;
  }
  return g.add(operator, [x], attributes);
}

/** The attributes of a fused node that its product has too. */
function attributesOf(node: GraphNode, names: readonly string[]): AttributeValues {
  return Object.fromEntries(
    names.flatMap((name) => (node.attributes.has(name) ? [[name, node.attributes.get(name)]] : [])),
  );
}

const product =
  (operator: string, domain: string | undefined, names: readonly string[]): SizedLowering =>
  (g, node) => {
    if (node.int('transBatchA', 0) || node.int('transBatchB', 0)) throw notLowered(node, 'it transposes batches');
    const inputs = node.inputs.filter((name) => name !== '');
    return [activated(g, node, g.add(operator, inputs, attributesOf(node, names), domain))];
  };

export const activationLowerings: Record<string, SizedLowering> = {
  'com.microsoft.FusedGemm': product('Gemm', undefined, ['alpha', 'beta', 'transA', 'transB']),
  'com.microsoft.FusedMatMulActivation': product('FusedMatMul', 'com.microsoft', ['alpha', 'transA', 'transB']),
  // FastGelu(x · w + bias)
  'com.microsoft.GemmFastGelu': (g, node) => {
    const bias = node.input(2);
    const x = g.add('MatMul', [node.input(0), node.input(1)]);
    return [g.add('FastGelu', bias ? [x, bias] : [x], {}, 'com.microsoft')];
  },
};
