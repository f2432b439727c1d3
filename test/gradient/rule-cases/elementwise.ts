/** Cases of elementwise operators. */
import { tensorOf } from '../../../src/onnx/index.ts';
import { binary, bool, broadcasts, type Case, float, floatAttribute, input, ints, one, unary } from './case.ts';

const given = (values: number[], extra: Case['arguments'], attributes = {}): Case => ({
  opset: 18,
  inputs: [{ dims: [values.length], values }],
  arguments: [0, ...extra],
  attributes,
});
const negative = [-1.4, -0.9, -0.5];

/** Two operands that tie in one place: each gets half, which is what central differences say too. */
const tied: Case = {
  opset: 18,
  inputs: [
    { dims: [3], values: [0.5, -0.5, 1] },
    { dims: [3], values: [0.5, 0.75, -1] },
  ],
  arguments: [0, 1],
};

export const elementwiseCases: Record<string, Case[]> = {
  Identity: unary(),
  Dropout: [...unary(), one([2, 3], [], { ratio: floatAttribute(0.5) }, { opset: 10 })],
  Cast: [one([2, 3], [], { to: 11 }), one([2], [], { to: 1 })],
  CastLike: [one([2, 3], [tensorOf('float64', [1], [0])], {}, { opset: 19 })],
  Neg: unary(),
  Abs: unary(),
  Exp: unary(),
  Log: unary([0.5, 2]),
  Sqrt: unary([0.5, 2]),
  Reciprocal: [...unary([0.5, 2]), ...unary([-2, -0.5])],
  Sigmoid: unary(),
  Tanh: unary(),
  Sin: unary(),
  Cos: unary(),
  Erf: unary(),
  Relu: unary(),
  LeakyRelu: [...unary([-1.5, 1.5], { alpha: floatAttribute(0.2) }), ...unary()],
  Elu: [...unary([-1.5, 1.5], { alpha: floatAttribute(0.7) }), ...unary()],
  Softplus: unary(),
  Softsign: unary(),
  HardSigmoid: [...unary([-6, 6], { alpha: floatAttribute(0.25) }), ...unary([-4, 4], { beta: floatAttribute(0.3) })],
  HardSwish: unary([-5, 5]),
  Mish: unary(),
  Gelu: [...unary([-2, 2], {}, 20), ...unary([-2, 2], { approximate: 'tanh' }, 20)],
  'com.microsoft.Gelu': unary([-2, 2]),
  'com.microsoft.FastGelu': [
    ...unary([-2, 2]).slice(0, 2),
    { opset: 18, inputs: [input([2, 3]), input([3], [-1, 1], 2)], arguments: [0, 1] },
  ],
  'com.microsoft.BiasGelu': [
    { opset: 18, inputs: [input([2, 3]), input([3], [-1, 1], 2)], arguments: [0, 1] },
    { opset: 18, inputs: [input([2, 2, 2]), input([2], [-1, 1], 2)], arguments: [0, 1] },
  ],
  'com.microsoft.QuickGelu': [
    ...unary([-2, 2]).slice(0, 2),
    ...unary([-2, 2], { alpha: floatAttribute(1) }).slice(0, 2),
  ],
  Swish: [...unary([-2, 2], { alpha: floatAttribute(1.3) }, 24), ...unary([-2, 2], {}, 24)],
  Clip: [
    one([2, 3], [float([], -0.6), float([], 0.8)]),
    one([2, 3], [null, float([], 0.4)]),
    one([2, 3], [float([], -0.4)]),
    one([3]),
    one([2, 3], [], { min: floatAttribute(-0.6), max: floatAttribute(0.4) }, { opset: 9 }),
    one([2, 3], [], { max: floatAttribute(0.4) }, { opset: 10 }),
  ],
  Add: binary(),
  Sub: binary(),
  Mul: binary(),
  Div: [...binary([-1.5, 1.5], [0.7, 2]), ...binary([-1.5, 1.5], [-2, -0.7]).slice(0, 2)],
  Pow: [
    ...binary([0.5, 2], [0.5, 2.5]),
    one([2, 3], [float([], 2)]),
    one([2, 3], [float([], 3)]),
    one([2, 3], [ints([], 3)]),
    one([2, 3], [float([], 1)]),
    one([2, 3], [float([3], 0, 1, 2)]),
    given(negative, [float([], 2)]),
    given(negative, [float([], 3)]),
    given(negative, [float([3], 2, 3, 4)]),
    given(negative, [float([], -1)]),
    given([0, 1, -2], [float([3], 2, 1, 0)]),
    given([0, 0, 0], [float([3], 1, 3, 0)]),
    { opset: 18, inputs: [input([2, 3], [0.2, 2.5])], arguments: [float([3], 0.5, 1, 3), 0] },
  ],
  Mod: [{ opset: 18, inputs: [input([2, 3], [1.1, 5])], arguments: [0, float([], 2.35)], attributes: { fmod: 1 } }],
  PRelu: [
    { opset: 18, inputs: [input([2, 3]), input([3], [0.1, 0.5], 2)], arguments: [0, 1] },
    { opset: 18, inputs: [input([2, 3]), input([2, 3], [0.1, 0.5], 2)], arguments: [0, 1] },
    { opset: 18, inputs: [input([2, 3, 2]), input([3, 1], [0.1, 0.5], 2)], arguments: [0, 1] },
  ],
  Sum: [
    ...binary(),
    { opset: 18, inputs: [input([2, 3]), input([3]), input([2, 1])], arguments: [0, 1, 2] },
    { opset: 18, inputs: [input([2, 3])], arguments: [0, 0] },
    one([2, 3]),
  ],
  Mean: [...binary(), { opset: 18, inputs: [input([2, 3]), input([3]), input([])], arguments: [0, 1, 2] }],
  Min: [
    ...binary([-1.5, 1.5], [-1.45, 1.55]),
    tied,
    { opset: 18, inputs: [input([2, 3]), input([3], [-1.4, 1.4], 2), input([2, 1], [-1, 1], 3)], arguments: [0, 1, 2] },
  ],
  Max: [
    ...binary([-1.5, 1.5], [-1.45, 1.55]),
    tied,
    { opset: 18, inputs: [input([2, 3])], arguments: [0, float([], 0)] },
  ],
  Where: [
    ...broadcasts
      .filter(([a, b]) => a.length < 5 && b.length < 5 && a.at(-1) !== 2 && b.at(-1) !== 2)
      .map(([a, b]) => ({
        opset: 18,
        inputs: [input(a, [-1, 1], 1), input(b, [-1, 1], 2)],
        arguments: [bool([3], 1, 0, 1), 0, 1],
      })),
    // a condition with axes that neither operand has
    { opset: 18, inputs: [input([3]), input([])], arguments: [bool([2, 2, 1], 1, 0, 0, 1), 0, 1] },
    { opset: 18, inputs: [input([2, 3])], arguments: [bool([], 1), 0, float([], 7)] },
    { opset: 18, inputs: [input([2, 3])], arguments: [bool([2, 1], 0, 1), float([1, 3], 7, 8, 9), 0] },
    { opset: 18, inputs: [input([2, 3])], arguments: [bool([2, 1], 0, 1), 0, 0] },
  ],
};
