/** What people are told where ONNX Runtime refuses a model: its own words, without the places in its source. */
import { expect, it } from 'vitest';
import { createSession } from '../../src/engine/runtime.ts';
import { Graph, modelOf, type OnnxModel } from '../../src/onnx/index.ts';

const settings = { provider: { asked: 'cpu', running: 'cpu', reason: '', threads: 1 }, weightFolder: '.' };

function relu(changes: Partial<OnnxModel>, domain = ''): OnnxModel {
  const graph = new Graph();
  graph.name = 'relu';
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: ['n', 4] }];
  graph.outputs = [{ name: 'y', dtype: 'float32', dims: ['n', 4] }];
  graph.add('Relu', ['x'], { outputs: ['y'], domain });
  const opsets = new Map([['', 13], ...(domain ? [[domain, 1] as const] : [])]);
  return modelOf(graph, 13, { opsets, ...changes });
}

it.each([
  ['a newer file format', relu({ irVersion: 99 }), /model: Unsupported model IR version: 99, max supported/],
  [
    'a newer operator set',
    relu({ opsets: new Map([['', 99]]) }),
    /model: ONNX Runtime only \*guarantees\* support.* 99 /,
  ],
  [
    'an operator of an unknown domain',
    relu({}, 'my.domain'),
    /my\.domain:Relu.* is not a registered function\/op\. Export/,
  ],
])('says %s in words', async (_, model, words) => {
  const error = await createSession(model, settings).then(
    () => null,
    (thrown: Error) => thrown,
  );
  const sentence = (error as Error & { sentence?: string })?.sentence ?? '';
  expect(sentence).toMatch(words);
  expect(sentence).not.toMatch(/onnxruntime_src|::|\n/);
});
