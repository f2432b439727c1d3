/**
 * Rows that the data choose, at fixed sizes. In a mixture of experts written in plain operators NonZero lists the tokens
 * that an expert gets, and what the expert makes of them is added to the output at those rows: how many rows there are
 * is not known before the run. Here every row that could be listed is, an expert computes them all, and those that were
 * not chosen are left out where the rows are added to the output. The result and its gradient are the same; each expert
 * costs as much as if it got every token from every choice.
 *
 * That is right only as long as no operator mixes the rows, so each operator on the way has a row in a table here.
 */
import type { GraphNode } from '../onnx/index.ts';
import { isFloat } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import { sliceRanges, splitSizes } from './inference/index.ts';
import type { TypedGraph } from './typed-graph.ts';
import { axisOf, eachIndex, size, type ValueType } from './types.ts';

/** A value one of whose axes runs over rows that may not have been chosen. */
interface Selection {
  axis: number;
  /** bool [rows]: which of them were. */
  mask: string;
  /** Place of the NonZero. */
  origin: string;
}

interface Step {
  g: TypedGraph;
  node: GraphNode;
  /** By input. */
  selections: (Selection | undefined)[];
  /** Shape of the first output. */
  dims: readonly number[];
}

/** The axis of the outputs that runs over the rows; null where the operator mixes rows. */
type Follow = (step: Step) => number | null;

/** The selection of input `at`, where no other input has one. */
function only({ selections }: Step, at: number): Selection | null {
  const selection = selections[at];
  return selection && selections.every((each, index) => !each || index === at) ? selection : null;
}

/** Operands aligned at their last axes, each with the same rows at the same axis or with nothing there. */
const elementwise: Follow = ({ g, node, selections, dims }) => {
  let axis: number | null = null;
  for (const [at, selection] of selections.entries()) {
    if (!selection) continue;
    const place = selection.axis + dims.length - g.dims(node.input(at)).length;
    if (axis !== null && axis !== place) return null;
    axis = place;
  }
  if (axis === null) return null;
  const found = axis;
  const fits = node.inputs.every((input, at) => {
    if (input === '' || selections[at]) return true;
    const own = g.dims(input);
    const dim = own[found - (dims.length - own.length)] ?? 1;
    const values = g.values(input);
    // The same for all rows.
    return dim === 1 || values?.every((value) => value === values[0]);
  });
  return fits ? found : null;
};

/** A new shape for the same elements: the axis with as many elements in front of it. */
const reshaped: Follow = (step) => {
  const selection = only(step, 0);
  if (!selection) return null;
  const from = step.g.dims(step.node.input(0));
  const before = size(from.slice(0, selection.axis));
  const rows = from[selection.axis];
  const axis = step.dims.findIndex((dim, at) => dim === rows && size(step.dims.slice(0, at)) === before);
  return axis < 0 ? null : axis;
};

/** Works along other axes than that of the rows: `touched` are those that it mixes. */
const along =
  (touched: (step: Step, rank: number) => readonly number[]): Follow =>
  (step) => {
    const selection = only(step, 0);
    const rank = step.g.dims(step.node.input(0)).length;
    return selection && !touched(step, rank).includes(selection.axis) ? selection.axis : null;
  };

const from = (axis: number, rank: number): number[] => Array.from({ length: rank - axis }, (_, at) => axis + at);
const attributeAxis =
  (fallback: number) =>
  ({ node }: Step, rank: number) => [axisOf(node.int('axis', fallback), rank)];
const lastAxes = ({ node }: Step, rank: number): number[] => from(axisOf(node.int('axis', -1), rank), rank);
const inference = ({ g, node }: Step) => ({
  node,
  inputs: node.inputs.map((input) => (input ? g.typeOf(input) : undefined)),
  opset: g.opset,
});

/** Reductions over other axes. */
const reduction: Follow = (step) => {
  const { g, node } = step;
  const selection = only(step, 0);
  const rank = g.dims(node.input(0)).length;
  const axes = (node.input(1) ? g.values(node.input(1)) : node.ints('axes'))?.map((axis) => axisOf(axis, rank));
  if (!selection || !axes?.length || axes.includes(selection.axis)) return null;
  return node.int('keepdims', 1)
    ? selection.axis
    : selection.axis - axes.filter((axis) => axis < selection.axis).length;
};

