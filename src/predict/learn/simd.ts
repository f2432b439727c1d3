/**
 * The five loops that training an MLP spends its time in, on 4 lanes of float32: about 5 × as fast as the same loops over
 * typed arrays. They are assembled here rather than kept as a binary, so that what runs is what is read; the instruction
 * names in the comments are those of the WebAssembly specification (core, section 5.4).
 *
 * WebAssembly cannot turn subnormal numbers off, and processors multiply with them some hundred times slower. Weights that
 * nothing but their decay moves would get there, so values that change nothing at the precision of float32 are set to 0.
 */

/** Pointers and lengths are in bytes, and lengths multiples of 16. Columns of products are multiples of 8, rows of 4. */
export interface SimdKernels {
  /**
   * out[m, n] += a[m, k] · b[k, n]. Rows of b and out are contiguous; a is read at `a + i · aRow + p · aColumn`, so that it may
   * be a transpose.
   */
  multiply(a: number, aRow: number, aColumn: number, b: number, out: number, m: number, k: number, n: number): void;
  /** to += from */
  add(to: number, from: number, length: number): void;
  /** values = max(values, 0), where what is below 1e-12 is 0 */
  relu(values: number, length: number): void;
  /** gradient = 0 where the output of the ReLU is not above 0, and where it is within ± 1e-20 */
  reluBackward(gradient: number, output: number, length: number): void;
  /**
   * One step of Adam with L2 weight decay (Kingma and Ba 2015; torch.optim.Adam), and sets the gradient to 0.
   * @param size learning rate / (1 − β₁^t)
   * @param correction 1 / √(1 − β₂^t)
   */
  adam(
    parameters: number,
    gradient: number,
    first: number,
    second: number,
    length: number,
    size: number,
    correction: number,
    decay: number,
    beta1: number,
    beta2: number,
    epsilon: number,
  ): void;
}

export interface Simd extends SimdKernels {
  memory: WebAssembly.Memory;
}

type Code = readonly (number | Code)[];

const unsigned = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]);
const signed = (value: number): number[] =>
  value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
const flat = (code: Code): number[] => code.flatMap((one) => (typeof one === 'number' ? [one] : flat(one)));
const counted = (parts: readonly Code[]): Code => [unsigned(parts.length), ...parts];
const sized = (code: Code): Code => {
  const bytes = flat(code);
  return [unsigned(bytes.length), bytes];
};

const types = { i32: 0x7f, f32: 0x7d, v128: 0x7b } as const;
type ValueType = keyof typeof types;

const get = (local: number): Code => [0x20, unsigned(local)];
const set = (local: number, value: Code): Code => [value, 0x21, unsigned(local)];
const constant = (value: number): Code => [0x41, signed(value)];
const plus = (a: Code, b: Code): Code => [a, b, 0x6a];
const times = (a: Code, b: Code): Code => [a, b, 0x6c];
const advance = (local: number, by: Code): Code => set(local, plus(get(local), by));
/** Runs at least once, and again while `local` < `end` (unsigned). */
const loop = (body: Code, local: number, end: Code): Code => [0x03, 0x40, body, get(local), end, 0x49, 0x0d, 0, 0x0b];

/** Alignment 2 (4 bytes): a hint only. */
const load = (pointer: Code, offset = 0): Code => [pointer, 0xfd, 0x00, 2, unsigned(offset)];
const loadSplat = (pointer: Code): Code => [pointer, 0xfd, 0x09, 2, 0];
const store = (pointer: Code, value: Code, offset = 0): Code => [pointer, value, 0xfd, 0x0b, 2, unsigned(offset)];
const splat = (value: Code): Code => [value, 0xfd, 0x13];
const vector =
  (opcode: number) =>
  (a: Code, b: Code): Code => [a, b, 0xfd, unsigned(opcode)];
const addF32 = vector(228);
const subF32 = vector(229);
const mulF32 = vector(230);
const divF32 = vector(231);
const lessF32 = vector(0x43);
const greaterF32 = vector(0x44);
const and = vector(0x4e);
const andNot = vector(0x4f);
const absF32 = (a: Code): Code => [a, 0xfd, unsigned(224)];
const sqrtF32 = (a: Code): Code => [a, 0xfd, unsigned(227)];
const zero: Code = [0xfd, 0x0c, ...Array.from({ length: 16 }, () => 0)];
const bytesOf = (value: number): number[] => [...new Uint8Array(Float32Array.of(value).buffer)];
/** A number in all lanes. */
const number = (value: number): Code => [0xfd, 0x0c, ...[0, 1, 2, 3].flatMap(() => bytesOf(value))];

