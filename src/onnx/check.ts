/** Whether a graph hangs together: each value is made once, whatever is read is made, and nothing goes in a circle. */
import { HumanError } from '../shared/errors.ts';
import type { Graph } from './graph.ts';

interface Scope {
  names: ReadonlySet<string>;
  outer: Scope | null;
}

const isKnown = (scope: Scope | null, name: string): boolean => {
  for (let each = scope; each; each = each.outer) if (each.names.has(name)) return true;
  return false;
};

const damaged = (message: string): HumanError =>
  new HumanError('bad-input', message, { todo: 'The file is damaged or was edited wrongly: export the model again.' });

/**
 * Checks a graph and the graphs inside its nodes, and puts their nodes in topological order.
 * @throws HumanError naming the value and the node
 */
export function checkGraph(graph: Graph, outer: Scope | null = null): void {
  const names = new Set<string>();
  for (const { name } of graph.inputs) {
    if (names.has(name)) throw damaged(`The graph has two inputs called "${name}".`);
    names.add(name);
  }
  for (const name of graph.initializers.keys()) names.add(name);
  for (const node of graph.nodes)
    for (const output of node.outputs) {
      if (output === '') continue;
      if (names.has(output))
        throw damaged(`The value "${output}" is made twice: the second time by the node "${node.place}".`);
      names.add(output);
    }
  const scope = { names, outer };
  for (const node of graph.nodes) {
    if (node.operator === '') throw damaged(`The node "${node.place}" has no operator.`);
    for (const input of node.inputs)
      if (input !== '' && !isKnown(scope, input))
        throw damaged(
          `The node "${node.place}" (${node.fullOperator}) reads "${input}", which nothing in the graph makes.`,
        );
    for (const inner of node.subgraphs()) checkGraph(inner, scope);
  }
  for (const { name } of graph.outputs)
    if (!isKnown(scope, name)) throw damaged(`The graph's output "${name}" is made by no node.`);
  graph.sort();
}
