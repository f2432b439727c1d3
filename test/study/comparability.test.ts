/** Whether runs can be compared, what their columns are called, and which runs a page shows. */
import { describe, expect, it } from 'vitest';
import type { RunFolder } from '../../src/runs/index.ts';
import type { RunFile, RunSummary, SoftPromptSettings } from '../../src/shared/results.ts';
import { checkComparable, columnLabels, comparisonWarnings, resultsView } from '../../src/study/index.ts';
import { sampleRun } from '../runs/sample.ts';

let made = 0;
function run(change: (file: RunFile) => void = () => {}): RunFile {
  made++;
  const file: RunFile = {
    ...structuredClone(sampleRun()),
    id: `run-${made}`,
    created: `2026-05-0${(made % 9) + 1}T10:00:00Z`,
    updated: '2026-05-01T10:01:00Z',
    status: 'finished',
  };
  file.benchmark.digests = { config: 'cc', data: 'dd', requests: 'rr', scoring: 'ss' };
  change(file);
  return file;
}
const softPrompt: SoftPromptSettings = {
  vectors: 10,
  steps: 80,
  batchSize: 8,
  learningRate: 0.03,
  init: 'vocabulary',
  seed: 0,
  validateEvery: 10,
  validationItems: 32,
};
const warnings = (runs: RunFile[], summaries: (Partial<RunSummary> | null)[] = []) =>
  comparisonWarnings(runs.map((file, at) => ({ run: file, summary: (summaries[at] ?? null) as RunSummary | null })));

describe('what makes runs incomparable', () => {
  it('nothing, where only the mode differs', () => {
    const tuned = run((file) => {
      file.mode = 'soft-prompt';
      file.settings.softPrompt = softPrompt;
    });
    const shots = run((file) => {
      file.mode = 'few-shot';
      file.settings.shots = 5;
    });
    expect(warnings([run(), shots, tuned])).toEqual([]);
  });

  it.each<[string, 'incomparable' | 'care', (file: RunFile) => void]>([
    ['Benchmark', 'incomparable', ({ benchmark }) => Object.assign(benchmark, { task: 'other' })],
    ['Data', 'incomparable', ({ benchmark }) => Object.assign(benchmark.digests, { data: 'd2' })],
    ['Split', 'incomparable', ({ benchmark }) => Object.assign(benchmark, { split: 'validation' })],
    ['Prompts', 'incomparable', ({ benchmark }) => Object.assign(benchmark.digests, { requests: 'r2', config: 'c2' })],
    ['Scoring', 'incomparable', ({ benchmark }) => Object.assign(benchmark.digests, { scoring: 's2', config: 'c2' })],
    ['Scores', 'incomparable', (file) => Object.assign(file, { predictOnly: true })],
    ['Items', 'care', ({ benchmark }) => Object.assign(benchmark, { items: 5 })],
    ['Finished items', 'care', (file) => Object.assign(file, { status: 'stopped' })],
    ['Sampling', 'care', ({ settings }) => Object.assign(settings.generation, { temperature: 0.7 })],
    ['Length of outputs', 'care', ({ settings }) => Object.assign(settings.generation, { maxNewTokens: 64 })],
    ['Stop strings', 'care', ({ settings }) => Object.assign(settings.generation, { until: ['END'] })],
    ['Outputs an item', 'care', ({ settings }) => Object.assign(settings, { repeats: 4 })],
    ['Execution provider', 'care', ({ provider }) => Object.assign(provider, { running: 'cuda' })],
    ['Version', 'care', (file) => Object.assign(file, { softbench: '0.2.0' })],
    [
      'Chat template',
      'incomparable',
      ({ settings }) => {
        const template = { name: 'default', source: '', digest: 'tt', specialTokens: {} };
        settings.chat = { template, systemInstruction: null, fewshotAsMultiturn: false };
      },
    ],
    [
      'System instruction',
      'care',
      ({ settings }) => {
        settings.chat = { template: null, systemInstruction: 'Be brief.', fewshotAsMultiturn: false };
      },
    ],
  ])('%s (%s)', (what, severity, change) => {
    const [one, other] = [run(), run(change)];
    const found = warnings([one, other]);
    expect(found.map((each) => [each.what, each.severity])).toEqual([[what, severity]]);
    expect(found[0]?.values.map((value) => value.run)).toEqual([one.id, other.id]);
    expect(found[0]?.values[0]?.value).not.toBe(found[0]?.values[1]?.value);
    expect(found[0]?.sentence).toMatch(/^[A-Z].*\.$/);
  });

  it('unfinished items, once there are any', () => {
    const [whole, begun] = [run(), run((file) => Object.assign(file, { mode: 'soft-prompt', status: 'running' }))];
    const found = (done: number): string[] =>
      comparisonWarnings([
        { run: whole, summary: null, done: 10 },
        { run: begun, summary: null, done },
      ]).map(({ what }) => what);
    expect(found(0)).toEqual([]);
    expect(found(1)).toEqual(['Finished items']);
  });

  it('the number of examples and their seed, among runs that have examples', () => {
    const shots = (n: number, seed = 1) =>
      run((file) => {
        file.mode = 'few-shot';
        file.settings.shots = n;
        file.settings.fewShotSeed = seed;
      });
    expect(warnings([shots(5), shots(8), run()]).map(({ what }) => what)).toEqual(['Few-shot examples']);
    expect(warnings([shots(5, 1), shots(5, 2)]).map(({ what }) => what)).toEqual(['Seed of the examples']);
  });

  it('tokenizers, where likelihoods are among the figures; prompts that were cut', () => {
    const other = run((file) => {
      file.model = { ...file.model, name: 'b', folder: '/b', digests: { ...file.model.digests, tokenizer: 'zz' } };
    });
    const scores = (LL: unknown) => ({ scores: { LL } }) as Partial<RunSummary>;
    expect(warnings([run(), other], [scores(null), scores(null)])).toEqual([]);
    const share = { value: 1, low: 0, high: 1, count: 1, n: 1 };
    expect(warnings([run(), other], [scores(share), scores(share)]).map(({ what }) => what)).toEqual(['Tokenizer']);
    expect(
      warnings([run(), run()], [{ ...scores(null), truncated: 3 }, scores(null)]).map(({ what, values }) => [
        what,
        values.map(({ value }) => value),
      ]),
    ).toEqual([['Cut prompts', ['3 cut', 'none cut']]]);
  });

  it('one digest of the file where runs of earlier versions are among them; the gravest first', () => {
    const old = run((file) => {
      file.benchmark.digests = { config: 'old', data: 'dd' };
      file.softbench = '0.0.9';
    });
    expect(warnings([run(), old]).map(({ what, severity }) => [what, severity])).toEqual([
      ['Benchmark file', 'incomparable'],
      ['Version', 'care'],
    ]);
  });

  it('of what was imported, what its files say and that the rest is not known', () => {
    const imported = run((file) => {
      file.source = { kind: 'imported', tool: 'lm-eval', version: '0.4.13', file: '/x', digest: '', evaluated: null };
      file.benchmark.digests = { config: '', data: '' };
      file.provider.running = '';
    });
    expect(warnings([run(), imported]).map(({ what }) => what)).toEqual(['Origin']);
  });
});

