/**
 * What is understood of a model folder, against what its config.json and its reference.json (written by Python from the
 * file itself) say. The report comes from the graph alone.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { GraphReader } from '../../src/engine/graph-reader.ts';
import { inspectModel } from '../../src/engine/index.ts';
import { attentionOf, cacheJoin } from '../../src/engine/inspect-attention.ts';
import { positionsOf } from '../../src/engine/inspect-positions.ts';
import { headOf } from '../../src/engine/inspect-weights.ts';
import { attribute, encodeOnnx, Graph, readOnnxFile, tensorOf } from '../../src/onnx/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const folders = readdirSync(models, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'make')
  .map(({ name }) => name);

const json = (folder: string, file: string) => JSON.parse(readFileSync(join(models, folder, file), 'utf8'));

/** Files whose configuration says nothing about it: the README says how their exporter wrote the head. */
const tiedByReadme = new Set(['gemma-optimum', 'gpt2-optimum', 'gpt2-nopast', 'qwen2-optimum-external']);
/** Kinds of positions that the architectures' papers name; rotary for all others here. */
const kindByModel: Record<string, string> = { gpt2: 'learned', gpt_neo: 'learned', bloom: 'ALiBi' };
/** Where positions come from in files without a position_ids input (README, "Facts about the graphs"). */
const countedByReadme: Record<string, string> = {
  'gemma-optimum': 'cache',
  'bloom-optimum': 'mask',
  'llama-2024-merged': 'cache',
  'gpt2-dynamo-nopast': 'text',
  'llama-genai-fp32': 'mask',
  'llama-genai-int4': 'mask',
  'mistral-genai-fp32': 'mask',
  'qwen2-genai-int4': 'mask',
};
/** Block, zero points and rounding of activations, from the commands in README and reference.json. */
const nbits: Record<string, { block: number; symmetric: boolean; activationBits: number | null }> = {
  'llama-tjs-q4': { block: 32, symmetric: true, activationBits: null },
  'llama-genai-int4': { block: 32, symmetric: true, activationBits: 8 },
  'qwen2-genai-int4': { block: 16, symmetric: false, activationBits: 8 },
};

