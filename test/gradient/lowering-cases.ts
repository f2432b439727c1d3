/** Small graphs for every lowering: each layout, mask and option that ONNX Runtime's own kernel takes. */
import { type Graph, sizeOf, type Tensor, tensorOf } from '../../src/onnx/index.ts';
import { numbers, type SmallGraph } from './run-graph.ts';

export interface LoweringCase extends Omit<SmallGraph, 'operator' | 'domain'> {
  /** Outputs by position that are not asked for. */
  skipped?: number[];
  /** For a layout that ONNX Runtime's CPU kernel refuses: the same in others that it takes; gives the first output. */
  oracle?: (graph: Graph, inputs: readonly string[]) => string;
  /** Whether an element of an output means anything; all do where absent. */
  used?: (output: number, at: number) => boolean;
}

/** A floating input that is differentiated: its shape. A tensor is a constant, null nothing. */
type Argument = number[] | Tensor | null;

let seed = 0;
const values = (dims: readonly number[], scale = 1.5): number[] =>
  numbers(sizeOf(dims), ++seed).map((value) => scale * value);

/** One case; the same shapes give new numbers each time. */
function one(
  given: readonly Argument[],
  attributes: LoweringCase['attributes'] = {},
  more: Partial<LoweringCase> = {},
): LoweringCase {
  const inputs: LoweringCase['inputs'] = [];
  const places = given.map((argument) => {
    if (!Array.isArray(argument)) return argument;
    inputs.push({ dims: argument, values: values(argument) });
    return inputs.length - 1;
  });
  return { opset: 17, inputs, arguments: places, attributes, ...more };
}

export const floatAttribute = (value: number) => ({ type: 'float' as const, value });
const int32 = (dims: number[], ...numbers: number[]): Tensor => tensorOf('int32', dims, numbers);
const int64 = (dims: number[], ...numbers: number[]): Tensor => tensorOf('int64', dims, numbers);
const float = (...dims: number[]): Tensor => tensorOf('float32', dims, values(dims));
const bool = (dims: number[], ...numbers: number[]): Tensor => tensorOf('bool', dims, numbers);

/** Outputs that count: those of the first `counts[row]` positions of each row of the first output [batch, new, width]. */
const realRows =
  (counts: readonly number[], count: number, width: number) =>
  (output: number, at: number): boolean =>
    output > 0 || Math.floor(at / width) % count < (counts[Math.floor(at / (width * count))] ?? 0);

/** Angles as a model has them: [positions, half]. */
function caches(positions: number, half: number): [Tensor, Tensor] {
  const angles = Array.from(
    { length: positions * half },
    (_, at) => Math.floor(at / half) * 10 ** -((at % half) / half),
  );
  return [
    tensorOf('float32', [positions, half], angles.map(Math.cos)),
    tensorOf('float32', [positions, half], angles.map(Math.sin)),
  ];
}

// ── GroupQueryAttention: 2 rows, 3 new tokens, 4 heads over 2 of keys and values, head size 16 ──
const groups = { num_heads: 4, kv_num_heads: 2 };
const [gq, gkv, packed] = [
  [2, 3, 64],
  [2, 3, 32],
  [2, 3, 128],
];
const full: Argument[] = [null, null, int32([2], 2, 2), int32([1], 3)];
const angles = caches(12, 8);
const rotary = { ...groups, do_rotary: 1 };

/** With a past the kernel wants its caches asked for; in a step they have unused places, which mean nothing. */
const step: Partial<LoweringCase> = { outputs: 3, used: (output) => output === 0 };

const normedBefore: LoweringCase['oracle'] = (graph, inputs) => {
  const [q = '', k = ''] = [inputs[0], inputs[1]].map((x = '', at) => {
    const heads = graph.add('Reshape', [x, graph.int64s([2, 3, -1, 16])]);
    const normed = graph.add('SimplifiedLayerNormalization', [heads, inputs[14 + at] ?? ''], {
      attributes: { axis: -1, epsilon: floatAttribute(1e-3) },
    });
    return graph.add('Reshape', [normed, graph.int64s([2, 3, -1])]);
  });
  return graph.add('GroupQueryAttention', [q, k, inputs[2] ?? '', '', '', inputs[5] ?? '', inputs[6] ?? ''], {
    domain: 'com.microsoft',
    attributes: groups,
  });
};

