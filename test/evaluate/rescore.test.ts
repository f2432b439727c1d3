// A finished run scored again: without the model, only where what was asked is still the same, beside the old run.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Benchmark, Item } from '../../src/benchmark/types.ts';
import { rescore, runJob } from '../../src/evaluate/index.ts';
import type { LanguageModel } from '../../src/evaluate/language-model.ts';
import { openRunStore, readMarks, setMark } from '../../src/runs/index.ts';
import type { HumanError } from '../../src/shared/errors.ts';
import type { JobProgress, JobRequest, RescoreRequest } from '../../src/shared/protocol.ts';
import type { RunSummary } from '../../src/shared/results.ts';
import { scriptedModel, scriptedRequest, scriptedRooms, sumsBenchmark } from './scripted.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-rescore-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const signal = new AbortController().signal;
const store = () => openRunStore(folder);

const run = (
  benchmark: Benchmark,
  change: Partial<JobRequest> = {},
  model: LanguageModel = scriptedModel(),
): Promise<RunSummary[]> =>
  runJob(scriptedRequest(folder, { modes: ['zero-shot'], ...change }), scriptedRooms(model, benchmark), {
    signal,
    progress: () => undefined,
  });

async function again(
  benchmark: Benchmark,
  runs: string[],
  change: Partial<RescoreRequest> = {},
  progress: (event: JobProgress) => void = () => undefined,
  stop = signal,
): Promise<RunSummary[]> {
  // No model among them: whoever asked for one would fail.
  const { openBenchmark, openStore, versions } = scriptedRooms(scriptedModel(), benchmark);
  const request = { runs, storeFolder: folder, group: 'again', skipChanged: false, ...change };
  return rescore(request, { openBenchmark, openStore, versions }, { signal: stop, progress });
}

const refusal = (promise: Promise<unknown>): Promise<HumanError> =>
  promise.then(
    () => {
      throw new Error('it should have been refused');
    },
    (error: HumanError) => error,
  );

/** Takes what the scripted model writes before it is tuned, ` I think it is 7, or so`, for the required form. */
const talkative = (change: Partial<Benchmark> = {}): Benchmark => {
  const strict = sumsBenchmark();
  return sumsBenchmark({
    configDigest: 'talkative',
    judge: (item, output) => {
      const found = /I think it is (\d+), or so/.exec(output);
      const judged = strict.judge(item, output, { reason: 'length' });
      return {
        ...judged,
        strict: { answer: found?.[1] ?? null, span: found ? [1, output.length] : null },
        inFormat: found !== null,
        right: judged.lenientRight && found !== null,
        cause: found ? null : 'no answer found',
      };
    },
    ...change,
  });
};