describe.each(folders)('%s', (folder) => {
  const config = json(folder, 'config.json');
  const { graph, hidden_size: hiddenSize } = json(folder, 'reference.json');
  const count = (operator: string): number => graph.op_histogram[operator] ?? 0;
  const heads = config.num_attention_heads ?? config.n_head ?? config.num_heads;
  const keyHeads = config.num_key_value_heads ?? heads;
  const headSize = config.head_dim ?? hiddenSize / heads;
  const layers = config.num_hidden_layers ?? config.n_layer ?? config.num_layers;

  it('is described by its graph', async () => {
    const report = await inspectModel(join(models, folder));
    expect(report).toMatchObject({ ok: true, reason: null, tunable: true, missing: [], hiddenSize });
    expect(report.opset).toMatchObject(graph.opset);
    const names = (values: { name: string }[]): string[] => values.map(({ name }) => name);
    expect(names(report.inputs)).toEqual(names(graph.inputs));
    expect(names(report.outputs)).toEqual(names(graph.outputs));
    expect(report.inputs.map(({ dims }) => dims.length)).toEqual(
      graph.inputs.map(({ shape }: { shape: unknown[] }) => shape.length),
    );
    expect(report.layout[0]).toMatch(folder.includes('genai') ? /GenAI/ : /^Hugging Face/);
    expect(report.layout.some((one) => one.includes('merged'))).toBe(folder.includes('merged'));
    for (const file of Object.keys(graph.external_data)) expect(report.layout.at(-1)).toContain(file);

    const hasCache = names(graph.inputs).some((name) => name.startsWith('past'));
    expect(report.cache !== null).toBe(hasCache);
    expect(report.layers).toBe(layers);
    if (report.cache) {
      expect(report.cache).toMatchObject({ layers, heads: keyHeads, headSize });
      expect(report.cache.dtype).toBe(folder.includes('fp16') ? 'float16' : 'float32');
      expect(report.cache.inPlace).toBe(count('com.microsoft:GroupQueryAttention') > 0);
      expect(report.cache.joinedBy).toHaveLength(1);
    }

    const fused = Object.entries(graph.op_histogram).filter(([name]) => name.endsWith('Attention'));
    // The exporters of these files have kept the window and the bounds of config.json.
    // Mistral's says it by the window alone.
    const slides =
      config.layer_types?.includes('sliding_attention') ??
      (typeof config.sliding_window === 'number' && config.use_sliding_window !== false);
    expect(report.attention).toMatchObject({
      queryHeads: heads,
      keyHeads,
      headSize,
      windows: slides ? [config.sliding_window] : [],
      softCaps: config.attn_logit_softcapping ? [config.attn_logit_softcapping] : [],
    });
    expect(report.logitSoftCap).toBe(config.final_logit_softcapping ?? null);
    expect(report.attention.form).toBe(fused.length ? 'fused' : 'plain');
    // One a layer: routers of experts have softmaxes too.
    expect(Object.values(report.attention.operators)).toEqual([layers]);
    expect(fused.reduce((sum, [, times]) => sum + Number(times), 0)).toBe(fused.length ? layers : 0);

    const kind = kindByModel[config.model_type] ?? 'rotary';
    expect(report.positions).toEqual({
      from: countedByReadme[folder] ?? 'input',
      kinds: [kind],
      rotarySize: kind === 'rotary' ? headSize * (config.partial_rotary_factor ?? config.rotary_pct ?? 1) : null,
      tableLength: kind === 'learned' ? (config.n_positions ?? config.max_position_embeddings) : null,
    });

    if (config.tie_word_embeddings === false) expect(report.tiedHead).toBe(false);
    if (tiedByReadme.has(folder)) expect(report.tiedHead).toBe(true);

    if (config.model_type === 'llama') {
      // Weights as the architecture has them, packed in bytes or not. On top come constants of the graph: tables of
      // rotations, a causal mask.
      const { vocab_size: vocabulary, intermediate_size: wide } = config;
      const layer = 2 * hiddenSize * headSize * (heads + keyHeads) + 3 * hiddenSize * wide + 2 * hiddenSize;
      const parameters = 2 * vocabulary * hiddenSize + layers * layer + hiddenSize;
      expect(report.parameters).toBeGreaterThanOrEqual(parameters);
      const mask = config.max_position_embeddings ** 2;
      expect(report.parameters).toBeLessThan(1.05 * parameters + (folder.includes('2024-o3') ? mask : 0));
    }

    const lowered = Object.fromEntries(report.lowered.map((one) => [one.operator, one]));
    for (const norm of ['SkipLayerNormalization', 'SkipSimplifiedLayerNormalization'])
      expect(lowered[`com.microsoft.${norm}`]?.count ?? 0).toBe(count(`com.microsoft:${norm}`));
    for (const [name, times] of fused)
      expect(lowered[name.replace('ai.onnx:', '').replace(':', '.')]?.count).toBe(times);
    for (const { to } of report.lowered) expect(to).not.toEqual([]);
  });

  it('is quantised as its exporter was told', async () => {
    const { quantisation } = await inspectModel(join(models, folder));
    const kinds = nbits[folder];
    const products = count('com.microsoft:MatMulNBits');
    const integers = count('ai.onnx:MatMulInteger');
    if (kinds) {
      expect(quantisation).toHaveLength(1);
      expect(quantisation[0]).toMatchObject({
        operator: 'com.microsoft.MatMulNBits',
        tensors: products,
        bits: 4,
        ...kinds,
      });
      expect(quantisation[0]?.parts).toContain('head');
    } else if (integers) {
      const product = quantisation.find(({ operator }) => operator === 'MatMulInteger');
      // weight_type=QInt8: symmetric
      expect(product).toMatchObject({ tensors: integers, bits: 8, symmetric: true, activationBits: 8 });
      expect(quantisation.find(({ operator }) => operator === 'DequantizeLinear')?.parts).toContain('embedding');
    } else expect(quantisation).toEqual([]);
  });
});