const groupQueryAttention: LoweringCase[] = [
  one([gq, gkv, gkv, ...full], groups, { outputs: 3 }),
  one([packed, null, null, ...full], groups),
  one([packed, null, null, ...full, ...angles], rotary, { outputs: 3 }),
  one([gq, gkv, gkv, ...full, ...angles], { ...rotary, rotary_interleaved: 1 }),
  // half of a head of size 32 is turned
  one([[2, 3, 128], [2, 3, 64], [2, 3, 64], ...full, ...angles], rotary),
  one([[2, 3, 128], [2, 3, 64], [2, 3, 64], ...full, ...angles], { ...rotary, rotary_interleaved: 1 }),
  one([packed, null, null, ...full, ...angles], {
    ...rotary,
    scale: floatAttribute(0.4),
    softcap: floatAttribute(0.8),
  }),
  // rows of 3 and of 1 token, padded on the right
  one([packed, null, null, null, null, int32([2], 2, 0), int32([1], 3), ...angles], rotary, {
    used: realRows([3, 1], 3, 64),
  }),
  // behind a past of 4, one row
  one([[1, 3, 128], null, null, [1, 2, 4, 16], [1, 2, 4, 16], int32([1], 6), int32([1], 7), ...angles], rotary, {
    outputs: 3,
  }),
  // a decoding step of rows with 3 and 5 places of the past in use
  one(
    [[2, 1, 128], null, null, [2, 2, 5, 16], [2, 2, 5, 16], int32([2], 3, 5), int32([1], 6), ...angles],
    rotary,
    step,
  ),
  ...[1, 2, 3].map((local_window_size) =>
    one([[2, 5, 128], null, null, null, null, int32([2], 4, 4), int32([1], 5), ...angles], {
      ...rotary,
      local_window_size,
    }),
  ),
  one(
    [[2, 1, 128], null, null, [2, 2, 5, 16], [2, 2, 5, 16], int32([2], 3, 5), int32([1], 6), ...angles],
    { ...rotary, local_window_size: 2 },
    step,
  ),
  one(
    [[1, 3, 128], null, null, [1, 2, 4, 16], [1, 2, 4, 16], int32([1], 6), int32([1], 7), ...angles],
    { ...rotary, local_window_size: 3, softcap: floatAttribute(1.1) },
    { outputs: 3 },
  ),
  one([gq, gkv, gkv, ...full], { ...groups, smooth_softmax: 1 }),
  one([gq, gkv, gkv, ...full, null, null, null, null, [4]], groups),
  one([gq, gkv, gkv, ...full, null, null, null, null, float(4)], { ...groups, softcap: floatAttribute(0.7) }),
  // all of a row's keys, whatever their place
  one(
    [packed, null, null, null, null, int32([2], 2, 1), int32([1], 3), ...angles],
    { ...rotary, causal: 0 },
    {
      used: realRows([3, 2], 3, 64),
    },
  ),
  // what ONNX Runtime writes for options that are not used
  one([gq, gkv, gkv, ...full], { ...groups, smooth_softmax: -1, local_window_size: -1, k_quant_type: 'NONE' }),
  // queries and keys normalised head by head: not on the CPU, so against the norm in front
  one(
    [gq, gkv, gkv, ...full, null, null, null, null, null, null, null, [16], [16]],
    { ...groups, qk_norm_epsilon: floatAttribute(1e-3) },
    { oracle: normedBefore },
  ),
  // which the kernel does not heed in a first prompt
  one([packed, null, null, ...full, ...angles, int64([2, 3], 0, 2, 5, 1, 3, 4)], rotary),
  one(
    [
      [2, 1, 128],
      null,
      null,
      [2, 2, 5, 16],
      [2, 2, 5, 16],
      int32([2], 3, 5),
      int32([1], 6),
      ...angles,
      int64([2, 1], 2, 7),
    ],
    rotary,
    step,
  ),
  one(
    [
      [1, 3, 128],
      null,
      null,
      [1, 2, 4, 16],
      [1, 2, 4, 16],
      int32([1], 6),
      int32([1], 7),
      ...angles,
      int64([1, 3], 1, 4, 2),
    ],
    rotary,
    { outputs: 3 },
  ),
  one([packed, null, null, ...full, ...angles, null, [2, 4, 3, 3]], rotary),
  one([packed, null, null, ...full, null, null, null, [1, 1, 3, 3]], { ...groups, softcap: floatAttribute(0.6) }),
  // ALiBi as an addend, behind a past
  one(
    [
      [1, 2, 128],
      null,
      null,
      [1, 2, 4, 16],
      [1, 2, 4, 16],
      int32([1], 5),
      int32([1], 6),
      null,
      null,
      null,
      [1, 4, 2, 6],
    ],
    groups,
    { outputs: 3 },
  ),
];

