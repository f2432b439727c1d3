/** Graph files that are damaged, or made to do harm: each is refused in one sentence that says what and where. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttributeValues,
  encodeOnnx,
  Graph,
  modelOf,
  type OnnxModel,
  readOnnxFile,
  tensorBytes,
  tensorOf,
  weightsInPlace,
} from '../../src/onnx/index.ts';
import { encodeModel, type ModelMessage, type TensorMessage } from '../../src/onnx/schema.ts';
import { HumanError, sentenceOf } from '../../src/shared/errors.ts';

const root = mkdtempSync(join(tmpdir(), 'softbench-malformed-'));
afterAll(() => rmSync(root, { recursive: true }));

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'));
});

function write(bytes: Uint8Array, name = 'model.onnx'): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** The refusal of a file; fails where it opens, or where anything but a HumanError comes out. */
function refusal(path: string): HumanError {
  try {
    readOnnxFile(path);
  } catch (thrown) {
    if (!(thrown instanceof HumanError)) throw thrown;
    expect(thrown.details.todo, thrown.message).toBeTruthy();
    expect(sentenceOf(thrown)).toContain(folder);
    return thrown;
  }
  throw new Error('this file should not open');
}

const model = (graph: Graph): OnnxModel => modelOf(graph, 18);

/** x → y, edited by the test. */
function written(edit: (graph: Graph) => void): string {
  const graph = new Graph();
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: [4] }];
  graph.outputs = [{ name: 'y', dtype: 'float32', dims: [4] }];
  graph.add('Exp', ['x'], { outputs: ['a'] });
  graph.add('Neg', ['a'], { outputs: ['y'] });
  edit(graph);
  return write(encodeOnnx(model(graph)));
}

const message = (tensor: TensorMessage): ModelMessage => ({
  graph: {
    node: [{ opType: 'Identity', input: ['w'], output: ['y'] }],
    output: [{ name: 'y' }],
    initializer: [{ name: 'w', ...tensor }],
  },
});

