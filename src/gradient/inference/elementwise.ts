/** Types of what works element by element. */
import { type DataType, dataTypes, isFloat } from '../../onnx/index.ts';
import { elementwise, type InferenceRow, need, same, unary } from './row.ts';

const dtypeOfCode = (code: number): DataType =>
  (Object.entries(dataTypes).find(([, row]) => row.code === code)?.[0] ?? 'float32') as DataType;

const comparison = (compute: (a: number, b: number) => boolean): InferenceRow =>
  elementwise((a = 0, b = 0) => Number(compute(a, b)), 'bool');

const integerAware =
  (whole: (a: number, b: number) => number, real: (a: number, b: number) => number): InferenceRow =>
  (input) =>
    elementwise(isFloat(need(input, 0).dtype) ? (a = 0, b = 0) => real(a, b) : (a = 0, b = 0) => whole(a, b))(input);

/** Rows of operators with that many operands: a row itself would do with fewer. */
const taking = (count: number, rows: Record<string, InferenceRow>): Record<string, InferenceRow> =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [
      name,
      (input) => {
        need(input, count - 1);
        return row(input);
      },
    ]),
  );

export const elementwiseInference: Record<string, InferenceRow> = {
  // elementwise, one operand
  ...Object.fromEntries(
    [
      'Exp Log Sigmoid Tanh Erf Relu Gelu Softmax LogSoftmax Cos Sin Tan Acos Asin Atan Sinh Cosh Asinh Acosh Atanh',
      'LeakyRelu Elu Selu Celu HardSigmoid HardSwish Mish Softplus Softsign ThresholdedRelu CumSum Trilu Clip PRelu',
      'com.microsoft.QuickGelu com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.Gelu LpNormalization',
      'ScatterND ScatterElements Swish',
    ]
      .join(' ')
      .split(' ')
      .map((name) => [name, same]),
  ),
  Identity: unary((value) => value),
  Dropout: (input) => [{ ...need(input, 0) }, { dtype: 'bool', dims: need(input, 0).dims }],
  Neg: unary((value) => -value),
  Abs: unary(Math.abs),
  Sqrt: unary(Math.sqrt),
  Reciprocal: unary((value) => 1 / value),
  Floor: unary(Math.floor),
  Ceil: unary(Math.ceil),
  Round: unary(),
  Sign: unary(Math.sign),
  Not: unary((value) => (value ? 0 : 1), 'bool'),
  IsNaN: unary((value) => Number(Number.isNaN(value)), 'bool'),
  IsInf: unary(undefined, 'bool'),
  Cast: (input) => unary((value) => value, dtypeOfCode(input.node.int('to', 1)))(input),
  CastLike: (input) => unary((value) => value, need(input, 1).dtype)(input),

  // elementwise, several operands
  Sum: elementwise((...values) => values.reduce((sum, value) => sum + value, 0)),
  Mean: elementwise(null),
  Min: elementwise(Math.min),
  Max: elementwise(Math.max),
  ...taking(2, {
    Add: elementwise((a = 0, b = 0) => a + b),
    Sub: elementwise((a = 0, b = 0) => a - b),
    Mul: elementwise((a = 0, b = 0) => a * b),
    Div: integerAware(
      (a, b) => Math.trunc(a / b),
      (a, b) => a / b,
    ),
    Mod: integerAware(
      (a, b) => a - b * Math.floor(a / b),
      (a, b) => a % b,
    ),
    Pow: (input) => elementwise((a = 0, b = 0) => a ** b, need(input, 0).dtype)(input),
    And: elementwise((a = 0, b = 0) => Number(a && b), 'bool'),
    Or: elementwise((a = 0, b = 0) => Number(a || b), 'bool'),
    Xor: elementwise((a = 0, b = 0) => Number(a !== b), 'bool'),
    Equal: comparison((a, b) => a === b),
    Less: comparison((a, b) => a < b),
    LessOrEqual: comparison((a, b) => a <= b),
    Greater: comparison((a, b) => a > b),
    GreaterOrEqual: comparison((a, b) => a >= b),
  }),
  ...taking(3, {
    Where: elementwise((condition = 0, a = 0, b = 0) => (condition ? a : b)),
  }),
};