describe('columns are called', () => {
  it('by their modes where these differ', () => {
    expect(columnLabels([run(), run((file) => Object.assign(file, { mode: 'few-shot' }))])).toEqual([
      'zero-shot',
      'few-shot',
    ]);
    expect(columnLabels([run()])).toEqual(['zero-shot']);
  });
  it('by their models, and by modes too where both differ', () => {
    const of = (name: string, mode = 'zero-shot') =>
      run((file) => Object.assign(file, { mode, model: { ...file.model, name, folder: `/${name}` } }));
    expect(columnLabels([of('a'), of('b')])).toEqual(['a', 'b']);
    expect(columnLabels([of('a'), of('a', 'few-shot'), of('b')])).toEqual([
      'a · zero-shot',
      'a · few-shot',
      'b · zero-shot',
    ]);
  });
  it('by what else tells them apart, and no more than that', () => {
    const tuned = (change: Partial<SoftPromptSettings>) =>
      run((file) =>
        Object.assign(file, {
          mode: 'soft-prompt',
          settings: { ...file.settings, softPrompt: { ...softPrompt, ...change } },
        }),
      );
    expect(columnLabels([tuned({}), tuned({ steps: 200 })])).toEqual([
      'soft-prompt · 80 steps',
      'soft-prompt · 200 steps',
    ]);
    expect(columnLabels([tuned({ seed: 1 }), tuned({ seed: 2 })])).toEqual([
      'soft-prompt · seed 1',
      'soft-prompt · seed 2',
    ]);
    const [one, other] = [run((file) => Object.assign(file, { created: '2026-05-01T10:00:00Z' })), run()];
    other.created = '2026-05-03T10:00:00Z';
    expect(columnLabels([one, other])).toEqual(['zero-shot · 2026-05-01', 'zero-shot · 2026-05-03']);
    const twins = [run(), run()].map((file) => ({ ...file, created: '2026-05-01T10:00:00Z' }));
    expect(new Set(columnLabels(twins)).size).toBe(2);
  });
});

describe('a comparison', () => {
  const folder = (file: RunFile): RunFolder => ({ folder: '', run: file, summary: null });
  it('shows the runs that are named, as they are named, several of one mode too', () => {
    const [a, b, c] = [run(), run(), run()];
    const view = resultsView([a, b, c].map(folder), { runs: [c.id, a.id] }, { tuning: () => [], done: () => 0 });
    expect(view?.columns.map(({ run: file }) => file.id)).toEqual([c.id, a.id]);
    expect(view?.title).toBe('who had it? · 2 runs compared');
    expect(view?.model.name).toBe('tiny/llama');
  });
  it('needs two runs, of one benchmark', () => {
    expect(() => checkComparable([folder(run())])).toThrow(/two runs or more/);
    const other = run((file) => Object.assign(file.benchmark, { task: 'else' }));
    expect(() => checkComparable([run(), other].map(folder))).toThrow(/different benchmarks: who had it\?, else/);
    expect(() => checkComparable([run(), run()].map(folder))).not.toThrow();
  });
});