describe('what no fixture has', () => {
  const reader = (make: (graph: Graph) => void): GraphReader => {
    const graph = new Graph();
    graph.inputs = [
      { name: 'input_ids', dtype: 'int64', dims: ['batch', 'length'] },
      { name: 'attention_mask', dtype: 'int64', dims: ['batch', 'total'] },
    ];
    make(graph);
    return new GraphReader(graph, null, '.');
  };
  const scores = (graph: Graph, mask: string): void => {
    const product = graph.add('MatMul', ['q', 'k']);
    const capped = graph.add('Tanh', [graph.add('Div', [product, graph.scalar('float32', 50)])]);
    const scaled = graph.add('Mul', [capped, graph.scalar('float32', 50)]);
    graph.add('Softmax', [graph.add('Add', [scaled, mask])]);
  };
  const queries = (graph: Graph): string => graph.add('Unsqueeze', ['query_positions', graph.int64s([1])]);

  it.each([
    // key > query - 16: 16 tokens, itself included
    ['Greater', 16, (graph: Graph) => ['key_positions', graph.add('Sub', [queries(graph), graph.scalar('int64', 16)])]],
    [
      'GreaterOrEqual',
      17,
      (graph: Graph) => ['key_positions', graph.add('Sub', [queries(graph), graph.scalar('int64', 16)])],
    ],
    // query - key < 8
    ['Less', 8, (graph: Graph) => [graph.add('Sub', [queries(graph), 'key_positions']), graph.scalar('int64', 8)]],
  ] as const)('a sliding window that is written as %s, and scores between bounds', (operator, window, operands) => {
    const found = attentionOf(
      reader((graph) => {
        const seen = graph.add(operator, [...operands(graph)]);
        scores(graph, graph.add('Where', [seen, graph.scalar('float32', 0), graph.scalar('float32', -1e9)]));
      }),
      null,
    );
    expect(found).toMatchObject({ form: 'plain', operators: { Softmax: 1 }, windows: [window], softCaps: [50] });
  });

  it('a causal mask alone is no window', () => {
    const found = attentionOf(
      reader((graph) => scores(graph, graph.add('LessOrEqual', ['key_positions', queries(graph)]))),
      null,
    );
    expect(found.windows).toEqual([]);
  });

  it('a router of experts is no attention', () => {
    const found = attentionOf(
      reader((graph) => {
        const weight = graph.constant(tensorOf('float32', [2, 2], [1, 2, 3, 4]));
        graph.add('Softmax', [graph.add('MatMul', ['hidden', weight])]);
      }),
      null,
    );
    expect(found.form).toBe('not found');
  });

  it.each([
    // Press et al. 2022: for 8 heads the slopes are 1/2, 1/4, …, 1/256.
    [8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]],
    // For 12, those of 8 and every second one of 16.
    [12, [...[1, 2, 3, 4, 5, 6, 7, 8].map((i) => 2 ** -i), ...[0, 1, 2, 3].map((i) => 2 ** -(0.5 + i))]],
  ])('ALiBi of %i heads, by its slopes or as a whole bias', (heads, slopes) => {
    const bySlopes = reader((graph) => {
      const constant = graph.constant(tensorOf('float32', [heads, 1, 1], slopes));
      const counted = graph.add('CumSum', ['attention_mask', graph.scalar('int64', 1)]);
      graph.add('Mul', [constant, graph.add('Cast', [counted])]);
    });
    expect(positionsOf(bySlopes, null, null, heads)).toMatchObject({ kinds: ['ALiBi'], from: 'mask' });
    const asBias = reader((graph) => {
      const bias = slopes.flatMap((slope) => [-3, -2, -1, 0].map((distance) => distance * slope));
      graph.constant(tensorOf('float32', [1, heads, 1, 4], bias));
    });
    expect(positionsOf(asBias, null, null, heads).kinds).toEqual(['ALiBi']);
    expect(positionsOf(asBias, null, null, heads + 1).kinds).toEqual([]);
  });

  it('logits between bounds, and a cache that is written into', () => {
    const cache = {
      kind: 'separate' as const,
      tensors: [{ past: 'past_key_values.0.key', present: 'present.0.key', heads: 2, headSize: 16 }],
      layers: 1,
      heads: 2,
      headSize: 16,
      dtype: 'float32' as const,
    };
    const found = reader((graph) => {
      graph.add('TensorScatter', ['past_key_values.0.key', 'k', 'lengths'], { outputs: ['present.0.key'] });
      const weight = graph.constant(tensorOf('float32', [1, 2], [1, 2]));
      const divided = graph.add('Div', [graph.add('MatMul', ['hidden', weight]), graph.scalar('float32', 30)]);
      graph.add('Mul', [graph.add('Tanh', [divided]), graph.scalar('float32', 30)], { outputs: ['logits'] });
    });
    expect(headOf(found, 'logits')?.softCap).toBe(30);
    expect(cacheJoin(found, cache)).toEqual({ joinedBy: ['TensorScatter'], inPlace: true });
  });

  it('window, bound and part of a head in the attributes of a fused operator', () => {
    const found = reader((graph) => {
      const table = graph.constant(tensorOf('float32', [3, 4], new Array(12).fill(1)));
      graph.addNode('GroupQueryAttention', ['q', '', '', '', '', 'lengths', 'total', table, table], {
        domain: 'com.microsoft',
        attributes: {
          num_heads: 8,
          kv_num_heads: 2,
          do_rotary: 1,
          local_window_size: 12,
          softcap: attribute({ type: 'float', value: 5 }),
        },
      });
    });
    expect(attentionOf(found, null)).toMatchObject({ queryHeads: 8, keyHeads: 2, windows: [12], softCaps: [5] });
    expect(positionsOf(found, null, null, 8)).toMatchObject({ kinds: ['rotary'], rotarySize: 8 });
  });
});

describe('a folder that cannot be used', () => {
  it('says why, and throws nothing', async () => {
    const report = await inspectModel(join(models, 'make'));
    expect(report).toMatchObject({ ok: false, tunable: false });
    expect(report.reason).toMatch(/no ONNX file/);
  });
});

describe('an operator of a domain that ONNX Runtime does not have', () => {
  const folder = mkdtempSync(join(tmpdir(), 'softbench-inspect-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['on the way to the logits', true],
    ['whose output nothing reads', false],
  ])('%s', async (_, onTheWay) => {
    cpSync(join(models, 'llama-optimum'), folder, { recursive: true });
    const file = join(folder, 'model.onnx');
    const model = readOnnxFile(file);
    model.opsets.set('my.domain', 1);
    const before = model.graph.nodes.find(({ operator }) => operator === 'Softmax');
    if (!before) throw new Error('the fixture has a softmax');
    const [input] = before.inputs;
    const odd = model.graph.add('Odd', [input ?? ''], { domain: 'my.domain' });
    if (onTheWay) before.inputs = [odd];
    writeFileSync(file, encodeOnnx(model));
    const report = await inspectModel(folder);
    if (onTheWay)
      expect(report).toMatchObject({ ok: false, reason: expect.stringContaining('no operator my.domain.Odd') });
    else expect(report).toMatchObject({ ok: true, tunable: true });
  });
});