describe('scoring again', () => {
  it('gives a run beside the old one: new scores, the same outputs, times and provider of the old one, and says so', async () => {
    const [before] = await run(sumsBenchmark());
    expect(before?.scores.S.count).toBe(0);
    const events: JobProgress[] = [];
    const [after] = await again(talkative(), [before?.run ?? ''], {}, (event) => events.push(event));
    expect(after?.run).not.toBe(before?.run);
    expect(after?.scores).toMatchObject({ n: 12, F: { count: 12 }, S: { count: 12 }, causes: {} });
    expect(after).toMatchObject({
      seconds: before?.seconds,
      promptTokens: before?.promptTokens,
      outputTokens: before?.outputTokens,
    });
    const [old, made] = await Promise.all([before, after].map((summary) => store().read(summary?.run ?? '')));
    expect(made?.run).toMatchObject({
      status: 'finished',
      rescoredFrom: before?.run,
      group: 'again',
      provider: old?.run.provider,
      model: old?.run.model,
      benchmark: { digests: { config: 'talkative' }, items: 12 },
    });
    expect(made?.run.notes.join()).toContain(`Re-scored from the run ${before?.run}`);
    // The old run is what it was.
    expect(old?.run.rescoredFrom).toBeUndefined();
    expect(old?.summary).toEqual(before);
    const [was, is] = await Promise.all([before, after].map((summary) => store().readItems(summary?.run ?? '')));
    expect(is?.map(({ output, stop, prompt }) => ({ output, stop, prompt }))).toEqual(
      was?.map(({ output, stop, prompt }) => ({ output, stop, prompt })),
    );
    expect(events.filter(({ kind }) => kind === 'items')).not.toHaveLength(0);
    expect(events.at(-1)).toMatchObject({ kind: 'summary' });
  });

  it('takes the marks of items along, but for a wrong right answer that has been put right', async () => {
    const [before] = await run(sumsBenchmark());
    const old = store().folderOf(before?.run ?? '');
    await setMark(old, 0, { kind: 'bad gold', note: 'no' });
    await setMark(old, 1, { kind: 'bad gold', note: '' });
    const marks = await setMark(old, 2, { kind: 'ambiguous question', note: 'or 8?' });
    const { target } = sumsBenchmark();
    const mended = talkative({
      target: (item) => (item.index === 0 ? { ...target(item), text: '#99' } : target(item)),
    });
    const [after] = await again(mended, [before?.run ?? '']);
    const made = store().folderOf(after?.run ?? '');
    expect(await readMarks(made)).toEqual({ marks: marks.slice(1), problem: null });
    expect((await readMarks(old)).marks).toHaveLength(3);
    // Marks that cannot be read keep nobody from scoring.
    await writeFile(join(old, 'marks.json'), '{');
    const [third] = await again(mended, [before?.run ?? '']);
    expect(third?.scores).toEqual(after?.scores);
    const { notes, status } = (await store().read(third?.run ?? '')).run;
    expect([status, notes.at(-1)]).toEqual(['finished', expect.stringContaining('Marks of items were not taken over')]);
    // None are made where there are none.
    const [fresh] = await run(sumsBenchmark(), { group: 'fresh' });
    const [last] = await again(talkative(), [fresh?.run ?? '']);
    expect(await readdir(store().folderOf(last?.run ?? ''))).not.toContain('marks.json');
  });

  it('scores as an evaluation from the beginning would', async () => {
    const [before] = await run(sumsBenchmark());
    const [after] = await again(talkative(), [before?.run ?? '']);
    const [fresh] = await run(talkative(), { group: 'fresh' });
    expect(after?.scores).toEqual(fresh?.scores);
    const [items, wanted] = await Promise.all([after, fresh].map((summary) => store().readItems(summary?.run ?? '')));
    expect(items).toEqual(wanted);
  });

  it('of several runs gives one each, in one job; a tuned one keeps its soft prompt', async () => {
    const summaries = await run(sumsBenchmark(), { modes: ['zero-shot', 'few-shot', 'soft-prompt'] });
    const made = await again(
      talkative(),
      summaries.map(({ run }) => run),
    );
    expect(made.map(({ mode }) => mode)).toEqual(['zero-shot', 'few-shot', 'soft-prompt']);
    // With examples the scripted model adds up the first one's numbers: right for item 1 only.
    expect(made.map(({ scores }) => scores.S.count)).toEqual([12, 1, 0]);
    expect(made[2]).toMatchObject({ bestStep: summaries[2]?.bestStep, tuningSeconds: summaries[2]?.tuningSeconds });
    const { run: tuned } = await store().read(made[2]?.run ?? '');
    expect(tuned.settings.softPromptFrom).toBe(summaries[2]?.run);
    expect(await store().readSoftPrompt(tuned.settings.softPromptFrom ?? '')).not.toBeNull();
  });

  it('can be done to what was scored again before', async () => {
    const [before] = await run(sumsBenchmark());
    const [first] = await again(talkative(), [before?.run ?? '']);
    const [second] = await again(sumsBenchmark({ configDigest: 'third' }), [first?.run ?? '']);
    expect(second?.scores).toEqual(before?.scores);
    expect((await store().read(second?.run ?? '')).run.rescoredFrom).toBe(first?.run);
  });

  it('takes right answers that have changed', async () => {
    const [before] = await run(sumsBenchmark());
    const benchmark = sumsBenchmark({
      target: () => ({ delimiter: ' ', text: '#100' }),
      judge: (item, output, stop) => ({ ...sumsBenchmark().judge(item, output, stop), lenientRight: false }),
    });
    const [after] = await again(benchmark, [before?.run ?? '']);
    expect(after?.scores.L.count).toBe(0);
    const items = await store().readItems(after?.run ?? '');
    expect(new Set(items.map(({ gold }) => gold))).toEqual(new Set(['#100']));
  });
});

