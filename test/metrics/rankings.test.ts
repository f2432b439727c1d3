/** Ranks with ties and with the ranks that draws allow, and rank correlations of base with post-trained models. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  baseCorrelations,
  bootstrapInterval,
  comparableModes,
  correlationWords,
  type DrawnScore,
  decimalsFor,
  drawnScores,
  figureWords,
  itemScores,
  kendallTauB,
  rankIntervals,
  rankModels,
  spearmanRho,
  tasksWith,
} from '../../src/metrics/index.ts';
import { familyOf, nameOfBase } from '../../src/shared/model-names.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { LeaderboardView } from '../../src/shared/protocol.ts';
import type { ItemRecord, Share } from '../../src/shared/results.ts';
import { linkModels } from '../../src/study/index.ts';
import { sampleItem, sampleSummary } from '../runs/sample.ts';

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(import.meta.dirname, ...path), 'utf8'));
/** Of make/rankings.py. */
const oracle = read('rankings.json') as {
  direct: Correlations;
  tuned: Correlations;
  pairs: [string, string][];
  items: number[][];
  paired: [number, number][];
  independent: [number, number][];
  formats: number[][];
  right: number[][];
  ratio: [number, number][];
  benchmarks: number[][];
  over: [number, number][];
};
interface Correlations {
  tasks: Record<string, [tau: number, rho: number]>;
  mean: [number, number];
  averaged: [number, number];
}
const harmony = read('..', 'fixtures', 'lm-harmony', 'scores.json') as {
  models: string[];
  tasks: string[];
  direct: number[][];
  tuned: number[][];
};

interface Made {
  model: string;
  task?: string;
  mode?: PromptMode;
  value: number | null;
  half?: number;
}

function viewOf(made: readonly Made[]): LeaderboardView {
  const names = <K extends 'model' | 'task'>(key: K): string[] => [...new Set(made.map((one) => one[key] ?? 'b'))];
  return {
    benchmarks: names('task').map((task) => ({ task, file: `/${task}.yaml` })),
    models: names('model').map((name) => ({ name, folder: `/models/${name}` })),
    cells: made.map(({ model, task = 'b', mode = 'zero-shot', value, half = 0.05 }, at) => {
      const summary = sampleSummary(`run-${at}`, mode, { right: 0, inFormat: 0, n: 0 });
      const S: Share = { value, low: (value ?? 0) - half, high: (value ?? 1) + half, count: 0, n: 100 };
      return {
        model,
        task,
        mode,
        cell: { run: `run-${at}`, status: 'finished', summary: { ...summary, scores: { ...summary.scores, S } } },
      };
    }),
  };
}

const choice = { mode: 'zero-shot', metric: 'S' } as const;

describe('ranking', () => {
  it('ranks equal scores as equal, and the next one behind all of them', () => {
    const view = viewOf([
      { model: 'c', value: 0.2 },
      { model: 'a', value: 0.5 },
      { model: 'b', value: 0.5 },
      { model: 'd', value: null },
    ]);
    expect(rankModels(view, { ...choice, tasks: ['b'] }).map(({ model, rank, tied }) => [model, rank, tied])).toEqual([
      ['a', 1, true],
      ['b', 1, true],
      ['c', 3, false],
      ['d', null, false],
    ]);
  });

  it('over several benchmarks is by the mean; who lacks one of them has no rank', () => {
    const view = viewOf([
      { model: 'a', task: 'x', value: 0.2, half: 0.1 },
      { model: 'a', task: 'y', value: 0.5, half: 0.1 },
      { model: 'a', task: 'z', value: 0.8, half: 0.1 },
      { model: 'b', task: 'x', value: 0.9 },
      { model: 'b', task: 'y', value: 0.9 },
      { model: 'c', task: 'x', value: 0.3 },
      { model: 'c', task: 'y', value: 0.3 },
      { model: 'c', task: 'z', value: 0.3, mode: 'zero-shot' },
      { model: 'c', task: 'elsewhere', value: 0.3, mode: 'few-shot' },
    ]);
    const tasks = tasksWith(view, 'zero-shot', 'S');
    expect(tasks).toEqual(['x', 'y', 'z']);
    const ranked = rankModels(view, { ...choice, tasks });
    expect(ranked.map(({ model, rank, missing }) => [model, rank, missing])).toEqual([
      ['a', 1, []],
      ['c', 2, []],
      ['b', null, ['z']],
    ]);
    expect(ranked[0]?.score?.value).toBeCloseTo(0.5, 12);
    // Half-widths add in squares.
    expect((ranked[0]?.score?.high ?? 0) - 0.5).toBeCloseTo(0.1 / Math.sqrt(3), 12);
  });

  it('leaves out models that are hidden: they take no rank from others', () => {
    const view = viewOf([
      { model: 'a', value: 0.9 },
      { model: 'b', value: 0.5 },
    ]);
    const [only] = rankModels(view, { ...choice, tasks: ['b'], models: new Set(['b']) });
    expect(only).toMatchObject({ model: 'b', rank: 1 });
  });
});

