/** Reverse-mode differentiation: a walk from the loss back to the wanted values, one rule per node. */

import type { GraphNode } from '../onnx/index.ts';
import { isFloat } from '../onnx/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import { refusedOperators } from './refused.ts';
import { type GradientRule, gradientRules, type RuleContext } from './rules/index.ts';
import type { TypedGraph } from './typed-graph.ts';

/** An operator between the soft prompt and the loss that has no gradient rule. */
export interface MissingRule {
  operator: string;
  node: string;
  advice: string;
}

/** Nodes between `from` and any of `to`, in graph order: the only ones that need a gradient. */
export function pathBetween(g: TypedGraph, from: ReadonlySet<string>, to: ReadonlySet<string>): GraphNode[] {
  const reached = new Set(from);
  const forward = g.graph.nodes.filter((node) => {
    if (!node.inputs.some((input) => reached.has(input))) return false;
    for (const output of node.outputs) {
      const type = g.types.get(output);
      // integers and truth values carry no gradient
      if (output && (!type || isFloat(type.dtype))) reached.add(output);
    }
    return true;
  });
  const needed = new Set(to);
  return forward
    .reverse()
    .filter((node) => {
      if (!node.outputs.some((output) => needed.has(output) && reached.has(output))) return false;
      for (const input of node.inputs) needed.add(input);
      return true;
    })
    .reverse();
}

/** A node as an entry of the list that a person reads. */
export const missingRule = (node: GraphNode): MissingRule => ({
  operator: node.fullOperator,
  node: node.place,
  advice: adviceFor(node),
});

function adviceFor({ fullOperator, operator, domain }: GraphNode): string {
  const reason = refusedOperators[fullOperator];
  if (reason !== undefined) return `Export the model again without ${operator}: ${reason}.`;
  return domain
    ? 'Export the model again without operator fusion (for instance with optimum, no optimisation level).'
    : 'Please report the model and its exporter; another export of the same model may do without this operator.';
}

export const missingRules = (path: readonly GraphNode[]): MissingRule[] =>
  path.filter((node) => !(node.fullOperator in gradientRules)).map(missingRule);

/** What a rule gives; where it cannot (a mode of the operator that it does not know), a HumanError saying where. */
function applied(rule: GradientRule, context: RuleContext): (string | undefined)[] {
  try {
    return rule(context);
  } catch (thrown) {
    if (thrown instanceof HumanError) throw thrown;
    const { operator, node, advice } = missingRule(context.node);
    const message = `The gradient of ${operator} (node "${node}") could not be worked out: ${asError(thrown).message}.`;
    throw new HumanError('unsupported', message, { todo: advice, cause: thrown });
  }
}

/**
 * Adds the backward pass of `path` and gives the gradient of each value of `wanted`.
 * @param seeds gradients of the loss with respect to values at the end of the path
 * @throws HumanError naming all operators without a rule
 */
export function backward(
  g: TypedGraph,
  path: readonly GraphNode[],
  seeds: ReadonlyMap<string, string>,
  wanted: readonly string[],
): Map<string, string> {
  const missing = missingRules(path);
  const [first] = missing;
  if (first)
    throw new HumanError(
      'unsupported',
      `Tuning needs gradients of operators that have no rule: ${missing
        .map(({ operator, node }) => `${operator} (node "${node}")`)
        .slice(0, 8)
        .join(', ')}${missing.length > 8 ? ` and ${missing.length - 8} more` : ''}.`,
      { todo: first.advice },
    );
  const consumers = g.graph.consumers();
  const producers = g.graph.producers();
  const onPath = new Set(path.flatMap(({ outputs }) => outputs));
  for (const name of wanted) onPath.add(name);
  const gradients = new Map<string, string>(seeds);
  for (const node of path.toReversed()) {
    const dys = node.outputs.map((output) => gradients.get(output));
    const dy = dys.find((gradient) => gradient !== undefined);
    if (dy === undefined) continue;
    const rule = gradientRules[node.fullOperator];
    if (!rule) throw new Error('checked above');
    const context = {
      g,
      node,
      dy,
      dys,
      needs: (input: number) => onPath.has(node.input(input)),
      made: (value: string) => producers.get(value),
      consumers: (value: string) => consumers.get(value) ?? [],
    };
    const inputGradients = applied(rule, context);
    node.inputs.forEach((input, at) => {
      const gradient = inputGradients[at];
      if (gradient === undefined || !onPath.has(input)) return;
      const sum = gradients.get(input);
      gradients.set(input, sum === undefined ? gradient : g.add('Add', [sum, gradient]));
    });
  }
  return gradients;
}
