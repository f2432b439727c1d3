/**
 * Groups of plain nodes that are one operator: merged before the backward pass, so that one rule replaces many and
 * less is kept. One row per pattern; each looks at the last node of its group.
 */
import { type AttributeValues, eitherWay, type GraphNode } from '../onnx/index.ts';
import type { TypedGraph } from './typed-graph.ts';

interface Matcher {
  g: TypedGraph;
  /** The node that makes a value, if it is one of the operators named. */
  made(value: string, ...operators: string[]): GraphNode | null;
  /** Whether a value is the constant scalar `number`. */
  is(value: string, number: number): boolean;
  /** A constant scalar's value. */
  scalar(value: string): number | null;
}

interface Replacement {
  operator: string;
  domain?: string;
  inputs: string[];
  attributes: AttributeValues;
}

type Pattern = (last: GraphNode, matcher: Matcher) => Replacement | null;

/** x / sqrt(mean(x²) + ε): the value x and ε, where `value` is that. */
function rootMeanSquare(value: string, m: Matcher): { x: string; epsilon: number } | null {
  const quotient = m.made(value, 'Mul', 'Div');
  if (!quotient) return null;
  const candidates: [string, string][] = [];
  if (quotient.operator === 'Div') candidates.push([quotient.input(0), quotient.input(1)]);
  else
    for (const [x, inverse] of eitherWay(quotient)) {
      const reciprocal = m.made(inverse, 'Div', 'Reciprocal');
      if (reciprocal?.operator === 'Reciprocal') candidates.push([x, reciprocal.input(0)]);
      else if (reciprocal && m.is(reciprocal.input(0), 1)) candidates.push([x, reciprocal.input(1)]);
    }
  for (const [x, root] of candidates) {
    const sum = m.made(m.made(root, 'Sqrt')?.input(0) ?? '', 'Add');
    if (!sum) continue;
    for (const [mean, constant] of eitherWay(sum)) {
      const epsilon = m.scalar(constant);
      const reduction = m.made(mean, 'ReduceMean');
      if (epsilon === null || !reduction || reduction.int('keepdims', 1) !== 1) continue;
      const axes = reduction.input(1) ? m.g.values(reduction.input(1)) : reduction.ints('axes');
      const rank = m.g.dims(x).length;
      if (axes?.length !== 1 || (axes[0] !== -1 && axes[0] !== rank - 1)) continue;
      const square = m.made(reduction.input(0), 'Pow', 'Mul');
      if (square?.input(0) !== x) continue;
      if (square.operator === 'Pow' ? m.is(square.input(1), 2) : square.input(1) === x) return { x, epsilon };
    }
  }
  return null;
}

const patterns: Record<string, Pattern> = {
  // weight · x / sqrt(mean(x²) + ε)
  rootMeanSquareNorm: (last, m) => {
    if (last.operator !== 'Mul') return null;
    for (const [weight, normalised] of eitherWay(last)) {
      if (m.g.dims(weight).length !== 1 || m.g.dtype(weight) !== 'float32') continue;
      const found = rootMeanSquare(normalised, m);
      if (!found || m.g.dims(weight)[0] !== m.g.dims(found.x).at(-1)) continue;
      const attributes = { axis: -1, epsilon: { type: 'float' as const, value: found.epsilon }, stash_type: 1 };
      return { operator: 'SimplifiedLayerNormalization', inputs: [found.x, weight], attributes };
    }
    return null;
  },
  // x · sigmoid(x)
  sigmoidLinearUnit: (last, m) => {
    if (last.operator !== 'Mul') return null;
    for (const [x, gate] of eitherWay(last))
      if (m.g.dtype(x) === 'float32' && m.made(gate, 'Sigmoid')?.input(0) === x) {
        const attributes = { alpha: { type: 'float' as const, value: 1 } };
        return { operator: 'QuickGelu', domain: 'com.microsoft', inputs: [x], attributes };
      }
    return null;
  },
};

/** Merges every match of every pattern; nodes of a group that nothing else needs go with the next prune. */
export function mergePatterns(g: TypedGraph): void {
  const producers = g.graph.producers();
  const matcher: Matcher = {
    g,
    made: (value, ...operators) => {
      const node = producers.get(value);
      return node && !node.domain && operators.includes(node.operator) ? node : null;
    },
    scalar: (value) => {
      const values = g.values(value);
      return values?.length === 1 ? (values[0] ?? null) : null;
    },
    is: (value, number) => matcher.scalar(value) === number,
  };
  g.graph.nodes = g.graph.nodes.map((node) => {
    if (node.domain) return node;
    for (const pattern of Object.values(patterns)) {
      const replacement = pattern(node, matcher);
      if (!replacement) continue;
      const { operator, domain, inputs, attributes } = replacement;
      const merged = g.node(operator, inputs, { attributes, domain });
      merged.name = node.name;
      merged.outputs = [...node.outputs];
      return merged;
    }
    return node;
  });
  g.graph.prune();
}