describe('ranks that models could have', () => {
  const drawn = (numerators: number[], items: string, denominators: number[] | null = null): DrawnScore[] => {
    const sum = (list: number[]): number => list.reduce((a, b) => a + b, 0);
    const value = sum(numerators) / (denominators ? sum(denominators) : numerators.length);
    return [{ value, low: value, high: value, items: { items, numerators, denominators } }];
  };
  const options = { higherIsBetter: true, iterations: 10_000 };
  const asPairs = (ranks: { low: number; high: number }[]) => ranks.map(({ low, high }) => [low, high]);

  it('agree with numpy where the same items are drawn for all models', () => {
    const { ranks, drawn: of } = rankIntervals(
      oracle.items.map((own) => drawn(own, 'same')),
      options,
    );
    expect(asPairs(ranks)).toEqual(oracle.paired);
    expect(of).toBe('items');
  });

  it('agree with numpy where each model has items of its own, and are then wider', () => {
    const { ranks } = rankIntervals(
      oracle.items.map((own, at) => drawn(own, `set ${at}`)),
      options,
    );
    expect(asPairs(ranks)).toEqual(oracle.independent);
  });

  it('agree with numpy for a share of a share (K: right among those in the format)', () => {
    const { ranks } = rankIntervals(
      oracle.right.map((own, at) => drawn(own, 'same', oracle.formats[at] ?? null)),
      options,
    );
    expect(asPairs(ranks)).toEqual(oracle.ratio);
  });

  it('agree with numpy where benchmarks are drawn', () => {
    const { ranks, drawn: of } = rankIntervals(
      oracle.benchmarks.map((own) => own.map((value) => ({ value, low: value, high: value }))),
      options,
    );
    expect(asPairs(ranks)).toEqual(oracle.over);
    expect(of).toBe('benchmarks');
  });

  it('are drawn from the intervals where there are no items, turned round where lower is better', () => {
    const of = (value: number, half: number): DrawnScore[] => [{ value, low: value - half, high: value + half }];
    const models = [of(10, 2), of(11, 2), of(20, 2)];
    expect(asPairs(rankIntervals(models, { higherIsBetter: false }).ranks)).toEqual([
      [1, 2],
      [1, 2],
      [3, 3],
    ]);
    expect(asPairs(rankIntervals(models, { higherIsBetter: true }).ranks)).toEqual([
      [2, 3],
      [2, 3],
      [1, 1],
    ]);
  });

  it('of equal models are all ranks; the same seed gives the same', () => {
    const same = [0.5, 0.5, 0.5].map((value) => [{ value, low: value, high: value }]);
    expect(asPairs(rankIntervals(same, { higherIsBetter: true }).ranks)).toEqual([
      [1, 3],
      [1, 3],
      [1, 3],
    ]);
    const models = oracle.items.map((own) => drawn(own, 'same'));
    const once = rankIntervals(models, { higherIsBetter: true, seed: 4 });
    expect(rankIntervals(models, { higherIsBetter: true, seed: 4 })).toEqual(once);
    expect(rankIntervals([], { higherIsBetter: true })).toEqual({ ranks: [], drawn: 'intervals' });
  });

  it('items of runs add up to the figure, or are not used', () => {
    const item = (at: number, change: Partial<ItemRecord>): ItemRecord => ({ ...sampleItem(at), ...change });
    const records = [
      item(0, { inFormat: true, right: true, lenientRight: true }),
      item(1, { inFormat: true, right: false, lenientRight: false }),
      item(2, { inFormat: false, right: false, lenientRight: true }),
    ];
    expect(itemScores(records, 'K', { items: 'i', value: 0.5 })).toEqual({
      items: 'i',
      numerators: Float64Array.of(1, 0, 0),
      denominators: Float64Array.of(1, 1, 0),
    });
    expect(itemScores(records, 'L', { items: 'i', value: 2 / 3 })?.denominators).toBeNull();
    expect(itemScores(records, 'S', { items: 'i', value: 0.5 })).toBeNull();
    const measured = [2, 4].map((value, at) =>
      item(at, { metrics: [{ filter: 'none', values: { perplexity: value, f1: ['a', 'b'] } }] }),
    );
    expect(itemScores(measured, 'perplexity,none', { items: 'i', value: 3 })?.numerators).toEqual(
      Float64Array.of(2, 4),
    );
    // Their perplexity is e to the power of a mean: no mean of what the items add.
    expect(itemScores(measured, 'perplexity', { items: 'i', value: Math.exp(3) })).toBeNull();
    expect(itemScores(measured, 'f1', { items: 'i', value: 3 })).toBeNull();
    expect(itemScores([], 'S', { items: 'i', value: 0 })).toBeNull();
  });

  it('need all scores of a model: only models with a rank are drawn', () => {
    const view = viewOf([
      { model: 'a', task: 'x', value: 0.2 },
      { model: 'a', task: 'y', value: 0.5 },
      { model: 'b', task: 'x', value: 0.9 },
    ]);
    expect(drawnScores(rankModels(view, { ...choice, tasks: ['x', 'y'] }))).toHaveLength(1);
  });
});

