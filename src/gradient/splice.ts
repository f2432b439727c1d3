/** The soft prompt's place in a graph: the first rows of the token embedding's output. */

import type { DataType, GraphNode, OnnxModel, Tensor } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import { withOpenEmbedding } from './lowerings/index.ts';

/** Name of the input that {@link spliceSoftPrompt} adds: [vectors, hidden]. */
export const softPromptInput = 'soft_prompt';
/** Name of the input of {@link spliceSoftPrompt}'s form `anywhere`: int64 [batch, vectors, 2] of (row, position). */
export const softPromptPlacesInput = 'soft_prompt_places';

export interface Embedding {
  /** The Gather that looks token ids up. */
  node: GraphNode;
  /** The value that a soft prompt stands in for: [batch, sequence, hidden]. */
  output: string;
  /** The table's name; its tensor is among the graph's initialisers. */
  tableName: string;
  /** [vocabulary, hidden], or [hidden, vocabulary] where the graph transposes the head's weights. */
  table: Tensor;
  transposed: boolean;
  hiddenSize: number;
  vocabularySize: number;
  /** Element type of the output. */
  dtype: DataType;
}

interface Lookup {
  /** Input whose element type the result has; null: the table. */
  dtype: string | null;
  /** Entries of the result for one of the table. */
  entries(stored: DataType): number;
}

/** Operators that look rows of a table up, their first input, by indices, their second; null: not along the rows. */
const lookups: Readonly<Record<string, (node: GraphNode) => Lookup | null>> = {
  Gather: (node) => (node.int('axis', 0) === 0 ? { dtype: null, entries: () => 1 } : null),
  'com.microsoft.GatherBlockQuantized': (node) =>
    node.int('gather_axis', 0) === 0
      ? // Bytes hold several entries of a row.
        { dtype: node.input(2), entries: (stored) => (stored === 'uint8' ? 8 / node.int('bits', 4) : 1) }
      : null,
};

const widens = (node: GraphNode): boolean =>
  node.operator === 'DequantizeLinear' || (node.operator === 'Cast' && !node.domain && node.int('to', 0) === 1);

/** Operators between `input_ids` and the lookup that only change shape or integer type. */
const passing = new Set(['Identity', 'Cast', 'Reshape', 'Unsqueeze', 'Squeeze', 'Flatten']);

/**
 * The token embedding of a language model's graph: the Gather on `input_ids`. Names are those of the graph with its
 * embedding in the open ({@link withOpenEmbedding}).
 * @throws HumanError where there is none
 */
export function findEmbedding(model: OnnxModel): Embedding {
  const { graph } = withOpenEmbedding(model);
  const producers = graph.producers();
  const consumers = graph.consumers();
  const ids = graph.inputs.find(({ name }) => name === 'input_ids');
  const reached = new Set<string>(ids ? [ids.name] : []);
  const queue = [...reached];
  for (let name = queue.shift(); name !== undefined; name = queue.shift())
    for (const node of consumers.get(name) ?? []) {
      if (passing.has(node.operator) && node.input(0) === name) {
        reached.add(node.output());
        queue.push(node.output());
      }
      if (node.input(1) !== name) continue;
      const lookup = lookups[node.fullOperator]?.(node);
      if (!lookup) continue;
      const turn = producers.get(node.input(0));
      const transposed = turn?.operator === 'Transpose';
      const tableName = transposed ? turn.input(0) : node.input(0);
      const table = graph.constantOf(tableName, producers);
      if (table?.dims.length !== 2) continue;
      const [rows = 0, columns = 0] = table.dims;
      // A table of narrow entries is widened behind the lookup: the soft prompt stands for the result.
      const after = consumers.get(node.output()) ?? [];
      const [widening] = after;
      const widened = after.length === 1 && widening && widens(widening);
      const stored = lookup.dtype === null ? table.dtype : (graph.initializers.get(lookup.dtype)?.dtype ?? 'float32');
      return {
        node,
        output: widened ? widening.output() : node.output(),
        tableName,
        table,
        transposed,
        hiddenSize: (transposed ? rows : columns) * lookup.entries(table.dtype),
        vocabularySize: transposed ? columns : rows,
        dtype: widened ? 'float32' : stored,
      };
    }
  throw new HumanError(
    'unsupported',
    ids
      ? 'No lookup of token embeddings (a Gather on input_ids) was found in the graph.'
      : 'The graph has no input called input_ids.',
    {
      todo: 'Export the model with token ids as its input, for instance with optimum (task text-generation-with-past).',
    },
  );
}

/**
 * A copy of the model whose first rows of the embedding output are a soft prompt: it gains an input `soft_prompt`
 * [vectors, hidden] (float32), the same for all rows of the batch. Callers put `vectors` placeholder ids in front of
 * `input_ids`, and as many entries in front of `attention_mask` and `position_ids`: all the graph's own arithmetic of
 * positions, masks and caches stays valid then. For a prefill; a decoding step uses the model as it was.
 *
 * `anywhere`: the vectors stand where the further input `soft_prompt_places` says, for instance behind each row's text;
 * the placeholders are then there.
 */
export function spliceSoftPrompt(model: OnnxModel, { anywhere = false } = {}): OnnxModel {
  const open = withOpenEmbedding(model);
  const graph = open.graph.clone();
  const copy = { ...open, graph };
  const { output, hiddenSize, dtype } = findEmbedding(copy);
  const maker = graph.producers().get(output);
  const text = graph.fresh(`${output}_text`);
  if (maker) maker.outputs = maker.outputs.map((name) => (name === output ? text : name));
  graph.inputs.push({ name: softPromptInput, dtype: 'float32', dims: ['soft_prompt_length', hiddenSize] });
  const codes: Partial<Record<DataType, number>> = { float16: 10, float64: 11, bfloat16: 16 };
  const vectors =
    dtype === 'float32' ? softPromptInput : graph.add('Cast', [softPromptInput], { attributes: { to: codes[dtype] } });
  if (anywhere) {
    graph.inputs.push({ name: softPromptPlacesInput, dtype: 'int64', dims: ['batch_size', 'soft_prompt_length', 2] });
    const rows = [graph.int64s([0]), graph.int64s([2])];
    const places = graph.add('Slice', [graph.add('Shape', [softPromptPlacesInput]), ...rows]);
    const width = graph.int64s([hiddenSize]);
    const shape = graph.add('Concat', [places, width], { attributes: { axis: 0 } });
    const updates = graph.add('Expand', [vectors, shape]);
    graph.add('ScatterND', [text, softPromptPlacesInput, updates], { outputs: [output] });
    graph.sort();
    return copy;
  }
  const count = graph.add('Gather', [graph.add('Shape', [softPromptInput]), graph.int64s([0])]);
  const batch = graph.add('Gather', [graph.add('Shape', [text]), graph.int64s([0])]);
  const shape = graph.add('Concat', [batch, graph.int64s([1, 1])], { attributes: { axis: 0 } });
  const prompt = graph.add('Expand', [vectors, shape]);
  const end = graph.int64s([Number.MAX_SAFE_INTEGER]);
  const rest = graph.add('Slice', [text, count, end, graph.int64s([1])]);
  graph.add('Concat', [prompt, rest], { attributes: { axis: 1 }, outputs: [output] });
  graph.sort();
  return copy;
}
