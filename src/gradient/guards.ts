/**
 * Where(IsNaN(s), 0, s) behind s = softmax(scores + mask): exporters guard against a row whose mask is all -inf. With the
 * mask's -inf as a finite number such a row has equal weights instead of zeros, and two passes over the largest tensors of a
 * graph can go, wherever nothing reads such a row.
 */
import type { GraphNode } from '../onnx/index.ts';

/** In place of a mask's -inf: a fourth of the largest float32, so that sums with scores stay finite. */
export const leastFloat = -(2 ** 126);

/** The softmax that a node guards, else null. `made`: the node that makes a value; `values`: what it is known to hold. */
export function guardedSoftmax(
  node: GraphNode,
  made: (value: string) => GraphNode | null | undefined,
  values: (value: string) => readonly number[] | undefined,
): GraphNode | null {
  if (node.fullOperator !== 'Where') return null;
  const [test, softmax] = [made(node.input(0)), made(node.input(2))];
  if (softmax?.fullOperator !== 'Softmax' || test?.fullOperator !== 'IsNaN') return null;
  if (test.input(0) !== softmax.output()) return null;
  return values(node.input(1))?.every((value) => value === 0) ? softmax : null;
}
