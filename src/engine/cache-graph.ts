/** The cache's inputs and outputs of a decoder graph, edited so that a step takes and gives the same in every graph. */
import type { CacheSignature, CacheTensor } from '../model/index.ts';
import type { Graph, GraphNode } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';

export interface CacheOutput {
  past: string;
  /** The output to read: [batch, heads, time, head size]. */
  output: string;
  /**
   * `new`: its entries are those of the new tokens. `behind rows`: all places, and each row's new entries stand right
   * behind the row's own ones, unused places of the past or not.
   */
  entries: 'new' | 'behind rows';
}

/** Operators that put a row's new keys and values behind those that its mask counts. */
const denseOperators = new Set(['com.microsoft.GroupQueryAttention']);

/** Adds or takes away an axis of size 1; the axes of both operators were an attribute before opset 13. */
const axisOfOne = (
  graph: Graph,
  operator: 'Unsqueeze' | 'Squeeze',
  value: string,
  axis: number,
  opset: number,
  outputs?: string[],
): string =>
  opset < 13
    ? graph.add(operator, [value], { attributes: { axes: [axis] }, outputs })
    : graph.add(operator, [value, graph.int64s([axis])], { outputs });

/** The part of a `present` behind the past along an axis. */
function newPart(graph: Graph, past: string, present: string, axis: number): string {
  const length = graph.add('Gather', [graph.add('Shape', [past]), graph.int64s([axis])]);
  return graph.add('Slice', [present, length, graph.int64s([Number.MAX_SAFE_INTEGER]), graph.int64s([axis])]);
}

/** Gives a graph whose cache tensors are [batch, time, width] inputs and outputs of one head. */
function withHead(
  graph: Graph,
  cache: CacheSignature,
  opset: number,
): { cache: CacheSignature; outputs: CacheOutput[] } {
  const outputs = cache.tensors.map(({ past, present }): CacheOutput => {
    const input = graph.inputs.find(({ name }) => name === past);
    const [batch = null, time = null, width = null] = input?.dims ?? [];
    graph.inputs = graph.inputs.filter(({ name }) => name !== past);
    const name = `${past}.one_head`;
    graph.inputs.push({ name, dtype: cache.dtype, dims: [batch, 1, time, width] });
    axisOfOne(graph, 'Squeeze', name, 1, opset, [past]);
    const fresh = newPart(graph, past, present, 1);
    return { past: name, output: axisOfOne(graph, 'Unsqueeze', fresh, 1, opset), entries: 'new' };
  });
  const tensors = cache.tensors.map((tensor, at) => ({ ...tensor, past: outputs[at]?.past ?? '' }));
  return { cache: { ...cache, kind: 'separate', tensors }, outputs };
}

/**
 * Gives a graph whose cache tensors hold keys and values together ([2, batch, heads, time, head size]) an input and an
 * output for each, named `<past>.key` and `<past>.value`.
 */
function separate(
  graph: Graph,
  cache: CacheSignature,
  opset: number,
): { cache: CacheSignature; outputs: CacheOutput[] } {
  const outputs: CacheOutput[] = [];
  const tensors: CacheTensor[] = [];
  for (const { past, present, heads, headSize } of cache.tensors) {
    const input = graph.inputs.find(({ name }) => name === past);
    const dims = input?.dims?.slice(1) ?? null;
    graph.inputs = graph.inputs.filter(({ name }) => name !== past);
    const parts = ['key', 'value'].map((part) => `${past}.${part}`);
    for (const name of parts) graph.inputs.push({ name, dtype: cache.dtype, dims });
    graph.add(
      'Concat',
      parts.map((name) => axisOfOne(graph, 'Unsqueeze', name, 0, opset)),
      { attributes: { axis: 0 }, outputs: [past] },
    );
    const fresh = newPart(graph, past, present, 3);
    for (const [at, name] of parts.entries()) {
      const output = graph.add('Gather', [fresh, graph.scalar('int64', at)], { attributes: { axis: 0 } });
      outputs.push({ past: name, output, entries: 'new' });
      tensors.push({ past: name, present: output, heads, headSize });
    }
  }
  return { cache: { ...cache, kind: 'separate', tensors }, outputs };
}

/**
 * Edits the cache's part of a graph; call it before the graph is sorted.
 * @param joinOf the node that joins past and new in the open, for a past and a present; null where the graph does otherwise
 */
export function editCache(
  graph: Graph,
  cache: CacheSignature | null,
  opset: number,
  joinOf: (past: string, present: string) => GraphNode | null,
): { cache: CacheSignature | null; outputs: CacheOutput[]; joined: Map<string, string> } {
  const joined = new Map<string, string>();
  if (!cache) return { cache, outputs: [], joined };
  if (cache.kind === 'joined') return { ...withHead(graph, cache, opset), joined };
  if (cache.kind === 'stacked') return { ...separate(graph, cache, opset), joined };
  const producers = graph.producers();
  const outputs = cache.tensors.map(({ past, present }): CacheOutput => {
    const join = joinOf(past, present);
    if (join) {
      joined.set(past, join.output());
      return { past, output: join.input(1), entries: 'new' };
    }
    if (producers.get(present)?.int('sliding_window_cache', 0))
      throw new HumanError('unsupported', 'This graph keeps only a window of its keys and values in the cache.', {
        todo: 'Export the model with a whole cache: Softbench goes back in it.',
      });
    if (denseOperators.has(producers.get(present)?.fullOperator ?? ''))
      return { past, output: present, entries: 'behind rows' };
    return { past, output: newPart(graph, past, present, 2), entries: 'new' };
  });
  return { cache, outputs, joined };
}
