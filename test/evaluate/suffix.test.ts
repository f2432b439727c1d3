/** `position: suffix` from a job's settings to its run, its files and wherever the run is named. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import type { Benchmark } from '../../src/benchmark/types.ts';
import { previewText } from '../../src/editor/preview-text.ts';
import { hoverAt, suggestionsAt } from '../../src/editor/suggest.ts';
import { type JobRooms, runJob } from '../../src/evaluate/index.ts';
import type { SoftPrompt, TrainingOptions } from '../../src/evaluate/language-model.ts';
import { rankModels } from '../../src/metrics/index.ts';
import { exportAdapter, openRunStore, readSoftPrompt } from '../../src/runs/index.ts';
import type { JobRequest } from '../../src/shared/protocol.ts';
import type { RunFile } from '../../src/shared/results.ts';
import { decodeSafetensors, encodeSafetensors } from '../../src/shared/safetensors.ts';
import { modeTitle } from '../../src/shared/soft-prompt-words.ts';
import { leaderboard, leaderboardCsv, leaderboardMarkdown } from '../../src/study/index.ts';
import { type ScriptedModel, scriptedModel, scriptedRequest, scriptedRooms, sumsBenchmark } from './scripted.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-suffix-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const wholeText = 'The text was read at every step.';

/** A scripted model that says where it was told to put the soft prompt. */
function watched(hooks: Parameters<typeof scriptedModel>[0] = {}) {
  const model = scriptedModel(hooks);
  const seen = { training: [] as TrainingOptions[], positions: new Set<string | undefined>() };
  const { generate, openTraining } = model;
  model.generate = (requests, settings, on) => {
    if (settings.softPrompt) seen.positions.add(settings.softPrompt.position);
    return generate(requests, settings, on);
  };
  model.openTraining = async (options) => {
    seen.training.push(options);
    return { ...(await openTraining(options)), notes: options.position === 'suffix' ? [wholeText] : [] };
  };
  return { model, seen };
}

const rooms = (model: ScriptedModel, benchmark: Benchmark, softPrompt?: SoftPrompt): JobRooms =>
  scriptedRooms(model, benchmark, softPrompt ?? { vectors: 1, hiddenSize: 4, data: new Float32Array(4) });

const suffixed = (): Benchmark => {
  const benchmark = sumsBenchmark();
  return { ...benchmark, softPrompt: { ...benchmark.softPrompt, position: 'suffix' } };
};

async function run(
  model: ScriptedModel,
  {
    benchmark = suffixed(),
    softPrompt,
    signal = new AbortController().signal,
    ...change
  }: Partial<JobRequest> & { benchmark?: Benchmark; softPrompt?: SoftPrompt; signal?: AbortSignal } = {},
): Promise<RunFile[]> {
  const request = scriptedRequest(folder, { modes: ['zero-shot', 'soft-prompt', 'few-shot+soft-prompt'], ...change });
  const summaries = await runJob(request, rooms(model, benchmark, softPrompt), { signal, progress: () => undefined });
  const store = openRunStore(folder);
  return Promise.all(summaries.map(async (summary) => (await store.read(summary.run)).run));
}

