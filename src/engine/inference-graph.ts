/**
 * The user's graph edited for evaluation: a soft prompt can stand in front of the text, logits are computed for chosen
 * positions only, the most likely token and the normaliser come out beside them, and each step hands back only the new
 * keys and values. The weights are not touched.
 */

import {
  findEmbedding,
  softPromptInput,
  softPromptPlacesInput,
  spliceSoftPrompt,
  withCacheBranch,
  withOpenEmbedding,
} from '../gradient/index.ts';
import type { CacheSignature, ModelSignature } from '../model/index.ts';
import { type Graph, type GraphNode, type OnnxFile, type OnnxModel, weightsInPlace } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import { type CacheOutput, editCache } from './cache-graph.ts';
import { sharePrefix } from './shared-prefix.ts';

/** Names of what the edit adds. */
export const names = {
  /** float32 [vectors, hidden]; zero vectors: none. */
  softPrompt: softPromptInput,
  /** int64 [batch, vectors, 2]: (row, position) of each vector; only where the graph has no cache. */
  softPromptPlaces: softPromptPlacesInput,
  /** int64 [rows, 2]: (row of the batch, position) pairs whose logits are wanted. */
  rows: 'softbench.rows',
  /** int64 [targets, 2]: (which of `rows`, token) pairs whose logit is wanted. */
  targets: 'softbench.targets',
  /** float32 [rows, vocabulary] */
  logits: 'softbench.logits',
  /** int64 [rows]: the most likely token. */
  token: 'softbench.token',
  /** float32 [rows]: its logit, and the logarithm of the sum of exponentials of all. */
  maximum: 'softbench.maximum',
  logSumExp: 'softbench.log_sum_exp',
  /** float32 [targets] */
  targetLogit: 'softbench.target_logit',
} as const;

export interface InferenceGraph {
  model: OnnxModel;
  weightFolder: string;
  /** Value that holds the token embedding's output, float [batch, sequence, hidden]; null where it was not found. */
  embedding: string | null;
  /** Whether a prefix can be held once for all rows of a batch (shared-prefix.ts). */
  sharesPrefix: boolean;
  /** The cache as the edited graph takes it: a tensor for keys and one for values, whatever the file has. */
  cache: CacheSignature | null;
  /** Per cache tensor the output to read. */
  cacheOutputs: CacheOutput[];
}

/** Operators that treat every position by itself and take the hidden states first: the head may be moved before them. */
const rowWise = new Set(['Cast', 'Mul', 'Div', 'Add', 'Sub', 'Tanh', 'Identity']);
const products = new Set(['MatMul', 'FusedMatMul', 'MatMulNBits', 'Gemm']);

/**
 * Node and input where the hidden states go into the head, found by walking back from the logits; null where the way is
 * not that of a plain head.
 */
function headInput(graph: Graph, logits: string): GraphNode | null {
  const producers = graph.producers();
  let node = producers.get(logits);
  while (node && rowWise.has(node.operator)) {
    // Of two operands one may be a constant; two computed ones are not a head's.
    const computed = node.inputs.filter((input) => input && graph.constantOf(input, producers) === null);
    if (computed.length !== 1) return null;
    node = producers.get(computed[0] ?? '');
  }
  // Gemm flattens its rows beforehand: positions are not there any more.
  return node && products.has(node.operator) && node.operator !== 'Gemm' ? node : null;
}

/** The token embedding's output, or null where the graph has none at its top. */
function embeddingOf(model: OnnxModel): string | null {
  try {
    return findEmbedding(model).output;
  } catch (error) {
    if (error instanceof HumanError) return null;
    throw error;
  }
}

/** How many blocks of what length make up the vocabulary, near its root; blocks of 1 where its size is unknown or a prime. */
function blocksOf(vocabularySize: number | null): [blocks: number, block: number] {
  if (vocabularySize === null) return [1, 1];
  for (let blocks = Math.floor(Math.sqrt(vocabularySize)); blocks > 1; blocks--)
    if (vocabularySize % blocks === 0) return [blocks, vocabularySize / blocks];
  return [vocabularySize, 1];
}

