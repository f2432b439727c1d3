// Sentences that pages and the command line share.
import { describe, expect, it } from 'vitest';
import { learningRateInWords, trialInWords } from '../../src/shared/learning-rate-words.ts';
import {
  attentionInWords,
  cacheInWords,
  positionsInWords,
  quantisationInWords,
  tensorLines,
} from '../../src/shared/model-words.ts';

describe('a learning rate in words', () => {
  it('says what was tried, and what diverged', () => {
    const trials = [
      { rate: 0.2, steps: 6, loss: 6.412 },
      { rate: 0.6, steps: 6, loss: 3.808 },
      { rate: 1.8, steps: 6, loss: null },
    ];
    expect(learningRateInWords({ value: 0.6, by: 'search', trials })).toBe(
      '0.6, chosen by the held-out loss after 6 steps: 0.2 → 6.41, 0.6 → 3.81, 1.8 → diverged',
    );
    expect(trials.map(trialInWords)).toEqual([
      '0.2: held-out loss 6.41 after 6 steps',
      '0.6: held-out loss 3.81 after 6 steps',
      '1.8: diverged',
    ]);
  });
  it('says why a rate with a slightly lower loss was not taken', () => {
    const trials = [
      { rate: 0.6, steps: 10, loss: 2.9 },
      { rate: 1.8, steps: 10, loss: 2.85 },
    ];
    expect(learningRateInWords({ value: 0.6, by: 'search', trials })).toBe(
      '0.6, chosen by the held-out loss after 10 steps: 0.6 → 2.90, 1.8 → 2.85 (one farther from what the embedding suggests has to be better by 2 %)',
    );
  });
  it('says where it came from when nothing was tried', () => {
    expect(learningRateInWords({ value: 0.03, by: 'setting', trials: [] })).toBe('0.03');
    expect(learningRateInWords({ value: 0.088, by: 'formula', trials: [] })).toBe(
      '0.088, by the scale and width of the embedding',
    );
  });
});

describe('a model in words', () => {
  it('tells part of a head from all of it', () => {
    const rotary = { from: 'input' as const, kinds: ['rotary' as const], rotarySize: 4, tableLength: null };
    expect(positionsInWords(rotary, 16)).toBe('rotary on 4 of 16 numbers of a head, given as position_ids');
    expect(positionsInWords({ ...rotary, rotarySize: 16 }, 16)).toBe('rotary, given as position_ids');
    expect(positionsInWords({ from: null, kinds: [], rotarySize: null, tableLength: null })).toBe(
      'of a kind that was not recognised',
    );
  });
  it('names heads, window and bounds of attention', () => {
    expect(
      attentionInWords({
        form: 'fused',
        operators: { 'com.microsoft.GroupQueryAttention': 26 },
        queryHeads: 8,
        keyHeads: 4,
        headSize: 256,
        windows: [4096],
        softCaps: [50],
      }),
    ).toBe(
      'fused (com.microsoft.GroupQueryAttention 26), 8 query heads on 4 of keys and values, sliding window of 4096 tokens, scores soft-capped at 50',
    );
  });
  it('says that a cache is missing, or how it grows', () => {
    expect(cacheInWords(null)).toMatch(/^none/);
    const cache = {
      kind: 'separate',
      layers: 2,
      heads: 3,
      headSize: 64,
      dtype: 'float16',
      joinedBy: ['Concat'],
      inPlace: false,
    };
    expect(cacheInWords(cache)).toBe('separate: 2 layers × 3 heads × 64, float16; joined by Concat, as a copy');
  });
  it('says how weights are packed and whether activations are rounded', () => {
    const weights = { operator: 'MatMulInteger', tensors: 1, parts: ['head'], bits: 8, symmetric: true };
    expect(quantisationInWords({ ...weights, block: 'channel', activationBits: 8 })).toBe(
      '1 tensor (head): 8 bits, a scale a channel, symmetric (MatMulInteger); activations rounded to 8 bits as it runs',
    );
    expect(quantisationInWords({ ...weights, block: 32, activationBits: null })).not.toMatch(/activations/);
  });
  it('puts the many tensors of a cache into one line a part', () => {
    const part = (layer: number, name: string) => ({
      name: `past_key_values.${layer}.${name}`,
      dtype: 'float32',
      dims: ['batch', 2],
    });
    expect(
      tensorLines([
        { name: 'input_ids', dtype: 'int64', dims: ['batch'] },
        ...[0, 1, 2].flatMap((layer) => [part(layer, 'key'), part(layer, 'value')]),
      ]),
    ).toEqual([
      'input_ids int64 [batch]',
      'past_key_values.N.key float32 [batch, 2], N = 0 … 2',
      'past_key_values.N.value float32 [batch, 2], N = 0 … 2',
    ]);
  });
});