describe('a tuning with position: suffix', () => {
  it('puts the soft prompt there in training, validation and every mode that uses it, and says so', async () => {
    const { model, seen } = watched();
    const [zeroShot, tuned, fewShot] = await run(model);
    expect(seen.training).toEqual([{ vectors: 2, batchSize: 4, position: 'suffix', passes: (20 * 4) / 52 }]);
    expect([...seen.positions]).toEqual(['suffix']);
    for (const made of [tuned, fewShot]) {
      expect(made?.settings.softPromptPosition).toBe('suffix');
      expect(made?.settings.softPrompt?.position).toBe('suffix');
      expect(made?.notes.join()).toMatch(/between the text and the answer \(position: suffix\)/);
    }
    expect(tuned?.notes).toContain(wholeText);
    expect(zeroShot?.settings).not.toHaveProperty('softPromptPosition');
    expect(zeroShot?.notes).toEqual([]);
  });

  it('writes the position into the file, and reads it back', async () => {
    const [, tuned] = await run(watched().model);
    const file = join(openRunStore(folder).folderOf(tuned?.id ?? ''), 'soft-prompt.safetensors');
    const read = await readSoftPrompt(file);
    expect(read?.metadata.position).toBe('suffix');
    expect(read?.softPrompt.position).toBe('suffix');
    // PEFT's prompt tuning always stands in front.
    if (read)
      await expect(exportAdapter(join(folder, 'adapter'), read.softPrompt, 'm')).rejects.toThrow(/in front of it/);
  });

  it('goes on after a stop with the numbers of an unbroken one', async () => {
    const [unbroken] = await run(watched().model, { group: 'unbroken', modes: ['soft-prompt'] });
    const controller = new AbortController();
    const stopping = watched({ onStep: (step) => step === 7 && controller.abort() });
    await expect(run(stopping.model, { modes: ['soft-prompt'], signal: controller.signal })).rejects.toThrow();
    const again = watched();
    const [resumed] = await run(again.model, { modes: ['soft-prompt'] });
    expect([...again.seen.positions]).toEqual(['suffix']);
    const store = openRunStore(folder);
    expect((await store.readSoftPrompt(resumed?.id ?? ''))?.data).toEqual(
      (await store.readSoftPrompt(unbroken?.id ?? ''))?.data,
    );
  });

  it('is another run than one with the soft prompt in front: not resumed as such', async () => {
    const controller = new AbortController();
    const { model } = watched({ onStep: (step) => step === 3 && controller.abort() });
    await expect(run(model, { modes: ['soft-prompt'], signal: controller.signal })).rejects.toThrow();
    await expect(
      run(watched().model, { modes: ['soft-prompt'], overrides: { softPrompt: { position: 'prefix' } } }),
    ).rejects.toThrow(/Changed since it began: position of the soft prompt\./);
  });

  it('a run of an earlier version, which has no position, goes on as one with the soft prompt in front', async () => {
    const controller = new AbortController();
    const { model } = watched({ onStep: (step) => step === 3 && controller.abort() });
    const options = { modes: ['soft-prompt' as const], benchmark: sumsBenchmark() };
    await expect(run(model, { ...options, signal: controller.signal })).rejects.toThrow();
    const now = sumsBenchmark();
    const [resumed] = await run(watched().model, {
      ...options,
      benchmark: { ...now, softPrompt: { ...now.softPrompt, position: 'prefix' } },
    });
    expect(resumed?.status).toBe('finished');
  });
});

describe('a soft prompt of a file', () => {
  const softPrompt: SoftPrompt = { vectors: 1, hiddenSize: 4, data: new Float32Array(4), position: 'suffix' };
  const ofFile = { modes: ['soft-prompt' as const], benchmark: sumsBenchmark(), softPrompt };

  it('stands where it was tuned to stand, whatever the benchmark says', async () => {
    const { model, seen } = watched();
    const [made] = await run(model, { ...ofFile, overrides: { softPromptFile: 'p.safetensors' } });
    expect([...seen.positions]).toEqual(['suffix']);
    expect(made?.settings.softPromptPosition).toBe('suffix');
    expect(made?.notes.join()).toMatch(/position: suffix/);
  });

  it('is refused where the other place was asked for', async () => {
    const overrides = { softPromptFile: 'p.safetensors', softPrompt: { position: 'prefix' as const } };
    await expect(run(watched().model, { ...ofFile, overrides })).rejects.toThrow(
      /tuned to stand behind the text \(position: suffix\); "prefix" was asked for/,
    );
  });

  it('at a place that is not known here is refused', async () => {
    const [, tuned] = await run(watched().model);
    const store = openRunStore(folder);
    const { readFile } = await import('node:fs/promises');
    const bytes = await readFile(join(store.folderOf(tuned?.id ?? ''), 'soft-prompt.safetensors'));
    const { tensors, metadata } = decodeSafetensors(bytes, 'p');
    const file = join(folder, 'p.safetensors');
    await writeFile(file, encodeSafetensors(tensors, { ...metadata, position: 'infix' }));
    await expect(readSoftPrompt(file)).rejects.toThrow(/stands at "infix"/);
  });
});