/**
 * Below these, values are 0. Any product of two that the kernels form is then above 1.2e-38, the smallest normal number, and
 * a step changes a weight by 1e-12 at most through them (1e-3 · 1e-17 / 1e-8), far below the rounding of weights.
 */
const smallest = { value: 1e-12, slope: 1e-20, decayed: 1e-17, first: 1e-30, second: 1e-36 };
/** The value of a local, or 0 where it is within ± `least`. NaN stays. */
const flushed = (local: number, least: number): Code => andNot(get(local), lessF32(absF32(get(local)), number(least)));

interface Kernel {
  name: keyof SimdKernels;
  parameters: ValueType[];
  locals: ValueType[];
  body: Code;
}

function multiplyKernel(): Kernel {
  // Tiles of 4 rows × 8 columns: 8 accumulators stay in registers, and each load of b serves 4 rows.
  const [a, aRow, aColumn, b, out, m, k, n] = [0, 1, 2, 3, 4, 5, 6, 7];
  const [i, j, p, bAt, outRow, outAt] = [8, 9, 10, 11, 12, 13];
  const aAt = [14, 15, 16, 17];
  const [b0, b1, value] = [18, 19, 20];
  const sums = [0, 1, 2, 3].map((row) => [21 + 2 * row, 22 + 2 * row] as const);
  const rows = [0, 1, 2, 3];
  /** Address of the tile's row in out, from the first one's. */
  const place = (row: number): Code => plus(get(outAt), times(get(outRow), constant(row)));
  const inner: Code = [
    set(b0, load(get(bAt))),
    set(b1, load(get(bAt), 16)),
    ...rows.flatMap((row): Code[] => {
      const [left, right] = sums[row] as readonly [number, number];
      const from = aAt[row] as number;
      return [
        set(value, loadSplat(get(from))),
        advance(from, get(aColumn)),
        set(left, addF32(get(left), mulF32(get(value), get(b0)))),
        set(right, addF32(get(right), mulF32(get(value), get(b1)))),
      ];
    }),
    advance(bAt, get(outRow)),
    advance(p, constant(1)),
  ];
  const tile: Code = [
    set(outAt, plus(get(out), plus(times(get(i), get(outRow)), times(get(j), constant(4))))),
    set(bAt, plus(get(b), times(get(j), constant(4)))),
    ...rows.flatMap((row): Code[] => {
      const [left, right] = sums[row] as readonly [number, number];
      return [
        set(aAt[row] as number, plus(get(a), times(plus(get(i), constant(row)), get(aRow)))),
        set(left, load(place(row))),
        set(right, load(place(row), 16)),
      ];
    }),
    set(p, constant(0)),
    loop(inner, p, get(k)),
    ...rows.flatMap((row): Code[] => {
      const [left, right] = sums[row] as readonly [number, number];
      return [store(place(row), get(left)), store(place(row), get(right), 16)];
    }),
    advance(j, constant(8)),
  ];
  return {
    name: 'multiply',
    parameters: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
    locals: [...Array.from({ length: 10 }, () => 'i32' as const), ...Array.from({ length: 11 }, () => 'v128' as const)],
    body: [
      set(outRow, times(get(n), constant(4))),
      set(i, constant(0)),
      loop([set(j, constant(0)), loop(tile, j, get(n)), advance(i, constant(4))], i, get(m)),
    ],
  };
}

/** A loop over vectors of the first pointer; the others keep the pace. `end` is a spare local. */
function elementwise(pointers: readonly number[], length: number, end: number, step: Code): Code {
  const [first = 0] = pointers;
  return [
    set(end, plus(get(first), get(length))),
    loop([step, ...pointers.map((pointer) => advance(pointer, constant(16)))], first, get(end)),
  ];
}

const addKernel: Kernel = {
  name: 'add',
  parameters: ['i32', 'i32', 'i32'],
  locals: ['i32'],
  body: elementwise([0, 1], 2, 3, store(get(0), addF32(load(get(0)), load(get(1))))),
};