describe('base and post-trained models of lm-harmony', () => {
  // Direct evaluation is zero-shot; tuned on the benchmark before the test stands where a soft prompt does.
  const view = viewOf(
    harmony.tasks.flatMap((task, row) =>
      harmony.models.flatMap((model, column): Made[] => [
        { model, task, value: harmony.direct[row]?.[column] ?? null },
        { model, task, mode: 'soft-prompt', value: harmony.tuned[row]?.[column] ?? null },
      ]),
    ),
  );
  const links = linkModels(view.models, {});

  it('are found by their names: 24 pairs, and no other', () => {
    expect(links.map(({ base, postTrained }) => [base, postTrained]).sort()).toEqual([...oracle.pairs].sort());
    expect(new Set(links.map(({ by }) => by))).toEqual(new Set(['name']));
  });

  it.each([
    ['zero-shot', oracle.direct],
    ['soft-prompt', oracle.tuned],
  ] as const)('have the rank correlations of scipy: base models in %s', (mode, expected) => {
    const rows = baseCorrelations(view, links, { metric: 'S', mode, target: 'zero-shot' });
    expect(rows).toHaveLength(26);
    for (const { of, n, tau, rho } of rows) {
      const [tauHere, rhoHere] = typeof of === 'string' ? expected[of] : (expected.tasks[of.task] ?? []);
      expect(tau.value).toBeCloseTo(tauHere ?? Number.NaN, 10);
      expect(rho.value).toBeCloseTo(rhoHere ?? Number.NaN, 10);
      expect(n).toBe(24);
      expect(tau.interval?.[0]).toBeLessThanOrEqual(tau.value);
      expect(tau.interval?.[1]).toBeGreaterThanOrEqual(tau.value);
    }
  });

  it('show the published effect where there is one, and its absence where there is none', () => {
    const rounded = (mode: PromptMode): Record<string, number> =>
      Object.fromEntries(
        baseCorrelations(view, links, { metric: 'S', mode, target: 'zero-shot' }).map(({ of, tau }) => [
          typeof of === 'string' ? of : of.task,
          Number(tau.value.toFixed(2)),
        ]),
      );
    expect(rounded('zero-shot')).toMatchObject({ gsm8k: 0.11, nq_open: 0.51, mean: 0.61, averaged: 0.69 });
    expect(rounded('soft-prompt')).toMatchObject({ gsm8k: 0.55, nq_open: 0.36, mean: 0.61, averaged: 0.78 });
  });

  it('have the intervals of lists that are drawn one by one', () => {
    const row = baseCorrelations(view, links, { metric: 'S', mode: 'zero-shot', target: 'zero-shot' }).find(
      ({ of }) => typeof of !== 'string' && of.task === 'gsm8k',
    );
    const [a, b] = [
      row?.pairs.map(({ baseScore }) => baseScore) ?? [],
      row?.pairs.map(({ postTrainedScore }) => postTrainedScore) ?? [],
    ];
    for (const [interval, statistic] of [
      [row?.tau.interval, kendallTauB],
      [row?.rho.interval, spearmanRho],
    ] as const) {
      const plain = bootstrapInterval(a.length, (drawn) =>
        statistic(
          drawn.map((i) => a[i] ?? 0),
          drawn.map((i) => b[i] ?? 0),
        ),
      );
      expect(interval?.[0]).toBeCloseTo(plain?.[0] ?? Number.NaN, 10);
      expect(interval?.[1]).toBeCloseTo(plain?.[1] ?? Number.NaN, 10);
    }
  });

  it('compare modes that both sides have, and say where there are too few pairs', () => {
    expect(comparableModes(view, links, { metric: 'S', target: 'zero-shot' })).toEqual(['zero-shot', 'soft-prompt']);
    expect(comparableModes(view, links, { metric: 'S', target: 'few-shot' })).toEqual([]);
    const three = baseCorrelations(view, links.slice(0, 3), { metric: 'S', mode: 'zero-shot', target: 'zero-shot' });
    expect(three.every(({ tau, rho }) => Number.isNaN(tau.value) && rho.interval === null)).toBe(true);
    const [first] = three;
    expect(first && correlationWords(first.tau, first.n)).toBe('too few pairs (3)');
    const four = baseCorrelations(view, links.slice(0, 4), { metric: 'S', mode: 'zero-shot', target: 'zero-shot' });
    expect(four[0]?.tau.interval).toBeNull();
    expect(four[0]?.tau.value).not.toBeNaN();
  });

  it('that lack a benchmark count for the others, and not for the averaged score', () => {
    const [gone] = links;
    const without = {
      ...view,
      cells: view.cells.filter(({ model, task }) => model !== gone?.base || task !== 'gsm8k'),
    };
    const rows = baseCorrelations(without, links, { metric: 'S', mode: 'zero-shot', target: 'zero-shot' });
    const n = Object.fromEntries(rows.map(({ of, n }) => [typeof of === 'string' ? of : of.task, n]));
    expect(n).toMatchObject({ gsm8k: 23, boolq: 24, mean: 23, averaged: 23 });
  });
});

