import { describe, expect, it } from 'vitest';
import { packRows, rowOf, unpackRows } from '../../src/shared/item-rows.ts';
import type { ItemRecord } from '../../src/shared/results.ts';
import { items } from '../webview/data.ts';

describe('rows of the item table', () => {
  it('are the same after they were packed and sent', () => {
    const [plain, second, third] = items('zero-shot', 3);
    const odd: Partial<ItemRecord>[] = [
      { generated: false, likelihoods: [{ sum: -3.25, tokens: 4, greedy: false }], stop: { reason: 'eos' } },
      { scored: false, truncated: 12, lenient: { answer: '', span: [0, 0] } },
      {
        choices: {
          texts: ['a', 'b'],
          logLikelihoods: [-1, -2],
          gold: 1,
          right: false,
          rightNormalised: true,
          scores: [0, 1],
        },
        repeats: [{ output: 'again', outputTokens: 1, stop: { reason: 'length' } }],
        metrics: [{ filter: 'none', values: { acc: 0 } }],
        stop: { reason: 'stop-string', marker: '' },
      },
    ];
    const records = [
      ...items('few-shot', 40),
      ...odd.map((change) => ({ ...(plain as ItemRecord), ...change })),
      second,
      third,
    ];
    const sent = structuredClone(packRows(records as ItemRecord[]));
    expect(unpackRows(sent)).toEqual(records.map((record) => rowOf(record as ItemRecord)));
    expect(unpackRows(packRows([]))).toEqual([]);
  });
  it('are without what only the details of one item show', () => {
    for (const key of ['schema', 'prompt', 'metrics', 'repeats'])
      for (const record of items('few-shot', 2)) expect(rowOf(record)).not.toHaveProperty(key);
  });
});