const follows: Record<string, Follow> = {
  ...Object.fromEntries(
    (
      'Add Sub Mul Div Pow Mod Min Max Sum Mean Where And Or Not Equal Less LessOrEqual Greater GreaterOrEqual PRelu ' +
      'Identity Cast CastLike Dropout Neg Abs Sqrt Reciprocal Exp Log Sigmoid Tanh Erf Relu Gelu Cos Sin LeakyRelu Elu ' +
      'HardSigmoid HardSwish Mish Softplus Softsign Clip Swish Floor Ceil Round Sign IsNaN IsInf Expand ' +
      'com.microsoft.QuickGelu com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.Gelu'
    )
      .split(' ')
      .map((name) => [name, elementwise]),
  ),
  ...Object.fromEntries(
    ['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL2', 'ReduceSumSquare'].map((name) => [
      name,
      reduction,
    ]),
  ),
  Reshape: reshaped,
  Flatten: reshaped,
  Squeeze: reshaped,
  Unsqueeze: reshaped,
  Transpose: (step) => {
    const selection = only(step, 0);
    const order = step.node.ints('perm') ?? from(0, step.dims.length).reverse();
    return selection ? order.indexOf(selection.axis) : null;
  },
  Softmax: along((step, rank) => (step.g.opset < 13 ? from(1, rank) : attributeAxis(-1)(step, rank))),
  LogSoftmax: along((step, rank) => (step.g.opset < 13 ? from(1, rank) : attributeAxis(-1)(step, rank))),
  LayerNormalization: along(lastAxes),
  SimplifiedLayerNormalization: along(lastAxes),
  RMSNormalization: along(lastAxes),
  Slice: along((step) => sliceRanges(inference(step)).map(({ axis }) => axis)),
  Split: along((step, rank) => (splitSizes(inference(step)).length === 1 ? [] : attributeAxis(0)(step, rank))),
  Concat: (step) => {
    const axis = elementwise(step);
    return step.selections.every(Boolean) && axis !== axisOf(step.node.int('axis', 0), step.dims.length) ? axis : null;
  },
  MatMul: (step) => {
    const { g, node, dims } = step;
    const selection = only(step, 0);
    const [rank, right] = [g.dims(node.input(0)).length, g.dims(node.input(1)).length];
    if (!selection || rank < 2 || right !== 2 || selection.axis === rank - 1) return null;
    return selection.axis + dims.length - rank;
  },
  Gemm: (step) => {
    const { g, node } = step;
    const selection = only(step, 0);
    const addend = node.input(2) ? g.dims(node.input(2)) : [];
    const rowWise = selection?.axis === 0 && !node.int('transA', 0) && (addend.length < 2 || addend[0] === 1);
    return rowWise ? 0 : null;
  },
  Gather: (step) => {
    const { g, node } = step;
    const [data, indices] = [g.dims(node.input(0)), g.dims(node.input(1))];
    const axis = axisOf(node.int('axis', 0), data.length);
    const chosen = only(step, 1);
    if (chosen) return axis + chosen.axis;
    const looked = only(step, 0);
    if (!looked || looked.axis === axis) return null;
    return looked.axis < axis ? looked.axis : looked.axis - 1 + indices.length;
  },
  GatherND: (step) => {
    const chosen = only(step, 1);
    const depth = step.g.dims(step.node.input(1)).length - 1;
    return chosen && chosen.axis < depth && step.node.int('batch_dims', 0) === 0 ? chosen.axis : null;
  },
};

/** Operators that only use a shape that another one reads. */
const shapeArguments: Record<string, number> = { Reshape: 1, Expand: 1, ConstantOfShape: 0, Slice: 1, Tile: 1 };

/** Follows chosen rows through a graph that is being specialised. */
export class SelectedRows {
  readonly #selections = new Map<string, Selection>();
  /** Values that tell how many rows there are: here all that could be chosen. */
  readonly #counts = new Map<string, string>();

  constructor(private readonly g: TypedGraph) {}

  /** Lists all places of a tensor in place of those that are not 0; false where the node is another. */
  enumerate(node: GraphNode): boolean {
    const { g } = this;
    const x = g.types.get(node.input(0));
    if (node.fullOperator !== 'NonZero' || !x || x.values) return false;
    const places: number[][] = x.dims.map(() => []);
    eachIndex(x.dims, (index) => {
      for (const [axis, at] of index.entries()) places[axis]?.push(at);
    });
    const listed = g.constant64(places.flat(), [x.dims.length, size(x.dims)]);
    // A name of its own: lists of other nodes are the same, but what is chosen of them is not.
    const tensor = g.graph.initializers.get(listed);
    if (tensor) g.graph.initializers.set(node.output(), tensor);
    g.types.set(node.output(), g.typeOf(listed));
    const mask = g.reshape(g.cast(node.input(0), 'bool'), [size(x.dims)]);
    this.#selections.set(node.output(), { axis: 1, mask, origin: node.place });
    return true;
  }