/** Gathers the wanted positions before the head and derives what decoding needs from their logits. */
function answerRows(graph: Graph, signature: ModelSignature, opset: number): void {
  graph.inputs.push({ name: names.rows, dtype: 'int64', dims: ['softbench_rows', 2] });
  graph.inputs.push({ name: names.targets, dtype: 'int64', dims: ['softbench_targets', 2] });
  const { name: logits, dtype } = signature.logits;
  const head = headInput(graph, logits);
  const add = graph.add.bind(graph);
  let wanted = logits;
  if (head) head.inputs[0] = add('GatherND', [head.input(0), names.rows]);
  else wanted = add('GatherND', [logits, names.rows]);
  // A Cast that changes nothing would still copy them.
  const producer = dtype === 'float32' ? graph.producers().get(wanted) : undefined;
  if (producer) {
    producer.outputs = producer.outputs.map((output) => (output === wanted ? names.logits : output));
    graph.replaceUses(wanted, names.logits);
  } else add('Cast', [wanted], { attributes: { to: 1 }, outputs: [names.logits] });
  const reduce = (operator: string, input: string, keepDims: 0 | 1, output?: string): string => {
    // Axes are an attribute before opset 13 (sum) and 18 (maximum), an input from then on.
    const attribute = opset < (operator === 'ReduceSum' ? 13 : 18);
    return add(operator, attribute ? [input] : [input, graph.int64s([-1])], {
      attributes: { keepdims: keepDims, ...(attribute && { axes: [-1] }) },
      ...(output !== undefined && { outputs: [output] }),
    });
  };
  const maximum = reduce('ReduceMax', names.logits, 1);
  add('Reshape', [maximum, graph.int64s([-1])], { outputs: [names.maximum] });
  // Not ReduceLogSumExp, which adds one term after the other in float32: behind the largest, the many small ones of a
  // large vocabulary are lost (1e-4 and more of a log-likelihood). Sums of blocks keep them, and take half the time.
  const terms = add('Exp', [add('Sub', [names.logits, maximum])]);
  const [blocks, block] = blocksOf(signature.vocabularySize);
  // No open size in it: ONNX Runtime refuses one where there are no rows.
  const sums = block > 1 ? reduce('ReduceSum', add('Reshape', [terms, graph.int64s([0, blocks, block])]), 0) : terms;
  add('Add', [add('Log', [reduce('ReduceSum', sums, 0)]), names.maximum], { outputs: [names.logSumExp] });
  add('ArgMax', [names.logits], { attributes: { axis: -1, keepdims: 0 }, outputs: [names.token] });
  add('GatherND', [names.logits, names.targets], { outputs: [names.targetLogit] });
}

/** The Concat(past, new) along the time axis that makes a `present` output; null where the graph does otherwise. */
function joinOf(producers: Map<string, GraphNode>, past: string, present: string): GraphNode | null {
  let node = producers.get(present);
  while (node?.operator === 'Identity') node = producers.get(node.input(0));
  if (node?.operator !== 'Concat' || node.inputs.length !== 2 || node.input(0) !== past) return null;
  const axis = node.int('axis', 0);
  return axis === 2 || axis === -2 ? node : null;
}

/** Edits a copy of the graph for evaluation. The file's own graph is unchanged. `share`: hold prefixes once where possible. */
export function inferenceGraph(file: OnnxFile, signature: ModelSignature, { share = true } = {}): InferenceGraph {
  const inPlace = withOpenEmbedding(weightsInPlace(file));
  const embedding = embeddingOf(inPlace);
  // With a cache, a soft prompt behind the text is a read of its own; without one it stands in the middle of the row.
  const { graph } =
    embedding === null
      ? { graph: inPlace.graph.clone() }
      : spliceSoftPrompt(inPlace, { anywhere: signature.cache === null });
  const opset = inPlace.opsets.get('') ?? 13;
  const producers = graph.producers();
  const {
    cache,
    outputs: cacheOutputs,
    joined,
  } = editCache(graph, signature.cache, opset, (past, present) => joinOf(producers, past, present));
  answerRows(graph, signature, opset);
  const sharesPrefix =
    share && cache !== null && joined.size === cache.tensors.length && sharePrefix(graph, cache, joined, opset);
  const rows = 'softbench_rows';
  graph.outputs = [
    { name: names.logits, dtype: 'float32', dims: [rows, signature.vocabularySize] },
    { name: names.token, dtype: 'int64', dims: [rows] },
    { name: names.maximum, dtype: 'float32', dims: [rows] },
    { name: names.logSumExp, dtype: 'float32', dims: [rows] },
    { name: names.targetLogit, dtype: 'float32', dims: ['softbench_targets'] },
    ...cacheOutputs.map(({ output }) => ({
      name: output,
      dtype: cache?.dtype ?? ('float32' as const),
      dims: null,
    })),
  ];
  // Shapes noted in the file are those before the splice; ONNX Runtime infers them again.
  graph.valueInfo = [];
  graph.prune();
  return {
    model: { ...inPlace, graph },
    weightFolder: file.folder,
    embedding,
    sharesPrefix,
    cache,
    cacheOutputs,
  };
}

/** Only the part of the user's graph that looks up embeddings: input ids in, rows out. */
export function embeddingGraph(file: OnnxFile, signature: ModelSignature): OnnxModel | null {
  const inPlace = withOpenEmbedding(withCacheBranch(weightsInPlace(file), false));
  const graph = inPlace.graph.clone();
  const embedding = embeddingOf(inPlace);
  if (embedding === null) return null;
  const output = graph.add('Cast', [embedding], { attributes: { to: 1 } });
  graph.outputs = [{ name: output, dtype: 'float32', dims: ['batch', 'sequence', 'hidden'] }];
  graph.inputs = graph.inputs.filter(({ name }) => name === signature.inputIds.name);
  graph.valueInfo = [];
  graph.prune();
  return { ...inPlace, graph };
}