describe('likelihoods', () => {
  const withChoices = (change: Partial<Benchmark> = {}, gold = 0): Benchmark =>
    sumsBenchmark({
      outputType: 'multiple_choice',
      choices: () => ({ texts: ['seven', 'six', 'eleven'], gold }),
      ...change,
    });

  it('are kept, and scored with the right answers of now', async () => {
    const [before] = await run(withChoices());
    // The scripted model's log-likelihood is minus the number of tokens: the shortest choice wins.
    expect(before?.scores.LL?.count).toBe(0);
    const [after] = await again(withChoices({}, 1), [before?.run ?? '']);
    expect(after?.scores.LL?.count).toBe(12);
    const [was, is] = await Promise.all([before, after].map((summary) => store().readItems(summary?.run ?? '')));
    expect(is?.map(({ likelihoods }) => likelihoods)).toEqual(was?.map(({ likelihoods }) => likelihoods));
    expect(is?.[0]?.likelihoods).toHaveLength(3);
  });

  it('alone are shown where the file asks for nothing else now: what an evaluation with it would have given', async () => {
    const [before] = await run(withChoices());
    const alone = withChoices({ generates: false, generation: { ...sumsBenchmark().generation, until: ['.'] } });
    const [after] = await again(alone, [before?.run ?? '']);
    const [fresh] = await run(alone, { reuseFinished: false, group: 'fresh' });
    expect(before?.scores.F.n).toBe(12);
    expect(after?.scores.F).toMatchObject({ value: null, n: 0 });
    expect(after?.scores).toEqual(fresh?.scores);
    const [is, was] = await Promise.all([after, fresh].map((summary) => store().readItems(summary?.run ?? '')));
    expect(is).toEqual(was);
    const { run: written } = await store().read(after?.run ?? '');
    expect(written.settings.generates).toBe(false);
    expect(written.notes.join(' ')).toContain(`the outputs of the run ${before?.run} are not read`);
    // And so it stays when it is scored again.
    const [third] = await again(alone, [after?.run ?? '']);
    expect(third?.scores).toEqual(fresh?.scores);
  });

  it('of other candidates are refused', async () => {
    const [before] = await run(withChoices());
    const other = withChoices({ choices: () => ({ texts: ['seven', 'six', 'twelve'], gold: 1 }) });
    const error = await refusal(again(other, [before?.run ?? '']));
    expect(error.message).toMatch(
      /None of the 12 items .* can be scored again: items 0, 1, 2, 3, 4 and 7 more have other candidates/,
    );
  });

  it('behind another delimiter are refused, where the run says what it asked by', async () => {
    const configured = (delimiter: string, metric = 'acc'): Partial<Benchmark> => ({
      configuration: { output_type: 'multiple_choice', target_delimiter: delimiter, metric_list: [{ metric }] },
    });
    const [before] = await run(withChoices(configured(' ')));
    const error = await refusal(again(withChoices(configured('\n')), [before?.run ?? '']));
    expect(error.message).toContain('may have been asked about in another way');
    expect(await again(withChoices(configured(' ', 'acc_norm')), [before?.run ?? ''])).toHaveLength(1);
  });
});

describe('what cannot be scored again', () => {
  /** The prompts of items from `from` on are others. */
  const changedFrom = (from: number): Benchmark => {
    const { prompt } = sumsBenchmark();
    return talkative({
      prompt: async (item: Item, shots: number) => {
        const rendered = await prompt(item, shots);
        return item.index < from ? rendered : { ...rendered, text: `${rendered.text} about` };
      },
    });
  };

  it('is named and refused, and nothing is left on disk', async () => {
    const [before] = await run(sumsBenchmark());
    const error = await refusal(again(changedFrom(5), [before?.run ?? '']));
    expect(error.kind).toBe('bad-input');
    expect(error.sentence).toContain(
      `7 of the 12 items of the run "${before?.run}" cannot be scored again: items 5, 6, 7, 8, 9 and 2 more have another prompt.`,
    );
    expect(error.sentence).toContain('--skip-changed');
    expect((await store().list()).runs).toHaveLength(1);
  });

  it('is left out where that is asked for, and said with the run', async () => {
    const [before] = await run(sumsBenchmark());
    const [after] = await again(changedFrom(5), [before?.run ?? ''], { skipChanged: true });
    expect(after?.scores.n).toBe(5);
    const { run: made } = await store().read(after?.run ?? '');
    expect(made.benchmark.items).toBe(5);
    expect(made.notes.join(' ')).toContain('Left out, since what is asked of the model has changed: items 5, 6, 7');
  });

  it('is refused altogether where it is every item', async () => {
    const [before] = await run(sumsBenchmark());
    expect((await refusal(again(changedFrom(0), [before?.run ?? ''], { skipChanged: true }))).message).toContain(
      'None of the 12 items',
    );
  });

  it.each([
    ['stop markers', { until: ['.'] }],
    ['longest output', { maxNewTokens: 17 }],
    ['temperature', { temperature: 0.5 }],
  ])('outputs that other settings would have made otherwise: %s', async (name, change) => {
    const [before] = await run(sumsBenchmark());
    const benchmark = talkative({ generation: { ...sumsBenchmark().generation, ...change } });
    const error = await refusal(again(benchmark, [before?.run ?? '']));
    expect(error.message).toContain(`Changed: ${name}.`);
  });

  it('items that are gone from the data', async () => {
    const [before] = await run(sumsBenchmark());
    const benchmark = talkative();
    const fewer = talkative({ items: async (split) => (await benchmark.items(split)).slice(0, 11) });
    expect((await refusal(again(fewer, [before?.run ?? '']))).message).toContain('item 11 is not in the data any more');
  });

  it('a run that is not finished', async () => {
    const failing = scriptedModel({
      onGenerate: (index) => {
        if (index === 3) throw new Error('broken');
      },
    });
    await expect(run(sumsBenchmark(), {}, failing)).rejects.toThrow('broken');
    const [stopped] = (await store().list()).runs;
    const error = await refusal(again(talkative(), [stopped?.run.id ?? '']));
    expect(error.sentence).toContain('only a finished run can be scored again. Resume it first.');
  });

  it('where one of several runs is refused, none is scored', async () => {
    const [before] = await run(sumsBenchmark());
    const [few] = await run(sumsBenchmark(), { modes: ['few-shot'], group: 'g2' });
    const { prompt } = sumsBenchmark();
    const otherExamples = talkative({
      prompt: async (item, shots) => (shots > 0 ? { text: 'Others', parts: [] } : prompt(item, shots)),
    });
    await refusal(again(otherExamples, [before?.run ?? '', few?.run ?? '']));
    expect((await store().list()).runs).toHaveLength(2);
    expect(await again(otherExamples, [before?.run ?? ''])).toHaveLength(1);
  });

  it('leaves nothing behind where it is stopped in the middle', async () => {
    const [before] = await run(sumsBenchmark());
    const controller = new AbortController();
    const stopped = again(
      talkative(),
      [before?.run ?? ''],
      {},
      (event) => event.kind === 'run' && controller.abort(),
      controller.signal,
    );
    expect((await refusal(stopped)).kind).toBe('cancelled');
    expect((await store().list()).runs).toHaveLength(1);
  });
});

