/** Cases of operators that move elements about. */
import { tensorOf } from '../../../src/onnx/index.ts';
import { type Case, float, input, int64, ints, one } from './case.ts';

/** "To the end" and "to the beginning" as exporters write them. */
const end = 2 ** 63;
const beginning = -(2 ** 60);

export const movementCases: Record<string, Case[]> = {
  Reshape: [
    one([2, 6], [int64(3, -1)]),
    one([2, 3, 4], [int64(0, -1)]),
    one([2, 3], [int64(0, 0, 1)]),
    one([1], [ints([0])]),
    one([], [int64(1, 1)]),
    one([1, 2, 1, 3, 1], [int64(6)]),
    one([2, 3], [int64(3, 2)], { allowzero: 1 }),
  ],
  Flatten: [
    one([2, 3, 2], [], { axis: 2 }),
    one([2, 3, 2], [], { axis: -2 }),
    one([2, 3, 2], [], { axis: 0 }),
    one([2, 3, 2], [], { axis: 3 }),
    one([2, 3, 2]),
  ],
  Squeeze: [
    one([1, 3, 1], [int64(0)]),
    one([1, 3, 1], [int64(-1, 0)]),
    one([1, 3, 1]),
    one([1], [int64(0)]),
    one([1, 3, 1], [], { axes: [-1] }, { opset: 11 }),
    one([1, 3, 1], [], { axes: [0, 2] }, { opset: 9 }),
  ],
  Unsqueeze: [
    one([2, 3], [int64(0, -1)]),
    one([], [int64(0)]),
    one([2, 3], [int64(3, 1, 0)]),
    one([2, 3], [], { axes: [1] }, { opset: 11 }),
  ],
  Transpose: [
    one([2, 3, 4], [], { perm: [2, 0, 1] }),
    one([2, 3]),
    one([2, 3, 2, 2], [], { perm: [0, 2, 1, 3] }),
    one([2, 1, 3, 1, 2], [], { perm: [4, 2, 0, 1, 3] }),
    one([3]),
  ],
  Expand: [
    one([3, 1], [int64(2, 3, 4)]),
    one([1, 2], [int64(3, 1)]),
    one([], [int64(2, 2)]),
    one([2, 1, 2], [int64(1, 3, 1)]),
    one([1, 2, 1, 1], [int64(2, 3, 1, 1, 2)]),
  ],
  Tile: [
    one([2, 3], [int64(2, 3)]),
    one([2, 1], [int64(1, 4)]),
    one([2], [int64(3)]),
    one([1, 2, 2], [int64(2, 1, 2)]),
  ],
  Concat: [
    ...[0, 1, -1].map((axis) => ({
      opset: 18,
      inputs: [input([2, 3], [-1, 1], 1), input([2, 3], [-1, 1], 2)],
      arguments: [0, float([2, 3], 1, 2, 3, 4, 5, 6), 1, 0],
      attributes: { axis },
    })),
    { opset: 18, inputs: [input([2]), input([1], [-1, 1], 2)], arguments: [0, 1], attributes: { axis: 0 } },
    {
      opset: 18,
      inputs: [input([1, 2, 1, 2, 1]), input([1, 2, 3, 2, 1], [-1, 1], 2)],
      arguments: [1, 0],
      attributes: { axis: -3 },
    },
  ],
  Split: [
    one([2, 5], [int64(2, 3)], { axis: 1 }, { outputs: 2 }),
    one([2, 5], [int64(1, 1, 3)], { axis: -1 }, { outputs: 3 }),
    one([4, 3], [], { axis: -2 }, { outputs: 2, opset: 13 }),
    one([5, 2], [], { axis: 0, num_outputs: 2 }, { outputs: 2 }),
    one([5, 2], [], { axis: 0, split: [1, 4] }, { outputs: 2, opset: 11 }),
    one([6], [], {}, { outputs: 3, opset: 11 }),
  ],
  Slice: [
    one([4, 5], [int64(1), int64(3), int64(0)]),
    one([4, 5], [int64(-3), int64(end), int64(-1)]),
    one([4, 5], [int64(1, 0), int64(4, 5), int64(0, 1), int64(1, 2)]),
    one([5], [int64(-1), int64(beginning), int64(0), int64(-2)]),
    one([5], [int64(3), int64(0), int64(0), int64(-1)]),
    one([2, 4, 3], [int64(0, 1), int64(2, 3)]),
    one([2, 5], [int64(1), int64(-1), int64(-1), int64(3)]),
    one([3, 4], [int64(-1, -1), int64(beginning, beginning), int64(0, 1), int64(-1, -3)]),
    one([1, 2, 3, 1, 2], [int64(1, 0), int64(end, 1), int64(2, 4)]),
    one([4, 5], [], { starts: [1], ends: [4], axes: [1] }, { opset: 9 }),
    one([4, 5], [], { starts: [-2, 0], ends: [2 ** 53, -1] }, { opset: 9 }),
  ],
  Pad: [
    one([2, 3], [int64(1, 0, 0, 2)]),
    one([2, 3], [int64(1, 2), null, int64(1)]),
    one([2, 3], [int64(1, 2), float([], 3), int64(-2)]),
    // a negative pad cuts
    one([3, 4], [int64(-1, 1, 0, -2)]),
    one([3], [int64(-1, -1)]),
    one([2, 3], [], { pads: [0, 1, 1, 0] }, { opset: 10 }),
  ],
  Gather: [
    one([4, 3], [int64(0, 2, 2, -1)]),
    one([2, 4, 3], [ints([2, 2], 0, 3, 3, 1)], { axis: 1 }),
    one([2, 3], [ints([], 1)], { axis: -1 }),
    one([3], [ints([], -2)]),
    one([3, 2], [tensorOf('int32', [2], [-1, 1])], { axis: 0 }),
    one([2, 1, 3, 1, 2], [ints([1, 2], 2, -3)], { axis: -3 }),
  ],
  GatherElements: [
    one([3, 4], [ints([3, 2], 0, 1, 3, 3, 2, -1)], { axis: 1 }),
    one([3, 2], [ints([2, 2], 0, 1, 2, 1)], { axis: 0 }),
    one([2, 3, 2], [ints([1, 3, 2], 0, 1, 1, 0, -1, -2)], { axis: -3 }),
    one([4], [ints([5], 0, 0, 3, -1, 2)]),
  ],
  TopK: [
    one([3, 4], [int64(2)], {}, { outputs: 2 }),
    one([3, 4, 2], [int64(2)], { axis: 1, largest: 0 }, { outputs: 2 }),
    one([4, 2], [int64(3)], { axis: -2, sorted: 0 }, { outputs: 2 }),
    one([3, 4], [], { k: 2, axis: 0 }, { outputs: 2, opset: 9 }),
  ],
  ScatterElements: ['none', 'add'].flatMap((reduction) => [
    {
      opset: 18,
      inputs: [input([3, 4]), input([2, 3], [-1, 1], 2)],
      arguments: [0, ints([2, 3], 0, 2, 1, 2, 0, -3), 1],
      attributes: { axis: 0, reduction },
    },
    {
      opset: 18,
      inputs: [input([2, 5]), input([2, 2], [-1, 1], 2)],
      arguments: [0, ints([2, 2], 4, 1, -1, 0), 1],
      attributes: { axis: -1, reduction },
    },
  ]),
  GatherND: [
    one([3, 4, 2], [ints([3, 2], 0, 1, 2, 3, 0, 1)]),
    one([3, 4], [ints([2, 1], -1, 0)]),
    one([2, 2, 3], [ints([2, 1, 3], 0, -1, 2, 1, 0, -3)]),
    one([3], [ints([1], 2)]),
  ],
  ScatterND: [
    { opset: 18, inputs: [input([4, 2]), input([2, 2])], arguments: [0, ints([2, 1], 3, 1), 1] },
    {
      opset: 18,
      inputs: [input([4]), input([3])],
      arguments: [0, ints([3, 1], 3, 1, 3), 1],
      attributes: { reduction: 'add' },
    },
    { opset: 18, inputs: [input([2, 3]), input([2], [-1, 1], 2)], arguments: [0, ints([2, 2], 1, -1, 0, 0), 1] },
    { opset: 11, inputs: [input([3, 2]), input([1, 2], [-1, 1], 2)], arguments: [0, ints([1, 1], -2), 1] },
  ],
  Trilu: [
    one([3, 3], [], { upper: 0 }),
    one([2, 3, 4], [ints([], 1)]),
    one([3, 4], [ints([], -1)], { upper: 0 }),
    one([1, 2, 1, 3, 3], [ints([], -1)]),
  ],
  CumSum: [
    ...[0, 1].flatMap((exclusive) => [0, 1].map((reverse) => one([2, 4], [ints([], 1)], { exclusive, reverse }))),
    one([3, 2], [ints([], -2)]),
    one([4], [tensorOf('int32', [], [0])]),
  ],
};
