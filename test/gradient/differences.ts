/** Gradients of a graph as ONNX Runtime computes it, measured by central differences: the oracle of gradient rules. */
import * as ort from 'onnxruntime-node';
import {
  encodeOnnx,
  type Graph,
  type GraphNode,
  numbersOf,
  type OnnxModel,
  type Tensor,
  tensorOf,
} from '../../src/onnx/index.ts';

export type Feeds = Record<string, { dims: number[]; values: number[] }>;

// As written: merging a norm in float64, ONNX Runtime 1.30 takes its own epsilon in place of the graph's.
const quiet = { logSeverityLevel: 4, intraOpNumThreads: 1, graphOptimizationLevel: 'disabled' } as const;

const wide = (tensor: Tensor): Tensor =>
  tensor.dtype === 'float32' ? tensorOf('float64', tensor.dims, numbersOf(tensor)) : tensor;

function widenNode(node: GraphNode): void {
  for (const [name, attribute] of node.attributes)
    if (attribute.type === 'tensor') node.attributes.set(name, { type: 'tensor', value: wide(attribute.value) });
    else if (name === 'to' && attribute.type === 'int' && attribute.value === 1)
      node.attributes.set(name, { type: 'int', value: 11 });
}

/** The same graph in float64. */
export function inDouble(model: OnnxModel): OnnxModel {
  const graph: Graph = model.graph.clone();
  for (const [name, tensor] of graph.initializers) graph.initializers.set(name, wide(tensor));
  for (const value of [...graph.inputs, ...graph.outputs]) if (value.dtype === 'float32') value.dtype = 'float64';
  for (const node of graph.nodes) widenNode(node);
  graph.valueInfo = [];
  return { ...model, graph };
}

export interface Measured {
  /** By wanted input, by element; null where the function is not smooth enough there to tell. */
  gradients: Record<string, (number | null)[]>;
  /** The differences' own error, relative to the largest entry. */
  precision: number;
  type: 'float64' | 'float32';
}

/**
 * ∂/∂x of Σ c · y over the outputs y named in `coefficients`, for each input x of `wanted`. In float64 where ONNX Runtime
 * has such kernels for all operators of the graph, so that steps can be small; else in float32.
 */
export async function measuredGradients(
  model: OnnxModel,
  feeds: Feeds,
  coefficients: Readonly<Record<string, readonly number[]>>,
  wanted: readonly string[],
): Promise<Measured> {
  const double = await ort.InferenceSession.create(encodeOnnx(inDouble(model)), quiet).catch(() => null);
  const session = double ?? (await ort.InferenceSession.create(encodeOnnx(model), quiet));
  const tensorType = double ? 'float64' : 'float32';
  const arrayOf = double ? Float64Array : Float32Array;
  const tensor = ({ dims, values }: Feeds[string]): ort.Tensor =>
    new ort.Tensor(tensorType, arrayOf.from(values), dims);
  const tensors = Object.fromEntries(
    Object.entries(feeds).flatMap(([name, feed]) => (session.inputNames.includes(name) ? [[name, tensor(feed)]] : [])),
  );
  const fetches = Object.keys(coefficients);
  const loss = async (changed: Record<string, ort.Tensor>): Promise<number> => {
    const result = await session.run({ ...tensors, ...changed }, fetches);
    let sum = 0;
    for (const [name, factors] of Object.entries(coefficients)) {
      const data = result[name]?.data as Float32Array;
      for (const [at, factor] of factors.entries()) sum += factor * (data[at] ?? Number.NaN);
    }
    return sum;
  };
  try {
    const step = double ? 2 ** -16 : 2 ** -8;
    const here = await loss({});
    const gradients: Measured['gradients'] = {};
    for (const name of wanted) {
      const { dims, values } = feeds[name] ?? { dims: [], values: [] };
      const around = async (at: number, by: number): Promise<{ slope: number; bend: number }> => {
        const shifted = (sign: number): ort.Tensor =>
          tensor({ dims, values: values.map((value, each) => (each === at ? value + sign * by : value)) });
        const [above, below] = [await loss({ [name]: shifted(1) }), await loss({ [name]: shifted(-1) })];
        return { slope: (above - below) / (2 * by), bend: Math.abs(above - 2 * here + below) / by };
      };
      const found: (number | null)[] = [];
      for (let at = 0; at < values.length; at++) {
        const near = await around(at, step);
        const far = await around(at, 2 * step);
        // Of a smooth function the slope stays and the bend doubles with the step; across a kink it is the other way.
        const steady = Math.abs(near.slope - far.slope) <= (double ? 1e-6 : 2e-3) * Math.max(1, Math.abs(near.slope));
        const smooth = steady && (double !== null || near.bend < 1e-3 || near.bend < 0.75 * far.bend);
        found.push(smooth || !Number.isFinite(near.slope) ? near.slope : null);
      }
      gradients[name] = found;
    }
    return { gradients, precision: double ? 2e-5 : 2e-3, type: tensorType };
  } finally {
    await session.release();
  }
}
