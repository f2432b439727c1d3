/** Rotary position embeddings that an exporter wrote out in plain operators, as one node of ONNX Runtime's each. */
import type { TypedGraph } from '../gradient/index.ts';
import { eitherWay, type Graph, type GraphNode } from '../onnx/index.ts';
import type { SizeLists } from './streamline-sizes.ts';

/** x · cos + rotated(x) · sin, where rotated(x) joins the negated second half of a head to its first half. */
export class Rotations {
  readonly #producers: Map<string, GraphNode>;
  readonly #tables = new Map<string, string>();

  constructor(
    private readonly graph: Graph,
    private readonly g: TypedGraph,
    private readonly other: TypedGraph,
  ) {
    this.#producers = graph.producers();
  }

  #made(value: string, ...operators: string[]): GraphNode | null {
    const node = this.#producers.get(value);
    return node && !node.domain && operators.includes(node.operator) ? node : null;
  }
  #type(value: string) {
    return this.g.types.get(this.g.aliases.get(value) ?? value);
  }
  /** The one number that a value holds whatever the sizes. */
  #number(value: string): number | null {
    const [a, b] = [this.g, this.other].map((g) => g.types.get(g.aliases.get(value) ?? value)?.values);
    const constant = this.graph.initializers.get(value);
    if (constant?.data && constant.dtype === 'int64' && constant.data.byteLength === 8)
      return Number(new DataView(constant.data.buffer, constant.data.byteOffset, 8).getBigInt64(0, true));
    return a?.length === 1 && b?.length === 1 && a[0] === b[0] ? (a[0] ?? null) : null;
  }

  /** Whether a value is x[..., from : to] of the last of four axes. */
  #isPart(value: string, x: string, from: number, to: number, size: number): boolean {
    const slice = this.#made(value, 'Slice');
    if (slice?.input(0) !== x || (slice.input(4) && this.#number(slice.input(4)) !== 1)) return false;
    const axis = this.#number(slice.input(3));
    const start = this.#number(slice.input(1));
    const end = this.#number(slice.input(2));
    return (axis === 3 || axis === -1) && start === from && end !== null && (end === to || (to === size && end > size));
  }

  /** Whether the second half of each row of a table is its first half: cos or sin of angles that were joined to themselves. */
  #isDoubled(table: string): boolean {
    let value = table;
    for (let steps = 0; steps < 8; steps++) {
      const node = this.#made(value, 'Unsqueeze', 'Cast', 'Identity', 'Mul', 'Cos', 'Sin', 'Concat');
      if (!node) return false;
      if (node.operator === 'Concat') {
        const [first, second, ...more] = node.inputs;
        const axis = node.int('axis', 0);
        const rank = this.#type(node.output())?.dims.length ?? 0;
        return first === second && !more.length && (axis === -1 || axis === rank - 1);
      }
      if (node.operator === 'Mul') {
        const factor = eitherWay(node).find(([, by]) => (this.#type(by)?.dims.length ?? 1) === 0);
        if (!factor) return false;
        value = factor[0];
      } else value = node.input(0);
    }
    return false;
  }

  /** cos or sin [batch or 1, 1, sequence, head] as a table [positions, head / 2] of what this run needs. */
  #table(value: string, half: number): string {
    const made = this.#tables.get(value);
    if (made !== undefined) return made;
    const { graph } = this;
    const part = graph.add('Slice', [value, graph.int64s([0]), graph.int64s([half]), graph.int64s([3])]);
    const table = graph.add('Reshape', [part, graph.int64s([-1, half])]);
    this.#tables.set(value, table);
    return table;
  }

  /** int64 [batch, sequence]: each token's row in a table made of `value` [batch or 1, 1, sequence, head]. */
  #places(value: string, batched: boolean, lists: SizeLists): string {
    const key = batched ? 'places of rows' : 'places of all';
    const made = this.#tables.get(key);
    if (made !== undefined) return made;
    const { graph } = this;
    const count = graph.add('Gather', [graph.add('Shape', [this.#tables.get(value) ?? '']), graph.scalar('int64', 0)]);
    const range = graph.add('Range', [graph.scalar('int64', 0), count, graph.scalar('int64', 1)]);
    const shape = lists.list(['batch', 'sequence'], false);
    const places = graph.add(batched ? 'Reshape' : 'Expand', [range, shape]);
    this.#tables.set(key, places);
    return places;
  }

  /** Rewrites every rotation of float32 heads [batch, heads, sequence, head]. */
  merge(lists: SizeLists): void {
    for (const sum of [...this.graph.nodes]) {
      if (sum.operator !== 'Add' || sum.domain) continue;
      const found = this.#match(sum);
      if (!found) continue;
      const { x, cos, sin, half, batched } = found;
      const tables = [this.#table(cos, half), this.#table(sin, half)];
      this.graph.nodes.splice(this.graph.nodes.indexOf(sum), 1);
      this.graph.add('RotaryEmbedding', [x, this.#places(cos, batched, lists), ...tables], {
        domain: 'com.microsoft',
        attributes: { interleaved: 0 },
        outputs: [sum.output()],
      });
    }
  }

  #match(sum: GraphNode) {
    for (const [straight, turned] of eitherWay(sum)) {
      const [first, second] = [this.#made(straight, 'Mul'), this.#made(turned, 'Mul')];
      if (!first || !second) return null;
      for (const [x, cos] of eitherWay(first))
        for (const [rotated, sin] of eitherWay(second)) {
          const join = this.#made(rotated, 'Concat');
          const negated = this.#made(join?.input(0) ?? '', 'Neg');
          const type = this.#type(x);
          const [rows, angles] = [type?.dims ?? [], this.#type(cos)?.dims ?? []];
          if (!join || !negated || join.inputs.length !== 2 || type?.dtype !== 'float32' || rows.length !== 4) continue;
          const [batch = 0, , sequence = 0, size = 0] = rows;
          const half = size / 2;
          const axis = join.int('axis', 0);
          if ((axis !== -1 && axis !== 3) || !this.#isPart(negated.input(0), x, half, size, size)) continue;
          if (!this.#isPart(join.input(1), x, 0, half, size)) continue;
          const sizes = this.#type(sin)?.dims ?? [];
          if (angles.length !== 4 || angles.join() !== sizes.join() || angles[1] !== 1) continue;
          if (angles[2] !== sequence || angles[3] !== size || (angles[0] !== batch && angles[0] !== 1)) continue;
          // ONNX Runtime turns the two halves by one angle.
          if (!this.#isDoubled(cos) || !this.#isDoubled(sin)) continue;
          return { x, cos, sin, half, batched: angles[0] === batch };
        }
    }
    return null;
  }
}