describe('a benchmark file', () => {
  const write = async (position: string): Promise<string> => {
    const file = join(folder, 'sums.yaml');
    const lines = [
      'task: sums',
      'dataset_path: json',
      'dataset_kwargs: { data_files: { train: sums.jsonl, test: sums.jsonl } }',
      'training_split: train',
      'test_split: test',
      'doc_to_text: "{{a}} + {{b}} ="',
      'doc_to_target: "{{a + b}}"',
      'generation_kwargs: { until: ["\\n"] }',
      'metric_list: [ { metric: exact_match } ]',
      `metadata: { softbench: { soft_prompt: { ${position} } } }`,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    await writeFile(join(folder, 'sums.jsonl'), '{"a": 1, "b": 2}\n{"a": 2, "b": 2}\n');
    return file;
  };

  it('sets the position; it is prefix where it does not', async () => {
    expect((await openBenchmark(await write('position: suffix'))).softPrompt.position).toBe('suffix');
    expect((await openBenchmark(await write('steps: 4'))).softPrompt.position).toBe('prefix');
  });

  it('with another word is refused with the words that there are', async () => {
    await expect(openBenchmark(await write('position: middle'))).rejects.toThrow(/prefix.*suffix/);
  });

  it('is completed and explained in the editor', () => {
    const text = 'task: sums\nmetadata:\n  softbench:\n    soft_prompt:\n      position: ';
    const line = text.split('\n').length - 1;
    const column = text.split('\n').at(-1)?.length ?? 0;
    expect(suggestionsAt(text, line, column).map(({ label }) => label)).toEqual(['prefix', 'suffix']);
    expect(hoverAt(`${text}suffix`, line, column - 6)?.markdown).toMatch(/between the text and the answer/);
  });
});

describe('wherever the run is named', () => {
  it('leaderboards and tables say that it is a variant', async () => {
    const [, tuned] = await run(watched().model);
    expect(tuned && modeTitle(tuned)).toBe('soft-prompt (suffix)');
    const view = leaderboard((await openRunStore(folder).list()).runs);
    const positions = view.cells.map(({ mode, cell }) => [mode, cell.softPromptPosition]);
    expect(positions).toEqual([
      ['zero-shot', undefined],
      ['soft-prompt', 'suffix'],
      ['few-shot+soft-prompt', 'suffix'],
    ]);
    expect(leaderboardMarkdown(view)).toContain('| soft-prompt (suffix) |');
    expect(leaderboardCsv(view)).toContain(',soft-prompt (suffix),');
    const [first] = rankModels(view, { tasks: ['sums'], mode: 'soft-prompt', metric: 'S' });
    expect(first?.parts[0]?.cell.softPromptPosition).toBe('suffix');
  });

  it('a preview shows the vectors behind the last token of the prompt', () => {
    const preview = {
      mode: 'soft-prompt' as const,
      parts: [{ kind: 'question', text: 'The sum of 1 and 2 is' }],
      tokens: [],
      answer: ' #3',
      stop: ['\n'],
      softPromptVectors: 10,
    };
    const about = { task: 'sums', index: 0, total: 1, model: null };
    const text = (softPromptPosition: 'prefix' | 'suffix') =>
      previewText([{ ...preview, softPromptPosition }], about).text;
    expect(text('suffix')).toContain('The sum of 1 and 2 is⟦10 learned vectors⟧ #3');
    expect(text('prefix')).toContain('⟦10 learned vectors⟧The sum of 1 and 2 is #3');
  });
});
