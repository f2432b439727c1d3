import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trainingForward, trainingGraph } from '../../src/gradient/index.ts';
import { executionOrder } from '../../src/gradient/schedule.ts';
import { bytesOf, readOnnxFile } from '../../src/onnx/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');

describe('decoded weights', () => {
  it.each([
    ['llama-tjs-q4', 'onnx/model_q4.onnx'],
    ['llama-tjs-int8', 'onnx/model_quantized.onnx'],
    ['llama-tjs-fp16', 'onnx/model_fp16.onnx'],
    ['qwen2-genai-int4', 'model.onnx'],
  ])('%s: each is decoded for one use, right before it', (folder, path) => {
    const forward = trainingForward(readOnnxFile(join(models, folder, path)));
    const { graph } = trainingGraph(forward, { batch: 2, length: 8, vectors: 3, answers: 4 });
    const order = executionOrder(graph);
    const consumers = graph.consumers();
    const decodings = order.filter((node) => {
      const weight = graph.initializers.get(node.input(0));
      return (
        /^(Cast|DequantizeLinear)$/.test(node.operator) &&
        weight !== undefined &&
        bytesOf(weight.dtype, weight.dims) > 1024
      );
    });
    // seven products or more, forward and backward (smaller weights are constants of the graph)
    expect(decodings.length).toBeGreaterThanOrEqual(14);
    for (const decoding of decodings) {
      let [reader, ...others] = consumers.get(decoding.output()) ?? [];
      expect(others, decoding.place).toEqual([]);
      // a transposition may stand between the two
      const between = reader?.operator === 'Transpose' ? 2 : 1;
      if (between === 2) [reader, ...others] = consumers.get(reader?.output() ?? '') ?? [];
      expect(others, decoding.place).toEqual([]);
      expect(order.indexOf(reader ?? decoding) - order.indexOf(decoding), decoding.place).toBe(between);
    }
  });
});