// ── MultiHeadAttention: 2 rows, 3 new tokens, 2 heads of size 4 ──
const two = { num_heads: 2 };
const x = [2, 3, 8];
const pasts: Argument[] = [
  [2, 2, 2, 4],
  [2, 2, 2, 4],
];

/** MultiHeadAttention with the last input of [batch, tokens, 2, parts, 4] taken apart. */
const unpacked =
  (parts: number): LoweringCase['oracle'] =>
  (graph, inputs) => {
    const packed = inputs[parts === 3 ? 0 : 1] ?? '';
    const split = Array.from({ length: parts }, (_, at) => {
      const one = graph.add('Gather', [packed, graph.scalar('int64', at)], { attributes: { axis: 3 } });
      return graph.add('Reshape', [one, graph.int64s([0, 0, 8])]);
    });
    const rest = parts === 3 ? split : [inputs[0] ?? '', ...split];
    return graph.add('MultiHeadAttention', [...rest, ...(inputs[3] ? [inputs[3]] : [])], {
      domain: 'com.microsoft',
      attributes: { ...two, unidirectional: parts === 3 ? 1 : 0 },
    });
  };

const multiHeadAttention: LoweringCase[] = [
  one([x, x, x, null, int32([8], 3, 2, 0, 3, 6, 0, 3, 5)], two),
  one([x, x, x, null, int32([2], 3, 2), null, ...pasts], two, { outputs: 3 }),
  one([x, x, x], two),
  one([x, x, x], { ...two, scale: floatAttribute(0.3) }),
  one([x, x, x, [24]], two),
  one([x, [2, 5, 8], [2, 5, 8]], two),
  one([x, x, [2, 3, 12], float(28)], two),
  one([x, [2, 2, 5, 4], [2, 2, 5, 4]], two),
  one([x, x, x], { ...two, unidirectional: 1 }),
  one([x, x, x, null, int32([2], 3, 2)], two),
  one([x, x, x, null, int32([2, 3], 1, 1, 0, 0, 1, 1)], two),
  one([x, x, x, null, int32([2, 3], 1, 1, 1, 1, 1, 0)], {
    ...two,
    unidirectional: 1,
    mask_filter_value: floatAttribute(-1e9),
  }),
  one([x, x, x, null, int32([2, 3, 3], 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1)], two),
  one([x, x, x, null, null, [2, 2, 3, 3]], two),
  one([x, x, x, null, null, [1, 1, 3, 3]], { ...two, unidirectional: 1 }),
  one([x, x, x, null, int32([2, 3], 1, 1, 0, 1, 1, 1), [1, 2, 3, 3]], two),
  ...[[], [null, null, [24]]].map((bias) =>
    one([[2, 3, 2, 3, 4], ...bias], { ...two, unidirectional: 1 }, { oracle: unpacked(3) }),
  ),
  one([x, [2, 5, 2, 2, 4]], two, { oracle: unpacked(2) }),
  one([x, x, x, null, null, null, ...pasts], two, { outputs: 3 }),
  one([x, x, x, float(24), null, [2, 1, 3, 5], ...pasts], two, { outputs: 3 }),
  one([x, x, x, null, null, null, ...pasts], { ...two, unidirectional: 1 }, { outputs: 3 }),
  one([x, x, x, null, int32([2, 5], 1, 1, 1, 1, 0, 0, 1, 1, 1, 1), null, ...pasts], two, { outputs: 3 }),
];

