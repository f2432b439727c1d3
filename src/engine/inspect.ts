/** What is understood of a model folder, without opening a session: for `softbench models inspect` and the editor. */
import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { findEmbedding, sizedGraph, tuningReport, withCacheBranch, withOpenEmbedding } from '../gradient/index.ts';
import {
  contextLengthOf,
  integerOf,
  type JsonObject,
  loadTokenizer,
  type ModelFiles,
  openModelFiles,
  stringOf,
} from '../model/index.ts';
import { type Graph, type GraphNode, sizeOf, type ValueInfo } from '../onnx/index.ts';
import { HumanError, sentenceOf } from '../shared/errors.ts';
import type { ModelReport, TensorReport } from '../shared/protocol.ts';
import { GraphReader, probeSizes } from './graph-reader.ts';
import { attentionOf, cacheJoin } from './inspect-attention.ts';
import { positionsOf } from './inspect-positions.ts';
import { headOf, quantisationOf, weightsPerEntry } from './inspect-weights.ts';

/** Describes a model folder, or an ONNX file in one. Never throws for a folder that cannot run: the report says why. */
export async function inspectModel(path: string): Promise<ModelReport> {
  const report = emptyReport(resolve(path));
  try {
    const files = openModelFiles(path);
    const { folder, file, signature, weightFiles } = files;
    const { config, genaiConfig, graphFile, graphPath, variants } = folder;
    Object.assign(report, {
      folder: folder.folder,
      name: folder.name,
      modelType: stringOf(config, 'model_type') ?? (genaiConfig ? stringOf(config, 'type') : null),
      graphFile,
      variants,
      bytes: [graphPath, ...weightFiles].reduce(
        (sum, part) => sum + (statSync(part, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
      layers: signature.cache?.layers ?? layersOf(config),
      vocabularySize: signature.vocabularySize,
      contextLength: contextLengthOf(config),
      opset: Object.fromEntries([...file.opsets].map(([domain, version]) => [domain || 'ai.onnx', version])),
      producer: [file.producer, file.producerVersion].filter(Boolean).join(' ') || null,
      dtype: weightTypeOf(file.graph),
      layout: layoutOf(files),
      inputs: file.graph.inputs.filter(({ name }) => !file.graph.initializers.has(name)).map(tensorReport),
      outputs: file.graph.outputs.map(tensorReport),
      chatTemplate: folder.chatTemplate !== null,
      operators: operatorsOf(file.graph),
    } satisfies Partial<ModelReport>);
    Object.assign(report, understood(files));
    const foreign = foreignOperator(file.graph);
    if (foreign)
      throw new HumanError(
        'unsupported',
        `ONNX Runtime has no operator ${foreign.fullOperator} (node "${foreign.place}"), and the file does not define it.`,
        { place: { file: graphPath }, todo: 'Export the model again without custom operators.' },
      );
    if (!signature.cache) report.notes.push('No KV cache: every token reads the whole text again, which is slow.');
    const tokenizer = await loadTokenizer(folder);
    report.vocabularySize ??= tokenizer.vocabularySize;
    report.ok = true;
    // From here on, what is wrong concerns soft prompts only: the model can be evaluated without.
    const embedding = findEmbedding(withCacheBranch(file, true));
    report.hiddenSize = embedding.hiddenSize;
    Object.assign(report, tuningReport(file));
    report.tunable = report.missing.length === 0;
  } catch (thrown) {
    if (report.ok) report.notes.push(`Soft prompts cannot be tuned: ${sentenceOf(thrown)}`);
    else report.reason = sentenceOf(thrown);
  }
  return report;
}

/** Where the graph has no cache to count by. */
const layersOf = (config: JsonObject): number | null =>
  integerOf(config, 'num_hidden_layers') ?? integerOf(config, 'n_layer') ?? integerOf(config, 'num_layers');

const emptyReport = (folder: string): ModelReport => ({
  folder,
  name: basename(folder),
  ok: false,
  reason: null,
  tunable: false,
  modelType: null,
  graphFile: null,
  variants: [],
  bytes: 0,
  parameters: null,
  hiddenSize: null,
  layers: null,
  vocabularySize: null,
  contextLength: null,
  opset: {},
  producer: null,
  dtype: null,
  layout: [],
  inputs: [],
  outputs: [],
  cache: null,
  positions: { from: null, kinds: [], rotarySize: null, tableLength: null },
  attention: {
    form: 'not found',
    operators: {},
    queryHeads: null,
    keyHeads: null,
    headSize: null,
    windows: [],
    softCaps: [],
  },
  logitSoftCap: null,
  quantisation: [],
  tiedHead: null,
  chatTemplate: false,
  operators: {},
  lowered: [],
  missing: [],
  notes: [],
});

const tensorReport = ({ name, dtype, dims }: ValueInfo): TensorReport => ({
  name,
  dtype: dtype ?? 'not said',
  dims: (dims ?? []).map((size) => size ?? '?'),
});

function layoutOf({ folder, file, signature, weightFiles }: ModelFiles): string[] {
  return [
    folder.genaiConfig ? 'ONNX Runtime GenAI folder (genai_config.json)' : 'Hugging Face folder',
    ...(folder.graphFile.includes('/') ? [`graph in ${dirname(folder.graphFile)}/`] : []),
    ...(signature.useCacheBranch ? ['merged decoder: a branch with a cache and one without'] : []),
    ...(file.functions.length ? [`${file.functions.length} local functions`] : []),
    weightFiles.length
      ? `weights in ${weightFiles.map((path) => basename(path)).join(', ')}`
      : 'weights inside of the graph file',
  ];
}

/** What the graph does, read off the graph; of a merged decoder, off the branch with a cache. */
function understood({ file, signature }: ModelFiles): Partial<ModelReport> {
  const { cache } = signature;
  const open = withOpenEmbedding(withCacheBranch(file, true));
  const reader = new GraphReader(
    open.graph,
    sizedGraph(open, { ...probeSizes, past: cache ? probeSizes.past : 0 }),
    file.folder,
  );
  const embedding = attempt(() => findEmbedding(open));
  const head = headOf(reader, signature.logits.name);
  const attention = attentionOf(reader, cache);
  return {
    parameters: parametersOf(file.graph, weightsPerEntry(reader)),
    cache: cache && {
      kind: cache.kind,
      layers: cache.layers,
      heads: cache.heads,
      headSize: cache.headSize,
      dtype: cache.dtype,
      ...cacheJoin(reader, cache),
    },
    attention,
    positions: positionsOf(reader, embedding, cache, attention.queryHeads),
    logitSoftCap: head?.softCap ?? null,
    quantisation: quantisationOf(reader, head, embedding?.tableName ?? null),
    tiedHead: embedding && head?.weight ? head.weight === embedding.tableName : null,
  };
}

function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

/** Operators and how often each occurs, those of inner graphs (branches, loops) included; the commonest first. */
function operatorsOf(graph: Graph): Record<string, number> {
  const counts = new Map<string, number>();
  const count = (inner: Graph): void => {
    for (const node of inner.nodes) {
      const name = node.domain ? `${node.domain}:${node.operator}` : node.operator;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      for (const sub of node.subgraphs()) count(sub);
    }
  };
  count(graph);
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

/** Domains of operators that ONNX Runtime brings with it. */
const runtimeDomains = new Set([
  '',
  'ai.onnx',
  'ai.onnx.ml',
  'ai.onnx.preview',
  'ai.onnx.preview.training',
  'ai.onnx.training',
  'com.microsoft',
  'com.microsoft.experimental',
  'com.microsoft.nchwc',
  'com.ms.internal.nhwc',
  'org.pytorch.aten',
]);

/** A node that no ONNX Runtime without added libraries can run; functions of the file have been put in place already. */
function foreignOperator(graph: Graph): GraphNode | null {
  const used = new Set([...graph.outputs.map(({ name }) => name), ...graph.nodes.flatMap(({ inputs }) => inputs)]);
  for (const node of graph.nodes) {
    // What nothing reads is left out of the graph that runs.
    if (!runtimeDomains.has(node.domain) && node.outputs.some((output) => used.has(output))) return node;
    for (const inner of node.subgraphs()) {
      const found = foreignOperator(inner);
      if (found) return found;
    }
  }
  return null;
}

const isWeight = (dims: readonly number[]): boolean => dims.length > 0 && sizeOf(dims) > 1;

/** Weights of all kinds; of quantised ones those that they stand for, without scales and zero points. */
function parametersOf(graph: Graph, perEntry: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [name, { dims }] of graph.initializers)
    if (isWeight(dims)) sum += sizeOf(dims) * (perEntry.get(name) ?? 1);
  return Math.round(sum);
}

/** The element type that most of the weights have. */
function weightTypeOf(graph: Graph): string | null {
  const sizes = new Map<string, number>();
  for (const { dims, dtype } of graph.initializers.values())
    if (isWeight(dims)) sizes.set(dtype, (sizes.get(dtype) ?? 0) + sizeOf(dims));
  return [...sizes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