const reluKernel: Kernel = {
  name: 'relu',
  parameters: ['i32', 'i32'],
  locals: ['i32', 'v128'],
  body: elementwise([0], 1, 2, [
    set(3, load(get(0))),
    store(get(0), andNot(get(3), lessF32(get(3), number(smallest.value)))),
  ]),
};

const reluBackwardKernel: Kernel = {
  name: 'reluBackward',
  parameters: ['i32', 'i32', 'i32'],
  locals: ['i32', 'v128'],
  body: elementwise([0, 1], 2, 3, [
    set(4, load(get(0))),
    store(get(0), and(flushed(4, smallest.slope), greaterF32(load(get(1)), zero))),
  ]),
};

function adamKernel(): Kernel {
  const [parameters, gradient, first, second, length, size, correction, decay, beta1, beta2, epsilon] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ];
  const end = 11;
  const scalars = [size, correction, decay, beta1, beta2, epsilon];
  /** Each scalar in all lanes. */
  const lanes = new Map(scalars.map((scalar, at) => [scalar, 12 + at]));
  const lane = (scalar: number): Code => get(lanes.get(scalar) as number);
  const [g, m, v, rest1, rest2, moved] = [18, 19, 20, 21, 22, 23];
  const one = number(1);
  const step: Code = [
    set(g, addF32(load(get(gradient)), mulF32(lane(decay), load(get(parameters))))),
    set(g, flushed(g, smallest.decayed)),
    set(m, addF32(mulF32(lane(beta1), load(get(first))), mulF32(get(rest1), get(g)))),
    set(v, addF32(mulF32(lane(beta2), load(get(second))), mulF32(get(rest2), mulF32(get(g), get(g))))),
    set(m, flushed(m, smallest.first)),
    set(v, flushed(v, smallest.second)),
    store(get(first), get(m)),
    store(get(second), get(v)),
    store(get(gradient), zero),
    set(
      moved,
      subF32(
        load(get(parameters)),
        divF32(mulF32(lane(size), get(m)), addF32(mulF32(sqrtF32(get(v)), lane(correction)), lane(epsilon))),
      ),
    ),
    store(get(parameters), flushed(moved, smallest.value)),
  ];
  return {
    name: 'adam',
    parameters: ['i32', 'i32', 'i32', 'i32', 'i32', 'f32', 'f32', 'f32', 'f32', 'f32', 'f32'],
    locals: ['i32', ...Array.from({ length: 12 }, () => 'v128' as const)],
    body: [
      ...scalars.map((scalar) => set(lanes.get(scalar) as number, splat(get(scalar)))),
      set(rest1, subF32(one, lane(beta1))),
      set(rest2, subF32(one, lane(beta2))),
      elementwise([parameters, gradient, first, second], length, end, step),
    ],
  };
}

const kernels = (): Kernel[] => [multiplyKernel(), addKernel, reluKernel, reluBackwardKernel, adamKernel()];

/** The module's bytes: types, the imported memory, functions, exports, code. */
function assembled(all: readonly Kernel[]): Uint8Array<ArrayBuffer> {
  const text = (value: string): Code => counted([...value].map((one) => one.charCodeAt(0)).map((one) => [one]));
  const section = (id: number, content: Code): Code => [id, sized(content)];
  return Uint8Array.from(
    flat([
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(
        1,
        counted(all.map(({ parameters }) => [0x60, counted(parameters.map((type) => [types[type]])), counted([])])),
      ),
      section(2, counted([[text('host'), text('memory'), 0x02, 0x00, 0]])),
      section(3, counted(all.map((_, at) => unsigned(at)))),
      section(7, counted(all.map(({ name }, at) => [text(name), 0x00, unsigned(at)]))),
      section(
        10,
        counted(all.map(({ locals, body }) => sized([counted(locals.map((type) => [1, types[type]])), body, 0x0b]))),
      ),
    ]),
  );
}

let compiled: WebAssembly.Module | undefined;

/** Kernels over a memory of their own. */
export function openSimd(bytes: number): Simd {
  compiled ??= new WebAssembly.Module(assembled(kernels()));
  const memory = new WebAssembly.Memory({ initial: Math.max(1, Math.ceil(bytes / 65536)) });
  const { exports } = new WebAssembly.Instance(compiled, { host: { memory } });
  return { ...(exports as unknown as SimdKernels), memory };
}