// ── ONNX Runtime's Attention: 2 rows, 3 tokens of width 6, 2 heads of size 4 ──
const wide: Argument[] = [[2, 3, 6], float(6, 24), float(24)];
const stacked = [2, 2, 2, 2, 4];

const mergedAttention: LoweringCase[] = [
  // lengths and offsets; and what stands for no mask
  one([...wide, int32([8], 3, 2, 0, 3, 6, 0, 3, 5)], two),
  one([...wide, int32([2, 1], 1, 1)], { ...two, unidirectional: 1 }),
  one(wide, two),
  one([[2, 3, 6], [6, 24], [24]], { ...two, scale: floatAttribute(0.7) }),
  one(wide, { ...two, unidirectional: 1 }, { outputs: 2 }),
  one([[2, 3, 6], float(6, 28), float(28)], { ...two, qkv_hidden_sizes: [8, 8, 12] }),
  one([...wide, int32([2], 3, 2)], two),
  one([...wide, int32([4], 3, 2, 0, 1)], two),
  one([...wide, int32([2, 3], 1, 1, 0, 0, 1, 1)], two),
  one([...wide, int32([2, 3], 1, 1, 1, 1, 1, 0)], {
    ...two,
    unidirectional: 1,
    mask_filter_value: floatAttribute(-3.4028234663852886e38),
  }),
  one([...wide, int32([2, 3, 3], 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1)], two),
  one([...wide, null, stacked], { ...two, unidirectional: 1 }, { outputs: 2 }),
  one([...wide, int32([2, 5], 1, 1, 1, 1, 1, 0, 1, 1, 1, 0), stacked], { ...two, unidirectional: 1 }, { outputs: 2 }),
  one([...wide, null, null, [2, 2, 3, 3]], two),
  one([...wide, null, null, [1, 1, 3, 3]], { ...two, unidirectional: 1 }),
];

// ── ONNX Attention ──
const [q4, k4] = [
  [2, 4, 3, 4],
  [2, 2, 5, 4],
];
const heads3 = { q_num_heads: 4, kv_num_heads: 2 };
const [q3, k3] = [
  [2, 3, 16],
  [2, 5, 8],
];
const past4: Argument[] = [
  [2, 2, 2, 4],
  [2, 2, 2, 4],
];
const seen = bool([3, 5], 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1);

const attention: LoweringCase[] = [23, 24].flatMap((opset) => [
  one([q4, k4, k4], {}, { opset }),
  one([q3, k3, k3], heads3, { opset }),
  one([q3, k3, [2, 5, 12]], heads3, { opset }),
  one([q4, k4, [2, 2, 5, 6]], { scale: floatAttribute(0.3), softcap: floatAttribute(0.9) }, { opset }),
  one([q4, k4, k4, seen], {}, { opset }),
  one([q4, k4, k4, [3, 5]], {}, { opset }),
  one([q4, k4, k4, [4, 3, 5]], {}, { opset }),
  one([q4, k4, k4, [2, 4, 3, 5]], { softcap: floatAttribute(0.9) }, { opset }),
  one([q4, k4, k4, [2, 1, 3, 5]], { is_causal: 1 }, { opset }),
  one([q4, k4, k4], { is_causal: 1 }, { opset }),
  one([q3, k3, k3, seen], { ...heads3, is_causal: 1 }, { opset }),
  one([q4, k4, k4, null, ...past4], { is_causal: 1 }, { opset, outputs: 3 }),
  one([q3, k3, k3, [1, 1, 3, 7], ...past4], heads3, { opset, outputs: 3 }),
  ...[0, 1, 2, 3].map((qk_matmul_output_mode) =>
    one([q4, k4, k4, [3, 7], ...past4], { qk_matmul_output_mode, softcap: floatAttribute(0.9) }, { opset, outputs: 4 }),
  ),
]);
attention.push(
  // queries at the end of each row's keys
  one([q4, k4, k4, null, null, null, int64([2], 5, 3)], { is_causal: 1 }, { opset: 24 }),
  one([[2, 4, 1, 4], [2, 2, 3, 4], [2, 2, 3, 4], null, ...past4], { is_causal: 1 }, { opset: 24, outputs: 3 }),
  one([q4, k4, k4, null, null, null, int64([2], 5, 3)], {}, { opset: 24 }),
  one([q3, k3, k3, [3, 5], null, null, int64([2], 2, 4)], { ...heads3, softcap: floatAttribute(0.9) }, { opset: 24 }),
);

