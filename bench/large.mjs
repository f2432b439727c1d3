// A decoder graph of the size of a 7B model as optimum writes one (plain operators, shape arithmetic in every layer),
// with its weights in a file that has their length and no content: for what is done with graphs alone.
import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const hidden = 4096;
const intermediate = 11008;
const layers = 32;
const heads = 32;
const keyValueHeads = 8;
const headSize = hidden / heads;
const vocabulary = 32000;

/** Writes model.onnx and model.onnx_data into a folder; gives the number of nodes and the bytes of the weights. */
export function writeLargeModel(folder, { encodeOnnx, Graph, modelOf, tensorOf }) {
  const graph = new Graph();
  graph.name = 'decoder of 7B parameters';
  let offset = 0;
  const weight = (name, ...dims) => {
    const length = 4 * dims.reduce((product, dim) => product * dim, 1);
    graph.initializers.set(name, { dtype: 'float32', dims, external: { location: 'model.onnx_data', offset, length } });
    offset += length;
    return name;
  };
  const add = (operator, inputs, attributes = {}) => graph.add(operator, inputs, { attributes });
  const constant = (dtype, dims, values) => {
    const name = graph.fresh('constant');
    graph.addNode('Constant', [], { outputs: [name], attributes: { value: tensorOf(dtype, dims, values) } });
    return name;
  };
  const whole = (...values) => constant('int64', [values.length], values);
  const number = (value) => constant('float32', [], [value]);
  const sizeOf = (value, axis) =>
    add('Unsqueeze', [add('Gather', [add('Shape', [value]), constant('int64', [], [axis])], { axis: 0 }), whole(0)]);
  const norm = (x, name) => {
    const mean = add('ReduceMean', [add('Pow', [x, number(2)])], { axes: [-1] });
    const root = add('Sqrt', [add('Add', [mean, number(1e-5)])]);
    return add('Mul', [weight(name, hidden), add('Mul', [x, add('Div', [number(1), root])])]);
  };

  graph.inputs = ['input_ids', 'attention_mask', 'position_ids'].map((name) => ({
    name,
    dtype: 'int64',
    dims: ['batch_size', name === 'attention_mask' ? 'past_sequence_length + sequence_length' : 'sequence_length'],
  }));
  const outputs = [];
  let x = add('Gather', [weight('model.embed_tokens.weight', vocabulary, hidden), 'input_ids']);
  const [batch, length] = [sizeOf('input_ids', 0), sizeOf('input_ids', 1)];
  const total = sizeOf('attention_mask', 1);

  // 0 where a query may look, -inf elsewhere: [batch, 1, new, all]
  const scalarOf = (value) => add('Squeeze', [value, whole(0)]);
  const [zero, one] = [constant('int64', [], [0]), constant('int64', [], [1])];
  const keys = add('Range', [zero, scalarOf(total), one]);
  const queries = add('Range', [scalarOf(add('Sub', [total, length])), scalarOf(total), one]);
  const causal = add('LessOrEqual', [keys, add('Unsqueeze', [queries, whole(1)])]);
  const real = add('Unsqueeze', [add('Cast', ['attention_mask'], { to: 9 }), whole(1, 2)]);
  const seen = add('And', [causal, real]);
  const mask = add('Where', [seen, number(0), number(Number.NEGATIVE_INFINITY)]);

  const frequencies = Array.from({ length: headSize / 2 }, (_, at) => 10000 ** ((-2 * at) / headSize));
  const angles = add('MatMul', [
    constant('float32', [1, headSize / 2, 1], frequencies),
    add('Cast', [add('Unsqueeze', ['position_ids', whole(1)])], { to: 1 }),
  ]);
  const turned = add('Transpose', [angles], { perm: [0, 2, 1] });
  const both = add('Concat', [turned, turned], { axis: -1 });
  const [cos, sin] = ['Cos', 'Sin'].map((operator) => add('Mul', [add(operator, [both]), number(1)]));

  for (let layer = 0; layer < layers; layer++) {
    const at = (name) => `model.layers.${layer}.${name}.weight`;
    const h = norm(x, at('input_layernorm'));
    const split = (name, count) => {
      const flat = add('MatMul', [h, weight(at(`self_attn.${name}`), hidden, count * headSize)]);
      const shape = add('Concat', [batch, length, whole(-1), whole(headSize)], { axis: 0 });
      return add('Transpose', [add('Reshape', [flat, shape])], { perm: [0, 2, 1, 3] });
    };
    const rotate = (value) => {
      const half = (start, end) => add('Slice', [value, whole(start), whole(end), whole(3), whole(1)]);
      const width = add('Div', [sizeOf(value, 3), whole(2)]);
      const first = add('Slice', [value, whole(0), width, whole(3), whole(1)]);
      const second = add('Neg', [half(headSize / 2, Number.MAX_SAFE_INTEGER)]);
      const crossed = add('Concat', [second, first], { axis: -1 });
      const [c, s] = [cos, sin].map((table) => add('Unsqueeze', [table, whole(1)]));
      return add('Add', [add('Mul', [value, c]), add('Mul', [crossed, s])]);
    };
    const repeat = (value) => {
      const sizes = [
        sizeOf(value, 0),
        whole(keyValueHeads),
        whole(heads / keyValueHeads),
        sizeOf(value, 2),
        whole(headSize),
      ];
      const wide = add('Expand', [add('Unsqueeze', [value, whole(2)]), add('Concat', sizes, { axis: 0 })]);
      return add('Reshape', [wide, add('Concat', [sizes[0], whole(heads), sizes[3], sizes[4]], { axis: 0 })]);
    };
    const query = rotate(split('q_proj', heads));
    const past = ['key', 'value'].map((kind) => {
      const name = `past_key_values.${layer}.${kind}`;
      graph.inputs.push({
        name,
        dtype: 'float32',
        dims: ['batch_size', keyValueHeads, 'past_sequence_length', headSize],
      });
      return name;
    });
    const key = add('Concat', [past[0], rotate(split('k_proj', keyValueHeads))], { axis: -2 });
    const value = add('Concat', [past[1], split('v_proj', keyValueHeads)], { axis: -2 });
    outputs.push([`present.${layer}.key`, key], [`present.${layer}.value`, value]);
    const scale = number(headSize ** -0.25);
    const scores = add('MatMul', [
      add('Mul', [query, scale]),
      add('Mul', [add('Transpose', [repeat(key)], { perm: [0, 1, 3, 2] }), scale]),
    ]);
    const weights = add('Softmax', [add('Add', [scores, mask])], { axis: -1 });
    const guarded = add('Where', [add('IsNaN', [weights]), number(0), weights]);
    const mixed = add('Transpose', [add('MatMul', [guarded, repeat(value)])], { perm: [0, 2, 1, 3] });
    const joined = add('Reshape', [mixed, add('Concat', [batch, length, whole(hidden)], { axis: 0 })]);
    x = add('Add', [x, add('MatMul', [joined, weight(at('self_attn.o_proj'), hidden, hidden)])]);
    const m = norm(x, at('post_attention_layernorm'));
    const gate = add('MatMul', [m, weight(at('mlp.gate_proj'), hidden, intermediate)]);
    const up = add('MatMul', [m, weight(at('mlp.up_proj'), hidden, intermediate)]);
    const product = add('Mul', [add('Mul', [gate, add('Sigmoid', [gate])]), up]);
    x = add('Add', [x, add('MatMul', [product, weight(at('mlp.down_proj'), intermediate, hidden)])]);
  }
  const logits = add('MatMul', [norm(x, 'model.norm.weight'), weight('lm_head.weight', hidden, vocabulary)]);
  for (const [name, value] of [['logits', logits], ...outputs]) {
    graph.add('Identity', [value], { outputs: [name] });
    graph.outputs.push({ name, dtype: 'float32', dims: null });
  }
  graph.sort();
  writeFileSync(join(folder, 'model.onnx'), encodeOnnx(modelOf(graph, 17)));
  // A hole as long as the weights: it takes no room on the disk where the file system has such.
  const data = openSync(join(folder, 'model.onnx_data'), 'w');
  ftruncateSync(data, offset);
  closeSync(data);
  return { nodes: graph.nodes.length, weightBytes: offset };
}
