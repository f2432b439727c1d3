/**
 * A multi-layer perceptron for one-hot names and scaled numbers, with its backward pass and Adam. A one-hot input times the
 * first layer is a look-up of the layer's rows, so the width of the one-hot matrix costs nothing but memory and Adam's step.
 * All values are float32 in one SIMD memory; losses and gradients are those of PyTorch (test/predict/network.test.ts).
 */
import type { Random } from '../../shared/random.ts';
import type { Encoded } from './features.ts';
import { openSimd } from './simd.ts';

export interface NetworkShape {
  /** Columns of the one-hot matrix. */
  columns: number;
  /** Name features of an input: so many columns are looked up. */
  names: number;
  numbers: number;
  /** Multiples of 8. */
  hidden: readonly number[];
  /** Rows that are computed at once; a multiple of 4. */
  batch: number;
}

export interface AdamSettings {
  learningRate: number;
  weightDecay: number;
}

/** β₁, β₂ and ε as PyTorch's defaults. */
const adam = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** Where a matrix lies: bytes from the start, and a view. */
interface Block {
  at: number;
  values: Float32Array;
}

interface Layer {
  inputs: number;
  outputs: number;
  weights: Block;
  bias: Block;
  weightGradient: Block;
  biasGradient: Block;
  /** [batch, outputs] */
  output: Block;
  /** [batch, outputs]: of the loss by the output in front of the ReLU. */
  gradient: Block;
  /** [outputs, inputs] */
  transposed: Block;
}

export class Network {
  private readonly simd;
  private readonly layers: Layer[];
  /** Of all layers, in one piece each: Adam goes over them once. */
  private readonly parameters: Block;
  private readonly gradients: Block;
  private readonly first: Block;
  private readonly second: Block;
  /** [batch, numbers rounded up to 4] */
  private readonly numbers: Block;
  private readonly numbersWidth: number;
  private readonly last: { weights: Block; bias: Block; weightGradient: Block; biasGradient: Block };
  private steps = 0;

  constructor(private readonly shape: NetworkShape) {
    const { columns, numbers, hidden, batch } = shape;
    if (hidden.length === 0 || hidden.some((width) => width % 8 !== 0))
      throw new Error('Widths must be multiples of 8.');
    if (batch % 4 !== 0) throw new Error('The batch must be a multiple of 4.');
    this.numbersWidth = Math.ceil(numbers / 4) * 4;
    // Numbers stand in front of the one-hot columns, so that both products begin at multiples of 16 bytes.
    const widths = [this.numbersWidth + columns, ...hidden];
    const top = widths[widths.length - 1] as number;
    let parameters = top + 4;
    let others = batch * this.numbersWidth;
    for (const [at, outputs] of hidden.entries()) {
      parameters += (widths[at] as number) * outputs + outputs;
      others += 2 * batch * outputs + (at > 0 ? (widths[at] as number) * outputs : 0);
    }
    this.simd = openSimd(4 * (4 * parameters + others) + 64);
    const buffer = this.simd.memory.buffer;
    let free = 16;
    const block = (length: number): Block => {
      const values = new Float32Array(buffer, free, length);
      const at = free;
      free += 4 * length;
      return { at, values };
    };
    [this.parameters, this.gradients, this.first, this.second] = [0, 1, 2, 3].map(() => block(parameters)) as [
      Block,
      Block,
      Block,
      Block,
    ];
    let taken = 0;
    /** The same piece of the parameters and of their gradient. */
    const pair = (length: number): [Block, Block] => {
      const piece = ({ at }: Block): Block => ({
        at: at + 4 * taken,
        values: new Float32Array(buffer, at + 4 * taken, length),
      });
      const both: [Block, Block] = [piece(this.parameters), piece(this.gradients)];
      taken += length;
      return both;
    };
    this.layers = hidden.map((outputs, at) => {
      const inputs = widths[at] as number;
      const [weights, weightGradient] = pair(inputs * outputs);
      const [bias, biasGradient] = pair(outputs);
      return {
        inputs,
        outputs,
        weights,
        bias,
        weightGradient,
        biasGradient,
        output: block(batch * outputs),
        gradient: block(batch * outputs),
        transposed: block(at > 0 ? inputs * outputs : 0),
      };
    });
    const [weights, weightGradient] = pair(top);
    const [bias, biasGradient] = pair(4);
    this.last = { weights, bias, weightGradient, biasGradient };
    this.numbers = block(batch * this.numbersWidth);
  }