describe('names of models', () => {
  it.each([
    ['Qwen/Qwen2.5-7B-Instruct', 'qwen2.5-7b', 'Qwen2.5'],
    ['google/gemma-2-9b-it', 'gemma-2-9b', 'gemma-2'],
    ['HuggingFaceTB/SmolLM2-135M-Instruct', 'smollm2-135m', 'SmolLM2'],
    ['mistralai/Mistral-7B-Instruct-v0.3', 'mistral-7b', 'Mistral'],
    ['meta-llama/Llama-2-7b-chat-hf', 'llama-2-7b', 'Llama-2'],
    ['allenai/OLMo-2-1124-7B-SFT', 'olmo-2-1124-7b', 'OLMo-2-1124'],
    ['allenai/OLMo-2-1124-7B-DPO', 'olmo-2-1124-7b', 'OLMo-2-1124'],
    ['allenai/Llama-3.1-Tulu-3-8B', null, 'Llama-3.1-Tulu-3'],
    ['EleutherAI/pythia-160m-deduped', null, 'pythia'],
    ['openai-community/gpt2-xl', null, 'gpt2'],
    ['stories260k', null, 'stories'],
    ['tiny-summit', null, 'tiny-summit'],
  ])('%s', (name, base, family) => {
    expect(nameOfBase(name)).toBe(base);
    expect(familyOf(name)).toBe(family);
  });
});

describe('rounding', () => {
  it('is by the interval: the first digit of half its width is the last one that is written', () => {
    expect([4.2, 1.2, 1, 0.5, 0.11, 0.1, 0.04].map((half) => decimalsFor(half, 4))).toEqual([0, 0, 1, 1, 1, 2, 2]);
    expect(decimalsFor(0, 4)).toBe(4);
    const figure = { n: 9, higherIsBetter: false, isShare: false };
    expect(figureWords({ ...figure, value: 12.3456, low: 11.4, high: 13.3 })).toBe('12.3 (11.4–13.3)');
    expect(figureWords({ ...figure, value: 0.51234, low: 0.482, high: 0.543 })).toBe('0.51 (0.48–0.54)');
    expect(figureWords({ ...figure, value: 0.51234, low: 0.51234, high: 0.51234 })).toBe('0.5123');
    expect(figureWords({ ...figure, isShare: true, value: 0.61234, low: 0.58, high: 0.64 })).toBe('61 % (58–64 %)');
  });
});
