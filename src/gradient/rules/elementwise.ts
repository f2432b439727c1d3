/** Gradient rules of elementwise operators. */
import { guardedSoftmax } from '../guards.ts';
import type { TypedGraph } from '../typed-graph.ts';
import type { GradientRule, RuleContext } from './rule.ts';

/** dx of y = f(x), given names of x, y and dy. */
type Derivative = (g: TypedGraph, x: string, y: string, dy: string, context: RuleContext) => string;

const unary =
  (derivative: Derivative): GradientRule =>
  (context) => [derivative(context.g, context.node.input(0), context.node.output(), context.dy, context)];

/** Both gradients of a broadcasting operator, summed back to the operands' shapes. */
const binary =
  (
    left: Derivative,
    right: (g: TypedGraph, a: string, b: string, y: string, dy: string, context: RuleContext) => string,
  ): GradientRule =>
  (context) => {
    const { g, node, dy, needs } = context;
    const [a, b] = [node.input(0), node.input(1)];
    return [
      needs(0) ? g.unbroadcast(left(g, a, node.output(), dy, context), g.dims(a)) : undefined,
      needs(1) ? g.unbroadcast(right(g, a, b, node.output(), dy, context), g.dims(b)) : undefined,
    ];
  };

/** `dy` where the condition holds, 0 elsewhere. */
const where = (g: TypedGraph, condition: string, dy: string): string =>
  g.add('Where', [condition, dy, g.scalarLike(dy, 0)]);

/** 1 - y². */
const oneMinusSquare = (g: TypedGraph, y: string): string => g.sub(g.scalarLike(y, 1), g.mul(y, y));

const one = (g: TypedGraph, like: string): string => g.scalarLike(like, 1);

/** d/dx of x · Φ(x): Φ(x) + x · φ(x), with the error function. */
const geluDerivative: Derivative = (g, x, _y, dy) => {
  const cumulative = g.scale(g.add('Add', [g.add('Erf', [g.scale(x, Math.SQRT1_2)]), one(g, x)]), 0.5);
  const density = g.scale(g.add('Exp', [g.scale(g.mul(x, x), -0.5)]), 1 / Math.sqrt(2 * Math.PI));
  return g.mul(dy, g.add('Add', [cumulative, g.mul(x, density)]));
};

/** d/dx of x/2 · (1 + tanh u), u = √(2/π) (x + 0.044715 x³). */
const tanhGeluDerivative: Derivative = (g, x, _y, dy) => {
  const square = g.mul(x, x);
  const scale = Math.sqrt(2 / Math.PI);
  const inner = g.mul(g.scale(x, scale), g.add('Add', [g.scale(square, 0.044715), one(g, x)]));
  const tanh = g.add('Tanh', [inner]);
  const innerSlope = g.scale(g.add('Add', [g.scale(square, 3 * 0.044715), one(g, x)]), scale);
  const half = g.scale(g.add('Add', [tanh, one(g, x)]), 0.5);
  const rest = g.mul(g.scale(g.mul(x, oneMinusSquare(g, tanh)), 0.5), innerSlope);
  return g.mul(dy, g.add('Add', [half, rest]));
};

/** d/dx of y = x · σ(αx): σ + α y (1 - σ) = σ (1 - αy) + αy. Takes only x, and makes σ and y anew. */
const swish = (g: TypedGraph, x: string, dy: string, alpha: number): string => {
  const { sigmoid, y } = swishAgain(g, x, alpha);
  const scaled = g.scale(y, alpha);
  return g.mul(dy, g.add('Add', [g.mul(sigmoid, g.sub(one(g, x), scaled)), scaled]));
};

function swishAgain(g: TypedGraph, x: string, alpha: number): { sigmoid: string; y: string } {
  const sigmoid = g.add('Sigmoid', [g.scale(x, alpha)]);
  return { sigmoid, y: g.mul(x, sigmoid) };
}

/**
 * A factor that the backward pass needs: computed again where that is cheap, so that it need not be kept from the
 * forward pass (a gated MLP keeps its gate, but not the gate's activation).
 */
function again({ g, made }: RuleContext, value: string): string {
  const node = made(value);
  if (node?.fullOperator !== 'com.microsoft.QuickGelu') return value;
  return swishAgain(g, node.input(0), node.float('alpha', 1.702)).y;
}

/** A gradient that goes to the operands which gave the result; operands that tie share it. */
const extremum: GradientRule = ({ g, node, dy, needs }) => {
  const y = node.output();
  const hits = node.inputs.map((input) => g.cast(g.add('Equal', [input, y]), g.dtype(dy)));
  const count = hits.reduce((sum, hit) => g.add('Add', [sum, hit]));
  const share = g.add('Div', [dy, count]);
  return node.inputs.map((input, at) =>
    needs(at) ? g.unbroadcast(g.mul(share, hits[at] ?? share), g.dims(input)) : undefined,
  );
};