  /** As PyTorch's nn.Linear: uniform within ± 1 / √inputs, where inputs are those of the one-hot matrix and the numbers. */
  initialise(random: Random): void {
    const fill = ({ values }: Block, inputs: number): void => {
      const bound = 1 / Math.sqrt(inputs);
      for (let i = 0; i < values.length; i++) values[i] = bound * (2 * random.uniform() - 1);
    };
    const padding = this.numbersWidth - this.shape.numbers;
    for (const { inputs, weights, bias } of this.layers) {
      const fan = weights === this.layers[0]?.weights ? inputs - padding : inputs;
      fill(weights, fan);
      fill(bias, fan);
    }
    const [first] = this.layers;
    first?.weights.values.fill(0, this.shape.numbers * first.outputs, this.numbersWidth * first.outputs);
    fill(this.last.weights, this.last.weights.values.length);
    this.last.bias.values.fill(0);
    const bound = 1 / Math.sqrt(this.last.weights.values.length);
    this.last.bias.values[0] = bound * (2 * random.uniform() - 1);
  }

  /** Row of the first layer that stands for a one-hot column; [hidden[0]]. */
  columnWeights(column: number): Float32Array {
    const first = this.layers[0] as Layer;
    const from = (this.numbersWidth + column) * first.outputs;
    return first.weights.values.subarray(from, from + first.outputs);
  }

  /**
   * Weights and biases of each layer, weights as [inputs, outputs] (the transpose of PyTorch's); inputs of the first are the
   * numbers (padded with zero rows to a multiple of 4) and then the one-hot columns. Views: what is written there counts.
   */
  weights(): { weights: Float32Array; bias: Float32Array }[] {
    return [
      ...this.layers.map(({ weights, bias }) => ({ weights: weights.values, bias: bias.values })),
      { weights: this.last.weights.values, bias: this.last.bias.values.subarray(0, 1) },
    ];
  }

  /** In the layout of `weights`, after `backward` and in front of `step`, which sets them to 0. */
  gradient(): { weights: Float32Array; bias: Float32Array }[] {
    return [
      ...this.layers.map((layer) => ({ weights: layer.weightGradient.values, bias: layer.biasGradient.values })),
      { weights: this.last.weightGradient.values, bias: this.last.biasGradient.values.subarray(0, 1) },
    ];
  }

  copyParameters(): Float32Array {
    return this.parameters.values.slice();
  }

  restoreParameters(values: Float32Array): void {
    this.parameters.values.set(values);
  }

  /**
   * Predictions of at most `batch` inputs.
   * @param order positions among the inputs
   */
  forward(inputs: Encoded, order: Int32Array, from: number, count: number, out: Float64Array, outFrom: number): void {
    const { batch, names, numbers } = this.shape;
    if (count > batch) throw new Error('More rows than the batch.');
    const rows = Math.ceil(count / 4) * 4;
    const [first, ...rest] = this.layers as [Layer, ...Layer[]];
    const width = 4 * first.outputs;
    for (let row = 0; row < rows; row++) {
      const input = row < count ? (order[from + row] as number) : -1;
      first.output.values.set(first.bias.values, row * first.outputs);
      for (let i = 0; i < numbers; i++)
        this.numbers.values[row * this.numbersWidth + i] =
          input < 0 ? 0 : (inputs.numbers[input * numbers + i] as number);
      if (input < 0) continue;
      for (let i = 0; i < names; i++) {
        const column = inputs.names[input * names + i] as number;
        if (column >= 0)
          this.simd.add(first.output.at + row * width, first.weights.at + (this.numbersWidth + column) * width, width);
      }
    }
    if (this.numbersWidth > 0)
      this.simd.multiply(
        this.numbers.at,
        4 * this.numbersWidth,
        4,
        first.weights.at,
        first.output.at,
        rows,
        this.numbersWidth,
        first.outputs,
      );
    this.simd.relu(first.output.at, rows * width);
    let below = first;
    for (const layer of rest) {
      for (let row = 0; row < rows; row++) layer.output.values.set(layer.bias.values, row * layer.outputs);
      const { inputs: k, outputs: n } = layer;
      this.simd.multiply(below.output.at, 4 * k, 4, layer.weights.at, layer.output.at, rows, k, n);
      this.simd.relu(layer.output.at, rows * 4 * n);
      below = layer;
    }
    const { weights, bias } = this.last;
    const top = below.outputs;
    for (let row = 0; row < count; row++) {
      let sum = bias.values[0] as number;
      for (let i = 0; i < top; i++)
        sum += (below.output.values[row * top + i] as number) * (weights.values[i] as number);
      out[outFrom + row] = sum;
    }
  }