describe('graphs that do not hang together', () => {
  const graphs: Record<string, [edit: (graph: Graph) => void, says: RegExp]> = {
    'a cycle': [
      (graph) => {
        for (const node of graph.nodes) if (node.operator === 'Exp') node.inputs = ['y'];
      },
      /cycle through the node "[ay]"/,
    ],
    'a node that reads itself': [(graph) => graph.add('Log', ['b'], { outputs: ['b'] }), /cycle through the node "b"/],
    'an input that nothing makes': [
      (graph) => graph.add('Log', ['nowhere'], { outputs: ['b'] }),
      /node "b" \(Log\) reads "nowhere", which nothing in the graph makes/,
    ],
    'a value made twice': [(graph) => graph.add('Log', ['x'], { outputs: ['a'] }), /"a" is made twice.*node "a"/],
    'two outputs of one node with one name': [
      (graph) => graph.addNode('Split', ['x'], { outputs: ['s', 's'] }),
      /"s" is made twice/,
    ],
    'a node that makes an input anew': [(graph) => graph.add('Log', ['a'], { outputs: ['x'] }), /"x" is made twice/],
    'a node that makes an initialiser anew': [
      (graph) => {
        graph.initializers.set('w', tensorOf('float32', [1], [1]));
        graph.add('Log', ['x'], { outputs: ['w'] });
      },
      /"w" is made twice/,
    ],
    'two inputs of one name': [(graph) => graph.inputs.push(...graph.inputs), /two inputs called "x"/],
    'an output that no node makes': [
      (graph) => graph.outputs.push({ name: 'z', dtype: 'float32', dims: [1] }),
      /output "z" is made by no node/,
    ],
    'a node without an operator': [(graph) => graph.add('', ['x'], { outputs: ['b'] }), /"b" has no operator/],
  };
  it.each(Object.entries(graphs))('%s', (_, [edit, says]) => {
    const { kind, message } = refusal(written(edit));
    expect(kind).toBe('bad-input');
    expect(message).toMatch(says);
  });

  const branches: Record<string, [edit: (branch: Graph) => void, says: RegExp]> = {
    'a cycle inside a branch': [
      (branch) => {
        branch.add('Neg', ['second'], { outputs: ['first'] });
        branch.add('Neg', ['first'], { outputs: ['second'] });
      },
      /cycle through the node "(first|second)"/,
    ],
    'a branch that reads what its own node gives': [
      (branch) => branch.add('Neg', ['chosen'], { outputs: ['again'] }),
      /cycle through the node "chosen"/,
    ],
    'a branch that reads what nothing makes': [
      (branch) => branch.add('Neg', ['nowhere'], { outputs: ['again'] }),
      /reads "nowhere"/,
    ],
    'a branch that gives what it does not make': [
      (branch) => branch.outputs.push({ name: 'absent', dtype: 'float32', dims: [4] }),
      /output "absent" is made by no node/,
    ],
  };
  it.each(Object.entries(branches))('%s', (_, [edit, says]) => {
    const branch = new Graph();
    branch.outputs = [{ name: 'inner', dtype: 'float32', dims: [4] }];
    // read from the graph around it, which is allowed
    branch.add('Neg', ['a'], { outputs: ['inner'] });
    const other = branch.clone();
    edit(branch);
    const path = written((graph) => {
      graph.initializers.set('condition', tensorOf('bool', [], [1]));
      const attributes: AttributeValues = { then_branch: branch, else_branch: other };
      graph.addNode('If', ['condition'], { outputs: ['chosen'], attributes });
    });
    expect(refusal(path).message).toMatch(says);
  });

  it('graphs inside graphs, too deep', () => {
    // Written by hand, from the innermost outwards: the library's own writer has the limit of its reader.
    const field = (number: number, bytes: Uint8Array): Uint8Array => {
      const head = [(number << 3) | 2];
      let { length } = bytes;
      for (; length > 127; length >>= 7) head.push((length & 127) | 128);
      return Buffer.concat([Uint8Array.from([...head, length]), bytes]);
    };
    const text = (value: string): Uint8Array => Buffer.from(value);
    for (const depth of [40, 2000]) {
      let graph = field(2, text('innermost'));
      for (let level = 0; level < depth; level++) {
        const attribute = Buffer.concat([field(1, text('then_branch')), field(6, graph)]);
        const node = Buffer.concat([field(2, text('y')), field(4, text('If')), field(5, attribute)]);
        graph = Buffer.concat([field(1, node), field(12, field(1, text('y')))]);
      }
      expect(refusal(write(field(7, graph))).message).toMatch(/nested more than 30 deep/);
    }
  });
});

describe('tensors that cannot be', () => {
  const tensors: Record<string, [tensor: TensorMessage, says: RegExp]> = {
    'fewer bytes than the shape needs': [{ dims: [3], dataType: 1, rawData: new Uint8Array(8) }, /"w" has 8 bytes.*12/],
    'more bytes than the shape needs': [{ dims: [1], dataType: 7, rawData: new Uint8Array(16) }, /"w" has 16 bytes.*8/],
    'no data at all': [{ dims: [3], dataType: 1 }, /"w" has 0 values; its shape \[3\] needs 3/],
    'a scalar without its value': [{ dataType: 7 }, /"w" has 0 values; its shape \[\] needs 1/],
    'too few numbers': [{ dims: [2, 2], dataType: 7, int64Data: [1, 2, 3] }, /"w" has 3 values.*\[2, 2\] needs 4/],
    'numbers of another type': [{ dims: [2], dataType: 1, int64Data: [1, 2] }, /"w" has 0 values/],
    'too few strings': [{ dims: [2], dataType: 8, stringData: [new Uint8Array(1)] }, /"w" has 1 strings.*needs 2/],
    'a negative size': [{ dims: [-3], dataType: 1, floatData: [1, 2, 3] }, /"w" has the impossible shape \[-3\]/],
    'two negative sizes': [{ dims: [-1, -1], dataType: 1, floatData: [1] }, /impossible shape \[-1, -1\]/],
    'a size beyond 2^53': [{ dims: [2 ** 60], dataType: 1, floatData: [1] }, /impossible shape/],
    // 2^32 · 2^32 is 0 in 64 bits
    'sizes whose product overflows': [
      { dims: [2 ** 32, 2 ** 32], dataType: 1, rawData: new Uint8Array() },
      /impossible shape \[4294967296, 4294967296\]/,
    ],
    'a huge shape': [{ dims: [2 ** 40], dataType: 1, floatData: [1] }, /"w" has 1 values; its shape \[1099511627776\]/],
    'an unknown element type': [{ dims: [1], dataType: 99, rawData: new Uint8Array(4) }, /element type 99/],
    'no element type': [{ dims: [1], rawData: new Uint8Array(4) }, /element type/],
  };
  it.each(Object.entries(tensors))('%s', (_, [tensor, says]) => {
    expect(refusal(write(encodeModel(message(tensor)))).message).toMatch(says);
  });

  it('also as an attribute', () => {
    const t = { dims: [2 ** 40], dataType: 1, floatData: [1] };
    const node = { opType: 'Constant', output: ['y'], attribute: [{ name: 'value', type: 4, t }] };
    const bytes = encodeModel({ graph: { node: [node], output: [{ name: 'y' }] } });
    expect(refusal(write(bytes)).message).toMatch(/has 1 values; its shape \[1099511627776\]/);
  });

  it('two initialisers of one name', () => {
    const { graph } = message({ dims: [1], dataType: 1, floatData: [1] });
    const initializer = [...(graph?.initializer ?? []), ...(graph?.initializer ?? [])];
    expect(refusal(write(encodeModel({ graph: { ...graph, initializer } }))).message).toMatch(/two initialisers/);
  });
});

