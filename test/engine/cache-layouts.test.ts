/** Cache tensors of other shapes: a real graph with its own wrapped in them generates what the unwrapped one does. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Decoder } from '../../src/engine/decoder.ts';
import { type ModelFiles, openModelFiles, readSignature } from '../../src/model/index.ts';
import type { Dimension, Graph } from '../../src/onnx/index.ts';
import type { ProviderReport } from '../../src/shared/results.ts';

const provider: ProviderReport = { asked: 'cpu', running: 'cpu', reason: '', threads: 1 };
const folder = join(import.meta.dirname, '../fixtures/models/llama-optimum');

/** Names for the graph's own inside, and its outside inputs and outputs made from them. */
function wrap(
  graph: Graph,
  names: readonly string[],
  outside: { name: string; dims: Dimension[] },
  inwards: (value: string) => string[],
  outwards: (values: string[]) => string,
): void {
  const presents = names.map((name) => name.replace('past_key_values', 'present'));
  const dtype = 'float32' as const;
  const inner = new Map([...names, ...presents].map((name) => [name, `inner.${name}`]));
  for (const node of graph.nodes) {
    node.inputs = node.inputs.map((name) => inner.get(name) ?? name);
    node.outputs = node.outputs.map((name) => inner.get(name) ?? name);
  }
  graph.inputs = graph.inputs.filter(({ name }) => !names.includes(name));
  graph.inputs.push({ name: outside.name, dtype, dims: outside.dims });
  for (const [at, value] of inwards(outside.name).entries())
    graph.add('Identity', [value], { outputs: [`inner.${names[at]}`] });
  graph.outputs = graph.outputs.filter(({ name }) => !presents.includes(name));
  const present = outside.name.replace('past_key_values', 'present');
  graph.add('Identity', [outwards(presents.map((name) => `inner.${name}`))], { outputs: [present] });
  graph.outputs.push({ name: present, dtype, dims: outside.dims });
  graph.sort();
}

const perm = [0, 2, 1, 3];
/** [batch, 2, time, 16] ↔ [batch, time, 32]. */
const flatten = (graph: Graph, value: string): string =>
  graph.add('Reshape', [graph.add('Transpose', [value], { attributes: { perm } }), graph.int64s([0, 0, 32])]);
const split = (graph: Graph, value: string): string =>
  graph.add('Transpose', [graph.add('Reshape', [value, graph.int64s([0, 0, 2, 16])])], { attributes: { perm } });
const part = (graph: Graph, value: string, axis: number, from: number, to: number): string =>
  graph.add('Slice', [value, ...[from, to, axis].map((number) => graph.int64s([number]))]);

const layouts: Record<string, (graph: Graph) => void> = {
  'keys and values in one, of one head': (graph) => {
    for (const layer of [0, 1])
      wrap(
        graph,
        ['key', 'value'].map((each) => `past_key_values.${layer}.${each}`),
        { name: `past_key_values.${layer}.key_value`, dims: ['batch', 'time', 64] },
        (value) => [0, 32].map((from) => split(graph, part(graph, value, 2, from, from + 32))),
        (values) =>
          graph.add(
            'Concat',
            values.map((value) => flatten(graph, value)),
            { attributes: { axis: 2 } },
          ),
      );
  },
  'layers with unlike heads': (graph) => {
    for (const name of ['past_key_values.1.key', 'past_key_values.1.value'])
      wrap(
        graph,
        [name],
        { name, dims: ['batch', 1, 'time', 32] },
        (value) => [split(graph, graph.add('Squeeze', [value, graph.int64s([1])]))],
        ([value = '']) => graph.add('Unsqueeze', [flatten(graph, value), graph.int64s([1])]),
      );
  },
  'joined to the past out of sight': (graph) => {
    for (const name of graph.inputs.map((input) => input.name).filter((each) => each.startsWith('past')))
      wrap(
        graph,
        [name],
        { name, dims: ['batch', 2, 'time', 16] },
        (value) => [value],
        ([value = '']) => graph.add('Mul', [value, graph.scalar('float32', 1)]),
      );
  },
  'keys wider than values': (graph) => {
    const name = 'past_key_values.0.key';
    wrap(
      graph,
      [name],
      { name, dims: ['batch', 2, 'time', 24] },
      (value) => [part(graph, value, 3, 4, 20)],
      ([value = '']) =>
        graph.add('Concat', [part(graph, value, 3, 0, 4), value, part(graph, value, 3, 0, 4)], {
          attributes: { axis: 3 },
        }),
    );
  },
};

function filesOf(edit: (graph: Graph) => void): ModelFiles {
  const files = openModelFiles(folder);
  const { graph } = files.file;
  edit(graph);
  return { ...files, signature: readSignature('model.onnx', graph.inputs, graph.outputs) };
}

const rows = [
  [7, 31, 105, 260, 88, 19],
  [301, 45, 212],
  [9, 77, 140, 53],
];

/** Logits of every row's next token: read in a batch, then three steps, one row gone after the first. */
async function logitsOf(files: ModelFiles): Promise<number[][]> {
  const settings = { provider, padTokenId: 0, vocabularySize: 512, hiddenSize: 64, contextLength: 128 };
  const decoder = await Decoder.open(files, settings);
  const prefix = await decoder.readPrefix([5, 6], null);
  const cache = decoder.newCache(3, 40, prefix);
  const found: number[][] = [];
  const read = async (tokens: readonly (readonly number[])[]): Promise<void> => {
    const wanted = tokens.map(({ length }, row) => ({ row, position: length - 1 }));
    for (const { logits } of await decoder.read(cache, 0, tokens, wanted, { logits: true }))
      found.push([...(logits ?? [])]);
  };
  for (const _ of rows) cache.addRow();
  await read(rows);
  await read([[11], [12], [13]]);
  cache.removeRow(0);
  await read([[14], [15]]);
  await read(Array.from({ length: 2 }, () => Array.from({ length: 34 - 8 }, (_, at) => at + 20)));
  await decoder.close();
  return found;
}

describe('cache layouts', () => {
  it.each(Object.entries(layouts))('%s', async (_, edit) => {
    const expected = await logitsOf(openModelFiles(folder));
    const found = await logitsOf(filesOf(edit));
    expect(found).toHaveLength(expected.length);
    for (const [at, logits] of expected.entries())
      for (const [token, value] of logits.entries())
        expect(Math.abs(value - (found[at]?.[token] ?? Number.NaN))).toBeLessThan(2e-5);
  });

  it('refuses a shape that it does not know, with the shape', () => {
    expect(() =>
      filesOf((graph) => {
        for (const input of graph.inputs) if (input.name.startsWith('past')) input.dims = ['batch', 'time', 32];
      }),
    ).toThrow(/past_key_values\.0\.key.*\[batch, time, 32\]/);
  });
});