describe('outputs only', () => {
  it('are kept without verdicts; scoring them later gives what an evaluation would have given', async () => {
    const [outputs] = await run(talkative(), { predictOnly: true });
    expect(outputs?.scores).toMatchObject({ n: 0, F: { value: null, n: 0 }, S: { value: null }, causes: {} });
    expect(outputs?.outputTokens).toBeGreaterThan(0);
    const { run: made } = await store().read(outputs?.run ?? '');
    expect(made).toMatchObject({ predictOnly: true, status: 'finished' });
    const items = await store().readItems(outputs?.run ?? '');
    expect(items).toHaveLength(12);
    expect(items[0]).toMatchObject({
      output: ' I think it is 0, or so',
      strict: { answer: null },
      right: false,
      cause: null,
      scored: false,
    });

    const [scored] = await again(talkative(), [outputs?.run ?? '']);
    const [whole] = await run(talkative(), { group: 'whole' });
    expect(scored?.scores).toEqual(whole?.scores);
    expect((await store().read(scored?.run ?? '')).run.predictOnly).toBeUndefined();
  });

  it('are not taken for an evaluation, nor the other way round', async () => {
    await run(talkative(), { predictOnly: true });
    const model = scriptedModel();
    const [whole] = await run(talkative(), { group: 'g2', reuseFinished: true }, model);
    expect(model.asked.generated).toHaveLength(12);
    expect(whole?.scores.n).toBe(12);
    const again = scriptedModel();
    const [outputs] = await run(talkative(), { group: 'g3', reuseFinished: true, predictOnly: true }, again);
    expect(again.asked.generated).toHaveLength(0);
    expect(outputs?.scores.n).toBe(0);
  });

  it('need no right answers', async () => {
    const { HumanError } = await import('../../src/shared/errors.ts');
    const without = sumsBenchmark({
      target: () => {
        throw new HumanError('bad-input', 'There is no answer.');
      },
      choices: () => null,
      judge: () => {
        throw new Error('nobody should judge');
      },
    });
    const [outputs] = await run(without, { predictOnly: true });
    expect((await store().readItems(outputs?.run ?? '')).map(({ gold }) => gold)).toEqual(new Array(12).fill(''));
  });

  it('that were stopped have no scores either', async () => {
    const failing = scriptedModel({
      onGenerate: (index) => {
        if (index === 3) throw new Error('broken');
      },
    });
    await expect(run(talkative(), { predictOnly: true }, failing)).rejects.toThrow('broken');
    const [stopped] = (await store().list()).runs;
    expect(stopped?.summary?.scores.n).toBe(0);
  });
});
