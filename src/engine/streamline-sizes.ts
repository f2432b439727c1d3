/** Integers of a graph that follow from the sizes of its inputs: found by probing with unlike sizes, and made anew once. */
import type { TypedGraph } from '../gradient/index.ts';
import type { ModelSignature } from '../model/index.ts';
import { type Graph, type OnnxModel, tensorOf } from '../onnx/index.ts';
import { names } from './inference-graph.ts';
import { prefixInput } from './shared-prefix.ts';

/** What the inputs' sizes are made of. */
interface Sizes {
  batch: number;
  sequence: number;
  past: number;
  prefix: number;
  vectors: number;
  wanted: number;
}

/** Unlike sizes tell what an integer is; the last ones are those at which exporters make exceptions. */
export const probes: readonly Sizes[] = [
  { batch: 7, sequence: 11, past: 101, prefix: 43, vectors: 2, wanted: 5 },
  { batch: 13, sequence: 17, past: 71, prefix: 61, vectors: 3, wanted: 2 },
  { batch: 1, sequence: 1, past: 0, prefix: 0, vectors: 0, wanted: 1 },
];

/** Sizes that stand for an integer, by their name in the graph. */
const measures = {
  batch: ({ batch }: Sizes) => batch,
  sequence: ({ sequence }: Sizes) => sequence,
  past: ({ past }: Sizes) => past,
  total: ({ past, sequence }: Sizes) => past + sequence,
  prefix: ({ prefix }: Sizes) => prefix,
} as const;
type Measure = keyof typeof measures;

/** Dims of every input, or null where one is not known. */
export function inputDims(
  { graph }: OnnxModel,
  signature: ModelSignature,
  pasts: readonly string[],
  sizes: Sizes,
): Map<string, number[]> | null {
  const { batch, sequence, past, prefix, vectors, wanted } = sizes;
  const rows = new Map<string, (number | null)[]>([
    [signature.inputIds.name, [batch, sequence]],
    [signature.positionIds?.name ?? '', [batch, sequence]],
    [signature.attentionMask?.name ?? '', [batch, past + sequence]],
    [names.rows, [wanted, 2]],
    [names.targets, [wanted, 2]],
    [names.softPrompt, [vectors, null]],
    ...pasts.flatMap((name): [string, (number | null)[]][] => [
      [name, [batch, null, past, null]],
      [prefixInput(name), [null, prefix, null]],
    ]),
  ]);
  const found = new Map<string, number[]>();
  for (const { name, dims } of graph.inputs) {
    if (graph.initializers.has(name)) continue;
    const known = rows.get(name)?.map((size, axis) => size ?? dims?.[axis]);
    if (!known?.every((size): size is number => typeof size === 'number')) return null;
    found.set(name, known);
  }
  return found;
}

/** A list of integers in terms of the inputs' sizes; null where one is something else. */
function inMeasures(
  lists: readonly (readonly number[] | undefined)[],
  [a, b, c]: readonly Sizes[],
): (number | Measure)[] | null {
  const [first, second, third] = lists;
  if (!first || !second || first.length !== second.length) return null;
  if (!a || !b || !c) return null;
  const parts: (number | Measure)[] = [];
  for (const [at, value] of first.entries()) {
    const other = second[at];
    const part =
      value === other
        ? value
        : (Object.keys(measures) as Measure[]).find(
            (measure) => measures[measure](a) === value && measures[measure](b) === other,
          );
    if (part === undefined) return null;
    const last = third?.[at];
    if (last !== undefined && last !== (typeof part === 'number' ? part : measures[part](c))) return null;
    parts.push(part);
  }
  return parts;
}

/** Integers taken from the inputs' sizes: each list made once. */
export class SizeLists {
  readonly #made = new Map<string, string>();
  constructor(
    private readonly graph: Graph,
    private readonly inputIds: string,
    private readonly past: string | undefined,
  ) {}

  #once(key: string, make: () => string): string {
    const name = this.#made.get(key) ?? make();
    this.#made.set(key, name);
    return name;
  }

  #dimension(input: string, axis: number): string {
    const shape = this.#once(`shape ${input}`, () => this.graph.add('Shape', [input]));
    return this.graph.add('Gather', [shape, this.#constant([axis], [1])]);
  }

  #constant(values: readonly number[], dims: readonly number[]): string {
    return this.#once(`constant ${values} ${dims}`, () => this.graph.constant(tensorOf('int64', dims, values)));
  }

  /** int64 [1] */
  #measure(measure: Measure): string {
    return this.#once(measure, () => {
      if (measure === 'batch') return this.#dimension(this.inputIds, 0);
      if (measure === 'sequence') return this.#dimension(this.inputIds, 1);
      if (measure === 'total') return this.graph.add('Add', [this.#measure('past'), this.#measure('sequence')]);
      if (this.past === undefined) throw new Error('there is no cache');
      return measure === 'past' ? this.#dimension(this.past, 2) : this.#dimension(prefixInput(this.past), 1);
    });
  }

  /** int64, a scalar or a list. */
  list(parts: readonly (number | Measure)[], scalar: boolean): string {
    return this.#once(`${scalar ? 'scalar' : 'list'} ${parts}`, () => {
      const [only] = parts;
      if (parts.every((part) => typeof part === 'number')) return this.#constant(parts, scalar ? [] : [parts.length]);
      if (scalar && only !== undefined)
        return this.graph.add('Reshape', [this.list([only], false), this.#constant([], [0])]);
      const pieces = parts.map((part) =>
        typeof part === 'number' ? this.#constant([part], [1]) : this.#measure(part),
      );
      return pieces.length === 1 ? (pieces[0] ?? '') : this.graph.add('Concat', pieces, { attributes: { axis: 0 } });
    });
  }
}

/** Takes integers that follow from the inputs' sizes from the inputs. */
export function takeSizes(
  graph: Graph,
  typed: readonly TypedGraph[],
  probed: readonly Sizes[],
  lists: SizeLists,
): void {
  const kept = new Set(graph.outputs.map(({ name }) => name));
  const replaced = new Map<string, string>();
  for (const node of graph.nodes)
    for (const output of node.outputs) {
      if (output === '' || kept.has(output) || node.operator === 'Constant') continue;
      const types = typed.map((g) => g.types.get(g.aliases.get(output) ?? output));
      const [type] = types;
      if (type?.dtype !== 'int64' || type.dims.length > 1 || !type.values || type.values.length > 8) continue;
      const parts = inMeasures(
        types.map((each) => each?.values),
        probed,
      );
      if (parts?.length) replaced.set(output, lists.list(parts, type.dims.length === 0));
    }
  // What the lists themselves are made of follows from sizes, too.
  const before = new Set(replaced.values());
  for (const node of graph.nodes)
    if (!node.outputs.some((output) => before.has(output)))
      node.inputs = node.inputs.map((input) => replaced.get(input) ?? input);
}
