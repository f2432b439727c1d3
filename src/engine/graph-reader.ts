/** A graph to ask questions of: shapes, constants, and what a value is made of. */
import type { TypedGraph } from '../gradient/index.ts';
import { constantNumbers, type Graph, type GraphNode, isFloat, numbersOf, sizeOf, tensorBytes } from '../onnx/index.ts';

/** Sizes at which shapes are looked at: numbers that no model is likely to have of its own. */
export const probeSizes = { batch: 3, length: 13, past: 4 } as const;

/** A graph to walk in. Shapes are there where all operators are known. */
export class GraphReader {
  readonly producers: Map<string, GraphNode>;
  readonly consumers: Map<string, GraphNode[]>;
  constructor(
    readonly graph: Graph,
    private readonly sized: TypedGraph | null,
    /** Folder that weights outside of the graph file are in. */
    private readonly folder: string,
  ) {
    this.producers = graph.producers();
    this.consumers = graph.consumers();
  }

  made(value: string): GraphNode | undefined {
    return this.producers.get(value);
  }
  dims(value: string): readonly number[] | null {
    return (
      this.sized?.types.get(this.sized.aliases.get(value) ?? value)?.dims ??
      this.graph.initializers.get(value)?.dims ??
      null
    );
  }
  /** Values of a small constant, given as such or worked out from constants. */
  values(value: string): readonly number[] | null {
    return (
      this.sized?.types.get(this.sized.aliases.get(value) ?? value)?.values ??
      constantNumbers(this.graph, value, this.producers)
    );
  }
  /** Numbers of a constant of moderate size; null for larger ones. */
  weights(name: string): readonly number[] | null {
    const tensor = this.graph.constantOf(name, this.producers);
    if (!tensor || !isFloat(tensor.dtype) || sizeOf(tensor.dims) > 2 ** 20) return null;
    return numbersOf({ ...tensor, data: tensorBytes(tensor, this.folder) });
  }
  scalar(value: string): number | null {
    const values = this.values(value);
    return values?.length === 1 ? (values[0] ?? null) : null;
  }
  /** All values that are small constants. */
  *constants(): Iterable<[string, readonly number[]]> {
    for (const [name, { values }] of this.sized?.types ?? []) if (values) yield [name, values];
    if (!this.sized)
      for (const name of this.graph.initializers.keys()) {
        const values = this.values(name);
        if (values) yield [name, values];
      }
  }
  /** The initialiser that a value is, once turned, cast or dequantised. */
  weightOf(value: string): string | null {
    let name = value;
    for (let steps = 0; steps < 8; steps++) {
      if (this.graph.initializers.has(name)) return name;
      const node = this.made(name);
      if (!node || !['Transpose', 'Cast', 'DequantizeLinear', 'Identity', 'Reshape'].includes(node.operator))
        return null;
      name = node.input(0);
    }
    return null;
  }
  /** Inputs of the graph that a value depends on, by whether their numbers count or only their sizes. */
  sources(values: readonly string[]): { values: Set<string>; sizes: Set<string> } {
    const inputs = new Set(this.graph.inputs.map(({ name }) => name));
    const found = { values: new Set<string>(), sizes: new Set<string>() };
    const seen = new Set<string>();
    const queue: [string, boolean][] = values.map((value) => [value, false]);
    for (let next = queue.pop(); next; next = queue.pop()) {
      const [name, bySize] = next;
      const key = `${bySize} ${name}`;
      if (!name || seen.has(key)) continue;
      seen.add(key);
      if (inputs.has(name) && !this.graph.initializers.has(name)) (bySize ? found.sizes : found.values).add(name);
      const node = this.made(name);
      for (const input of node?.inputs ?? []) queue.push([input, bySize || node?.operator === 'Shape']);
    }
    return found;
  }
}
/** Attention as one operator. */
export const isFusedAttention = ({ operator }: GraphNode): boolean => /Attention(V\d+)?$/.test(operator);

/** The node that makes a value, past those that only change its shape or type. */
export function unshaped(reader: GraphReader, value: string): GraphNode | undefined {
  let node = reader.made(value);
  for (let steps = 0; node && shaping.has(node.operator) && steps < 6; steps++) node = reader.made(node.input(0));
  return node;
}
const shaping = new Set(['Reshape', 'Unsqueeze', 'Squeeze', 'Cast', 'Expand', 'Identity']);