describe('weights in other files', () => {
  const external = (location: string, offset: number | string = 0, length: number | string | null = 16): string =>
    write(
      encodeModel(
        message({
          dims: [4],
          dataType: 1,
          dataLocation: 1,
          externalData: [
            { key: 'location', value: location },
            { key: 'offset', value: String(offset) },
            ...(length === null ? [] : [{ key: 'length', value: String(length) }]),
          ],
        }),
      ),
    );

  const values = Buffer.from(Float32Array.from([1, 2, 3, 4]).buffer);

  it('are read where they are', () => {
    write(values, 'weights.bin');
    const opened = readOnnxFile(external('weights.bin'));
    const tensor = opened.graph.initializers.get('w');
    expect(tensor && Buffer.from(tensorBytes(tensor, opened.folder))).toEqual(values);
  });

  const places: [string, number | string, number | string | null, RegExp][] = [
    ['absent.bin', 0, 16, /"absent\.bin", is not there/],
    ['weights.bin/inside', 0, 16, /"weights\.bin\/inside", is not there/],
    ['sub', 0, 16, /"sub", which should hold the weights, is not a file/],
    ['.', 0, 16, /is not a file/],
    ['', 0, 16, /broken way/],
    ['weights.bin', 4, 16, /too short: "w" ends at byte 20, the file at 16/],
    ['weights.bin', 2 ** 40, 16, /too short/],
    ['weights.bin', 1, null, /too short/],
    ['weights.bin', -4, 16, /broken way/],
    ['weights.bin', '1e400', 16, /broken way/],
    ['weights.bin', 'first', 16, /broken way/],
    ['weights.bin', 0, 8, /needs 16 bytes, but 8 are said/],
    ['weights.bin', 0, -1, /needs 16 bytes, but -1 are said/],
    ['weights.bin', 0, 'all', /broken way/],
    ['../weights.bin', 0, 16, /outside the model's folder/],
    ['sub/../../weights.bin', 0, 16, /outside the model's folder/],
    ['/etc/hostname', 0, 16, /outside the model's folder/],
  ];
  it.each(places)('location %j, offset %s, length %s', (location, offset, length, says) => {
    write(values, 'weights.bin');
    writeFileSync(join(root, 'weights.bin'), values);
    mkdirSync(join(folder, 'sub'));
    expect(refusal(external(location, offset, length)).message).toMatch(says);
  });

  it('also of a tensor inside a branch and of a Constant', () => {
    const tensor = {
      dtype: 'float32' as const,
      dims: [4],
      external: { location: '../weights.bin', offset: 0, length: 16 },
    };
    writeFileSync(join(root, 'weights.bin'), values);
    const branch = new Graph();
    branch.initializers.set('inner', tensor);
    branch.outputs = [{ name: 'inner', dtype: 'float32', dims: [4] }];
    const inBranch = written((graph) => {
      // not a constant: branches of a known condition are put in place, or dropped
      graph.inputs.push({ name: 'condition', dtype: 'bool', dims: [] });
      const attributes: AttributeValues = { then_branch: branch, else_branch: branch };
      graph.addNode('If', ['condition'], { outputs: ['chosen'], attributes });
      graph.outputs.push({ name: 'chosen', dtype: 'float32', dims: [4] });
    });
    expect(refusal(inBranch).message).toMatch(/"inner" is said to be in.*outside/);
    const inConstant = written((graph) => graph.add('Constant', [], { outputs: ['c'], attributes: { value: tensor } }));
    expect(refusal(inConstant).message).toMatch(/"c" is said to be in.*outside/);
  });

  // Windows lets only some users make links.
  describe.skipIf(process.platform === 'win32')('behind links', () => {
    it('that lead out of the folder are refused', () => {
      writeFileSync(join(root, 'weights.bin'), values);
      symlinkSync('../weights.bin', join(folder, 'weights.bin'));
      expect(refusal(external('weights.bin')).message).toMatch(
        /"weights\.bin", is a link to .*weights\.bin, outside the model's folder/,
      );
      symlinkSync(root, join(folder, 'sub'));
      expect(refusal(external('sub/weights.bin')).message).toMatch(/outside the model's folder/);
    });

    it('that lead in a circle are refused', () => {
      symlinkSync('weights.bin', join(folder, 'weights.bin'));
      expect(refusal(external('weights.bin')).message).toMatch(/"weights\.bin", cannot be opened \(ELOOP\)/);
    });

    it('as the Hugging Face cache makes them are followed, for graph and weights alike', () => {
      mkdirSync(join(folder, 'blobs'));
      mkdirSync(join(folder, 'snapshots/commit/onnx'), { recursive: true });
      const at = (path: string): string => join(folder, path);
      const original = external('model.onnx_data');
      writeFileSync(at('blobs/1f'), readFileSync(original));
      writeFileSync(at('blobs/2e'), values);
      symlinkSync('../../../blobs/1f', at('snapshots/commit/onnx/model.onnx'));
      symlinkSync('../../../blobs/2e', at('snapshots/commit/onnx/model.onnx_data'));
      const opened = readOnnxFile(at('snapshots/commit/onnx/model.onnx'));
      const inPlace = weightsInPlace(opened);
      const tensor = inPlace.graph.initializers.get('w');
      expect(tensor && Buffer.from(tensorBytes(tensor, inPlace.folder))).toEqual(values);
      expect(opened.weightFiles.map((path) => readFileSync(path))).toEqual([values]);
      // ONNX Runtime opens only what is in this folder, links followed.
      expect(tensor?.external?.location).toBe('2e');
    });
  });
});

describe('bytes that are no model', () => {
  it('a folder in place of the file', () => {
    mkdirSync(join(folder, 'model.onnx'));
    expect(refusal(join(folder, 'model.onnx')).message).toMatch(/is a folder/);
  });

  it('a file cut off anywhere', () => {
    const whole = readFileSync(
      written((graph) => {
        graph.initializers.set('w', tensorOf('float32', [4], [1, 2, 3, 4]));
        graph.add('Add', ['y', 'w'], { outputs: ['z'] });
        graph.outputs = [{ name: 'z', dtype: 'float32', dims: [4] }];
      }),
    );
    readOnnxFile(write(whole));
    for (let length = 0; length < whole.length; length++) {
      const path = write(whole.subarray(0, length));
      // A cut between two fields may leave a smaller graph that is one; anything else must be refused, and nothing crash.
      try {
        readOnnxFile(path);
      } catch (thrown) {
        expect(thrown, `cut at ${length}: ${thrown}`).toBeInstanceOf(HumanError);
        expect(sentenceOf(thrown)).toContain(path);
      }
    }
  });
});