  /**
   * Notes which outputs of a node run over chosen rows; where the node adds these to its data, leaves out those that were
   * not chosen.
   * @throws HumanError where it does something with them that mixes rows
   */
  follow(node: GraphNode, types: readonly ValueType[]): void {
    const selections = node.inputs.map((input) => this.#selections.get(input));
    this.#followCounts(node, selections, types);
    const [first] = selections.filter((selection) => selection !== undefined);
    const [type] = types;
    if (!first || !type || node.fullOperator === 'Shape') return;
    if (selections.some((selection) => selection && selection.mask !== first.mask)) throw mixed(node, first.origin);
    const step = { g: this.g, node, selections, dims: type.dims };
    if (node.operator === 'ScatterElements' || node.operator === 'ScatterND') {
      if (!scatterChosen(step)) throw mixed(node, first.origin);
      return;
    }
    const axis = follows[node.fullOperator]?.(step) ?? null;
    if (axis === null) throw mixed(node, first.origin);
    for (const output of node.outputs) if (output) this.#selections.set(output, { ...first, axis });
  }

  /** How many rows were chosen is not known: a number computed from it would be another one. */
  #followCounts(node: GraphNode, selections: readonly (Selection | undefined)[], types: readonly ValueType[]): void {
    const shapeOf = node.fullOperator === 'Shape' || node.fullOperator === 'Size' ? selections[0]?.origin : undefined;
    const firstShape = shapeArguments[node.fullOperator] ?? node.inputs.length;
    const read = node.inputs.slice(0, firstShape).map((input) => this.#counts.get(input));
    const origin = shapeOf ?? read.find((each) => each !== undefined);
    if (origin === undefined) return;
    if (types.some(({ dtype }) => isFloat(dtype))) throw mixed(node, origin);
    for (const output of node.outputs) this.#counts.set(output, origin);
  }

  /** @throws HumanError where a value of that name still runs over chosen rows */
  end(name: string): void {
    const selection = this.#selections.get(name);
    if (selection) throw mixed(null, selection.origin);
  }
}

const mixed = (node: GraphNode | null, origin: string): HumanError =>
  new HumanError(
    'unsupported',
    `${node ? `${node.fullOperator} (node "${node.place}")` : 'The output'} works on rows that the node "${origin}" (NonZero) chooses by their values, in a way that cannot be computed at fixed sizes.`,
    { todo: 'Export the model so that every expert sees every token, or report the model and its exporter.' },
  );

/** Rewrites a scattering of chosen rows; false where it is of another form. */
function scatterChosen({ g, node, selections }: Step): boolean {
  const [data, indices, updates] = [node.input(0), node.input(1), node.input(2)];
  const [ofData, ofIndices, ofUpdates] = selections;
  const reduction = node.string('reduction', 'none');
  const fits = ofIndices && ofUpdates && ofIndices.axis === ofUpdates.axis && !ofData;
  if (!fits || g.opset < 16 || (reduction !== 'none' && reduction !== 'add')) return false;
  if (node.operator === 'ScatterND' && ofIndices.axis === g.dims(indices).length - 1) return false;
  const dims = g.dims(updates);
  const chosen = g.reshape(
    ofUpdates.mask,
    dims.map((dim, axis) => (axis === ofUpdates.axis ? dim : 1)),
  );
  const kept = g.add('Where', [chosen, updates, g.scalarLike(updates, 0)]);
  if (reduction === 'add') {
    node.inputs = [data, indices, kept];
    return true;
  }
  // Chosen rows differ, or the operator's result is not defined: adding them up writes each to its place.
  const zeros = g.zeros(g.dtype(data), g.dims(data));
  const attributes = { axis: node.int('axis', 0), reduction: 'add' };
  const added = (values: string): string =>
    g.add(node.operator, [zeros, indices, values], node.operator === 'ScatterND' ? { reduction: 'add' } : attributes);
  const hits = added(g.expand(g.cast(chosen, g.dtype(updates)), dims));
  const inputs = [g.add('Greater', [hits, g.scalarLike(hits, 0)]), added(kept), data];
  node.operator = 'Where';
  node.inputs = inputs;
  node.attributes.clear();
  return true;
}