export const elementwiseRules: Record<string, GradientRule> = {
  Identity: unary((_g, _x, _y, dy) => dy),
  Dropout: unary((_g, _x, _y, dy) => dy),
  Cast: unary((g, x, _y, dy) => g.cast(dy, g.dtype(x))),
  CastLike: unary((g, x, _y, dy) => g.cast(dy, g.dtype(x))),
  Neg: unary((g, _x, _y, dy) => g.neg(dy)),
  Abs: unary((g, x, _y, dy) => g.mul(dy, g.add('Sign', [x]))),
  Exp: unary((g, _x, y, dy) => g.mul(dy, y)),
  Log: unary((g, x, _y, dy) => g.add('Div', [dy, x])),
  Sqrt: unary((g, _x, y, dy) => g.scale(g.add('Div', [dy, y]), 0.5)),
  Reciprocal: unary((g, _x, y, dy) => g.neg(g.mul(dy, g.mul(y, y)))),
  Sigmoid: unary((g, _x, y, dy) => g.mul(dy, g.mul(y, g.sub(one(g, y), y)))),
  Tanh: unary((g, _x, y, dy) => g.mul(dy, oneMinusSquare(g, y))),
  Sin: unary((g, x, _y, dy) => g.mul(dy, g.add('Cos', [x]))),
  Cos: unary((g, x, _y, dy) => g.neg(g.mul(dy, g.add('Sin', [x])))),
  Erf: unary((g, x, _y, dy) => g.mul(dy, g.scale(g.add('Exp', [g.neg(g.mul(x, x))]), 2 / Math.sqrt(Math.PI)))),
  Relu: unary((g, x, _y, dy) => where(g, g.add('Greater', [x, g.scalarLike(x, 0)]), dy)),
  LeakyRelu: unary((g, x, _y, dy, { node }) =>
    g.add('Where', [g.add('Greater', [x, g.scalarLike(x, 0)]), dy, g.scale(dy, node.float('alpha', 0.01))]),
  ),
  Elu: unary((g, x, y, dy, { node }) =>
    g.add('Where', [
      g.add('Greater', [x, g.scalarLike(x, 0)]),
      dy,
      g.mul(dy, g.add('Add', [y, g.scalarLike(x, node.float('alpha', 1))])),
    ]),
  ),
  Softplus: unary((g, x, _y, dy) => g.mul(dy, g.add('Sigmoid', [x]))),
  Softsign: unary((g, x, _y, dy) => {
    const root = g.add('Add', [g.add('Abs', [x]), one(g, x)]);
    return g.add('Div', [dy, g.mul(root, root)]);
  }),
  HardSigmoid: unary((g, _x, y, dy, { node }) => {
    const inside = g.add('And', [g.add('Greater', [y, g.scalarLike(y, 0)]), g.add('Less', [y, one(g, y)])]);
    return where(g, inside, g.scale(dy, node.float('alpha', 0.2)));
  }),
  // x · clip(x/6 + 1/2, 0, 1)
  HardSwish: unary((g, x, _y, dy) => {
    const inside = g.mul(dy, g.add('Add', [g.scale(x, 1 / 3), g.scalarLike(x, 0.5)]));
    const above = g.add('Where', [g.add('Greater', [x, g.scalarLike(x, 3)]), dy, inside]);
    return where(g, g.add('Greater', [x, g.scalarLike(x, -3)]), above);
  }),
  // x · tanh(softplus x)
  Mish: unary((g, x, _y, dy) => {
    const tanh = g.add('Tanh', [g.add('Softplus', [x])]);
    const slope = g.mul(g.mul(x, g.add('Sigmoid', [x])), oneMinusSquare(g, tanh));
    return g.mul(dy, g.add('Add', [tanh, slope]));
  }),
  Gelu: unary((g, x, y, dy, context) =>
    (context.node.string('approximate', 'none') === 'tanh' ? tanhGeluDerivative : geluDerivative)(g, x, y, dy, context),
  ),
  'com.microsoft.Gelu': unary(geluDerivative),
  'com.microsoft.FastGelu': ({ g, node, dy, needs, ...rest }) => {
    const bias = node.input(1);
    const x = bias ? g.add('Add', [node.input(0), bias]) : node.input(0);
    const dx = tanhGeluDerivative(g, x, node.output(), dy, { g, node, dy, needs, ...rest });
    return [needs(0) ? dx : undefined, bias && needs(1) ? g.unbroadcast(dx, g.dims(bias)) : undefined];
  },
  'com.microsoft.BiasGelu': ({ g, node, dy, needs, ...rest }) => {
    const x = g.add('Add', [node.input(0), node.input(1)]);
    const dx = geluDerivative(g, x, node.output(), dy, { g, node, dy, needs, ...rest });
    return [needs(0) ? dx : undefined, needs(1) ? g.unbroadcast(dx, g.dims(node.input(1))) : undefined];
  },
  'com.microsoft.QuickGelu': unary((g, x, _y, dy, { node }) => swish(g, x, dy, node.float('alpha', 1.702))),
  Swish: unary((g, x, _y, dy, { node }) => swish(g, x, dy, node.float('alpha', 1))),
  Clip: ({ g, node, dy }) => {
    const [x, low, high] = [node.input(0), node.input(1), node.input(2)];
    // "Less" the other way round: LessOrEqual is younger than bounds as attributes.
    const bounds: [string, string, number | null][] = [
      ['Less', low, node.attributes.has('min') ? node.float('min', 0) : null],
      ['Greater', high, node.attributes.has('max') ? node.float('max', 0) : null],
    ];
    return [
      bounds.reduce((gradient, [comparison, name, value]) => {
        const bound = name || (value === null ? '' : g.scalarLike(x, value));
        return bound ? where(g, g.add('Not', [g.add(comparison, [x, bound])]), gradient) : gradient;
      }, dy),
    ];
  },

  Add: binary(
    (_g, _x, _y, dy) => dy,
    (_g, _a, _b, _y, dy) => dy,
  ),
  Sub: binary(
    (_g, _x, _y, dy) => dy,
    (g, _a, _b, _y, dy) => g.neg(dy),
  ),
  Mul: binary(
    (g, _x, _y, dy, context) => g.mul(dy, again(context, context.node.input(1))),
    (g, a, _b, _y, dy, context) => g.mul(dy, again(context, a)),
  ),
  Div: binary(
    (g, _x, _y, dy, { node }) => g.add('Div', [dy, node.input(1)]),
    (g, _a, b, y, dy) => g.neg(g.add('Div', [g.mul(dy, y), b])),
  ),
  Pow: binary(
    (g, x, _y, dy, { node }) => {
      const exponent = node.input(1);
      const value = g.values(exponent);
      if (value?.length === 1 && value[0] === 2) return g.mul(dy, g.scale(x, 2));
      if (value?.length === 1 && value[0] === 3) return g.mul(dy, g.scale(g.mul(x, x), 3));
      const power = g.cast(exponent, g.dtype(x));
      const slope = g.mul(power, g.add('Pow', [x, g.sub(power, g.scalarLike(x, 1))]));
      // x to the power of 0 is 1 everywhere; at 0 the product would be 0 · ∞.
      if (value && !value.includes(0)) return g.mul(dy, slope);
      return g.mul(dy, where(g, g.add('Not', [g.add('Equal', [power, g.scalarLike(power, 0)])]), slope));
    },
    (g, a, b, y, dy) => g.cast(g.mul(dy, g.mul(y, g.add('Log', [a]))), g.dtype(b)),
  ),
  Mod: binary(
    (_g, _x, _y, dy) => dy,
    // fmod: a - b · trunc(a / b)
    (g, a, b, y, dy) => g.neg(g.mul(dy, g.add('Div', [g.sub(a, y), b]))),
  ),
  PRelu: binary(
    (g, x, _y, dy, { node }) =>
      g.add('Where', [g.add('Greater', [x, g.scalarLike(x, 0)]), dy, g.mul(dy, node.input(1))]),
    (g, a, _b, _y, dy) => g.add('Where', [g.add('Greater', [a, g.scalarLike(a, 0)]), g.scalarLike(a, 0), g.mul(dy, a)]),
  ),
  Sum: ({ g, node, dy, needs }) =>
    node.inputs.map((input, at) => (needs(at) ? g.unbroadcast(dy, g.dims(input)) : undefined)),
  Mean: ({ g, node, dy, needs }) => {
    const share = g.scale(dy, 1 / node.inputs.length);
    return node.inputs.map((input, at) => (needs(at) ? g.unbroadcast(share, g.dims(input)) : undefined));
  },
  Min: extremum,
  Max: extremum,
  Where: ({ g, node, dy, needs, made }) => {
    const [condition, a, b] = [node.input(0), node.input(1), node.input(2)];
    // The rule of a guarded softmax takes the guard's 0 for what is no number, which makes the gradient 0 there.
    if (guardedSoftmax(node, made, (value) => g.values(value))) return [undefined, undefined, dy];
    return [
      undefined,
      needs(1) ? g.unbroadcast(where(g, condition, dy), g.dims(a)) : undefined,
      needs(2) ? g.unbroadcast(where(g, g.add('Not', [condition]), dy), g.dims(b)) : undefined,
    ];
  },
};