  /**
   * Adds the gradient of the mean squared error of the rows that `forward` has just computed.
   * @returns the mean squared error
   */
  backward(
    inputs: Encoded,
    order: Int32Array,
    from: number,
    count: number,
    out: Float64Array,
    targets: Float32Array,
  ): number {
    const { names } = this.shape;
    const rows = Math.ceil(count / 4) * 4;
    const highest = this.layers[this.layers.length - 1] as Layer;
    const top = highest.outputs;
    const { weights, weightGradient, biasGradient } = this.last;
    let loss = 0;
    highest.gradient.values.fill(0, count * top, rows * top);
    for (let row = 0; row < count; row++) {
      const error = (out[row] as number) - (targets[order[from + row] as number] as number);
      loss += error * error;
      const slope = (2 * error) / count;
      biasGradient.values[0] = (biasGradient.values[0] as number) + slope;
      for (let i = 0; i < top; i++) {
        const at = row * top + i;
        weightGradient.values[i] = (weightGradient.values[i] as number) + slope * (highest.output.values[at] as number);
        highest.gradient.values[at] = slope * (weights.values[i] as number);
      }
    }
    for (let at = this.layers.length - 1; at >= 0; at--) {
      const layer = this.layers[at] as Layer;
      const { inputs: k, outputs: n } = layer;
      const width = 4 * n;
      this.simd.reluBackward(layer.gradient.at, layer.output.at, rows * width);
      for (let row = 0; row < count; row++)
        this.simd.add(layer.biasGradient.at, layer.gradient.at + row * width, width);
      if (at === 0) {
        if (this.numbersWidth > 0)
          this.simd.multiply(
            this.numbers.at,
            4,
            4 * this.numbersWidth,
            layer.gradient.at,
            layer.weightGradient.at,
            this.numbersWidth,
            rows,
            n,
          );
        for (let row = 0; row < count; row++) {
          const input = order[from + row] as number;
          for (let i = 0; i < names; i++) {
            const column = inputs.names[input * names + i] as number;
            if (column >= 0)
              this.simd.add(
                layer.weightGradient.at + (this.numbersWidth + column) * width,
                layer.gradient.at + row * width,
                width,
              );
          }
        }
        break;
      }
      const below = this.layers[at - 1] as Layer;
      this.simd.multiply(below.output.at, 4, 4 * k, layer.gradient.at, layer.weightGradient.at, k, rows, n);
      transpose(layer.weights.values, layer.transposed.values, k, n);
      below.gradient.values.fill(0, 0, rows * k);
      this.simd.multiply(layer.gradient.at, width, 4, layer.transposed.at, below.gradient.at, rows, n, k);
    }
    return loss / count;
  }

  /** Moves the parameters by the gradient, which is 0 afterwards. */
  step({ learningRate, weightDecay }: AdamSettings): void {
    const t = ++this.steps;
    const { beta1, beta2, epsilon } = adam;
    this.simd.adam(
      this.parameters.at,
      this.gradients.at,
      this.first.at,
      this.second.at,
      4 * this.parameters.values.length,
      learningRate / (1 - beta1 ** t),
      1 / Math.sqrt(1 - beta2 ** t),
      weightDecay,
      beta1,
      beta2,
      epsilon,
    );
  }
}

/** [rows, columns] to [columns, rows] */
function transpose(from: Float32Array, to: Float32Array, rows: number, columns: number): void {
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) to[column * rows + row] = from[row * columns + column] as number;
}
