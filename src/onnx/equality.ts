/** When two nodes or two small constants are the same, told by text; and what is the same either way round. */
import type { GraphNode } from './graph.ts';
import type { Tensor } from './tensor.ts';

/** A tensor of up to 64 bytes; null for larger ones. */
export const smallTensorText = ({ dtype, dims, data }: Tensor): string | null =>
  data && data.byteLength <= 64 ? `${dtype}[${dims}]${data.join()}` : null;

/** What a node computes from which values; null where that cannot be told, and for random numbers. */
export function computationOf(node: GraphNode): string | null {
  if (node.operator.startsWith('Random') || node.operator === 'Bernoulli') return null;
  const attributes: string[] = [];
  for (const [name, attribute] of node.attributes) {
    const tensor = attribute.type === 'tensor' ? smallTensorText(attribute.value) : null;
    if (tensor === null && !['float', 'int', 'string', 'floats', 'ints', 'strings'].includes(attribute.type))
      return null;
    attributes.push(`${name}=${tensor ?? JSON.stringify(attribute.value)}`);
  }
  return [node.fullOperator, node.inputs.join(), attributes.sort().join()].join('|');
}

/** Both orders of a commutative node's two inputs. */
export const eitherWay = (node: GraphNode): [string, string][] => [
  [node.input(0), node.input(1)],
  [node.input(1), node.input(0)],
];