// Numbers that come near no kink of the activations, whatever cases stand above.
seed = 1000;
const activations = ['Relu', 'Tanh', 'Sigmoid', 'LeakyRelu'].map((activation) => ({
  activation,
  ...(activation === 'LeakyRelu' ? { activation_alpha: floatAttribute(0.2) } : {}),
}));

const norms = [2, 3, 8];
const epsilon = floatAttribute(1e-4);
const words: Argument[] = [int32([2, 3], 4, 0, 2, 1, 1, 3), null, [5, 8], [6, 8], null, [8], [8]];

/** By full operator. A lowering without a row here fails the test. */
export const loweringCases: Record<string, LoweringCase[]> = {
  'com.microsoft.SkipLayerNormalization': [
    one([norms, norms, [8], [8], [8]], { epsilon }, { skipped: [1, 2], outputs: 4 }),
    one([norms, norms, [8], [8]], {}, { skipped: [1, 2], outputs: 4 }),
    one([norms, norms, [8], [8], [8]]),
  ],
  'com.microsoft.SkipSimplifiedLayerNormalization': [
    one([norms, norms, [8]], { epsilon }, { skipped: [1, 2], outputs: 4 }),
    one([norms, norms, [8], [8]], {}, { skipped: [1, 2], outputs: 4 }),
    one([norms, norms, [8]]),
  ],
  'com.microsoft.EmbedLayerNormalization': [
    one([...words, int32([2, 3], 1, 1, 0, 1, 1, 1)], { epsilon }, { skipped: [1], outputs: 2 }),
    one(words, { epsilon }, { skipped: [1], outputs: 3 }),
    one([...words, null, int32([2, 3], 5, 1, 0, 2, 2, 3)], { epsilon }, { skipped: [1], outputs: 3 }),
    one([...words, null, int32([1, 3], 5, 1, 0)], { epsilon }, { skipped: [1], outputs: 3 }),
    one(
      [int32([2, 3], 4, 0, 2, 1, 1, 3), int32([2, 3], 0, 1, 1, 0, 0, 1), [5, 8], [6, 8], [2, 8], [8], [8]],
      { epsilon },
      { outputs: 2, skipped: [1] },
    ),
  ],
  'com.microsoft.GroupQueryAttention': groupQueryAttention,
  'com.microsoft.MultiHeadAttention': multiHeadAttention,
  'com.microsoft.Attention': mergedAttention,
  Attention: attention,
  'com.microsoft.FusedGemm': activations.flatMap((activation) => [
    one([[3, 4], [4, 2], [2]], activation),
    one(
      [
        [4, 3],
        [2, 4],
        [3, 2],
      ],
      { ...activation, transA: 1, transB: 1, alpha: floatAttribute(0.5), beta: floatAttribute(2) },
    ),
  ]),
  'com.microsoft.FusedMatMulActivation': [
    one(
      [
        [2, 4, 3],
        [2, 4],
      ],
      { activation: 'Tanh', transA: 1, transB: 1, alpha: floatAttribute(0.5) },
      {
        oracle: (graph, inputs) => {
          const attributes = { transA: 1, transB: 1, alpha: floatAttribute(0.5) };
          return graph.add('Tanh', [graph.add('FusedMatMul', inputs, { domain: 'com.microsoft', attributes })]);
        },
      },
    ),
  ],
  'com.microsoft.GemmFastGelu': [[], [[5]]].map((bias) =>
    one(
      [[2, 3, 4], [4, 5], ...bias],
      {},
      {
        oracle: (graph, [x = '', w = '', ...rest]) =>
          graph.add('FastGelu', [graph.add('MatMul', [x, w]), ...rest], { domain: 'com.microsoft' }),
      },
    ),
  ),
};
