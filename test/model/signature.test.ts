/** Inputs and outputs that a decoder cannot have. */
import { describe, expect, it } from 'vitest';
import { readSignature } from '../../src/model/signature.ts';
import type { Dimension, ValueInfo } from '../../src/onnx/index.ts';
import { HumanError } from '../../src/shared/errors.ts';

const value = (name: string, dims: Dimension[], dtype: ValueInfo['dtype'] = 'float32'): ValueInfo => ({
  name,
  dtype,
  dims,
});
const ids = value('input_ids', ['batch', 'sequence'], 'int64');
const logits = value('logits', ['batch', 'sequence', 512]);
const past = (...dims: Dimension[]): ValueInfo[] =>
  ['key', 'value'].map((part) => value(`past_key_values.0.${part}`, dims));
const present = ['key', 'value'].map((part) => value(`present.0.${part}`, ['batch', 2, 'time', 16]));

function refusal(inputs: ValueInfo[], outputs: ValueInfo[]): string {
  try {
    readSignature('model.onnx', inputs, outputs);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(HumanError);
    return (thrown as HumanError).sentence;
  }
  throw new Error('this signature should be refused');
}

describe('signatures that are refused', () => {
  it.each([
    ['negative', [-2, 16]],
    ['none', [0, 16]],
    ['no numbers in a head', [2, 0]],
    ['more than any machine holds', [2 ** 20, 2 ** 20]],
    ['beyond 2^53', [2 ** 60, 16]],
  ])('heads of a cache: %s', (_, [heads = 0, size = 0]) => {
    const said = refusal([ids, ...past('batch', heads, 'time', size)], [logits, ...present]);
    expect(said).toMatch(/^model\.onnx: .*"past_key_values\.0\.key" has -?\d+ heads of \d+ numbers\. Export/);
  });

  it('a cache of an unknown size, of another rank, or without its output', () => {
    expect(refusal([ids, ...past('batch', 'heads', 'time', 16)], [logits, ...present])).toMatch(/has the shape/);
    expect(refusal([ids, ...past('batch', 16)], [logits, ...present])).toMatch(/has the shape/);
    expect(refusal([ids, ...past('batch', 2, 'time', 16)], [logits])).toMatch(/has no output "present\.0\.key"/);
  });

  it('no token ids, no logits, inputs that are no text', () => {
    expect(refusal([], [logits])).toMatch(/no input "input_ids" \(inputs: none\)/);
    expect(refusal([ids], [])).toMatch(/no output "logits"/);
    expect(refusal([ids, value('pixel_values', [1])], [logits])).toMatch(/\(pixel_values\)/);
  });
});
