/** A decoder of one layer, written out in plain operators: grouped heads, causal and padding mask, guarded softmax. */
import { Graph, type OnnxModel, type Tensor, tensorOf } from '../../src/onnx/index.ts';
import { modelOf, numbers } from './run-graph.ts';

export const tinySizes = { vocabulary: 11, hidden: 8, heads: 2, headSize: 4, inner: 12 };

/** Inputs input_ids and attention_mask [batch, sequence]; output logits [batch, sequence, vocabulary]. */
export function tinyDecoder(): OnnxModel {
  const { vocabulary, hidden, heads, headSize, inner } = tinySizes;
  const graph = new Graph();
  let seed = 0;
  const weight = (scale: number, ...dims: number[]): string => {
    const count = dims.reduce((product, dim) => product * dim, 1);
    return graph.constant(
      tensorOf(
        'float32',
        dims,
        numbers(count, ++seed).map((value) => value * scale),
      ),
    );
  };
  const add = (operator: string, inputs: string[], attributes = {}): string =>
    graph.add(operator, inputs, { attributes });
  const scalar = (value: number): string => graph.scalar('float32', value);
  const ints = (...values: number[]): string => graph.int64s(values);
  const constant = (tensor: Tensor): string => graph.constant(tensor);

  graph.inputs = ['input_ids', 'attention_mask'].map((name) => ({ name, dtype: 'int64', dims: ['batch', 'sequence'] }));
  graph.outputs = [{ name: 'logits', dtype: 'float32', dims: ['batch', 'sequence', vocabulary] }];

  const norm = (x: string): string => {
    const mean = add('ReduceMean', [add('Pow', [x, scalar(2)])], { axes: [-1] });
    const inverse = add('Div', [scalar(1), add('Sqrt', [add('Add', [mean, scalar(1e-5)])])]);
    return add('Mul', [weight(1, hidden), add('Mul', [x, inverse])]);
  };
  const embedded = add('Gather', [weight(1, vocabulary, hidden), 'input_ids']);
  const shape = add('Shape', [embedded]);
  const length = add('Gather', [shape, constant(tensorOf('int64', [], [1]))]);
  const range = add('Range', [constant(tensorOf('int64', [], [0])), length, constant(tensorOf('int64', [], [1]))]);
  const positions = add('Mul', [add('Cast', [range], { to: 1 }), scalar(0.1)]);
  const x = add('Add', [embedded, add('Unsqueeze', [positions, ints(-1)])]);

  const split = (projected: string): string =>
    add('Transpose', [add('Reshape', [projected, ints(0, 0, heads, headSize)])], { perm: [0, 2, 1, 3] });
  const attended = norm(x);
  const [q, k, v] = [1, 2, 3].map(() => split(add('MatMul', [attended, weight(0.6, hidden, hidden)])));
  const scores = add('Mul', [
    add('MatMul', [q ?? '', add('Transpose', [k ?? ''], { perm: [0, 1, 3, 2] })]),
    scalar(headSize ** -0.5),
  ]);
  const causal = add('LessOrEqual', [add('Unsqueeze', [range, ints(0)]), add('Unsqueeze', [range, ints(1)])]);
  const real = add('Cast', [add('Unsqueeze', ['attention_mask', ints(1, 2)])], { to: 9 });
  const visible = add('And', [causal, real]);
  const masked = add('Add', [scores, add('Where', [visible, scalar(0), scalar(Number.NEGATIVE_INFINITY)])]);
  const softmax = add('Softmax', [masked], { axis: -1 });
  const weights = add('Where', [add('IsNaN', [softmax]), scalar(0), softmax]);
  const joined = add('Reshape', [
    add('Transpose', [add('MatMul', [weights, v ?? ''])], { perm: [0, 2, 1, 3] }),
    ints(0, 0, hidden),
  ]);
  const afterAttention = add('Add', [x, add('MatMul', [joined, weight(0.6, hidden, hidden)])]);
  const normed = norm(afterAttention);
  const gate = add('MatMul', [normed, weight(0.6, hidden, inner)]);
  const gated = add('Mul', [
    add('Mul', [gate, add('Sigmoid', [gate])]),
    add('MatMul', [normed, weight(0.6, hidden, inner)]),
  ]);
  const last = add('Add', [afterAttention, add('MatMul', [gated, weight(0.6, inner, hidden)])]);
  graph.add('MatMul', [norm(last), weight(1, hidden, vocabulary)], { outputs: ['logits'] });
  return modelOf(graph, 14);
}
