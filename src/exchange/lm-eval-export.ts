/**
 * Runs as the files of lm-evaluation-harness 0.4.13: `MODEL/results_<time>.json` and `MODEL/samples_<task>_<time>.jsonl`,
 * as its EvaluationTracker writes them. Runs of one model and one way to ask share a results file, as tasks of one command
 * do there.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { float } from '../benchmark/python.ts';
import { pythonJson } from '../benchmark/python-json.ts';
import type { Benchmark } from '../benchmark/types.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import { usesSoftPrompt } from '../shared/modes.ts';
import type { MetricScore, RunFile } from '../shared/results.ts';
import { makeFolder, sha256, writeWhole } from '../system/index.ts';
import type { ExportContext, ExportedRun } from './export.ts';
import { type Fields, fieldsOf } from './foreign.ts';
import { generationKwargs, hasBypass, SampleRows } from './lm-eval-rows.ts';
import { filterNames } from './sample-judge.ts';
import { writeLines } from './write-lines.ts';

/** The version whose files these are. */
const lmEvalVersion = '0.4.13';

/** @returns the files written */
export async function exportLmEval(
  runs: readonly ExportedRun[],
  folder: string,
  context: ExportContext,
): Promise<string[]> {
  const files: string[] = [];
  const times = new Set<string>();
  for (const group of grouped(runs)) files.push(...(await writeGroup(group, folder, times, context)));
  return files;
}

/** Runs that one command of the harness could have made: same model, same way to ask, every task once. */
function grouped(runs: readonly ExportedRun[]): ExportedRun[][] {
  const groups: { key: string; tasks: Set<string>; runs: ExportedRun[] }[] = [];
  for (const entry of runs) {
    const { run } = entry;
    const { shots, limit, softPromptFrom } = run.settings;
    const soft = usesSoftPrompt(run.mode) ? (softPromptFrom ?? run.id) : null;
    const key = JSON.stringify([
      ...[run.model, run.mode, shots, limit, soft, run.settings.chat ?? null, run.predictOnly ?? false],
    ]);
    const fits = groups.find((group) => group.key === key && !group.tasks.has(run.benchmark.task));
    if (fits) {
      fits.runs.push(entry);
      fits.tasks.add(run.benchmark.task);
    } else groups.push({ key, tasks: new Set([run.benchmark.task]), runs: [entry] });
  }
  return groups.map((group) => group.runs);
}

/** The model's name; a soft prompt stands for the model, as an adapter does (`peft=`). */
function modelName(run: RunFile): string {
  return usesSoftPrompt(run.mode) ? `${run.model.name}-soft-prompt` : run.model.name;
}

/** `sanitize_model_name` of the harness; beyond it, control characters are replaced, and a name of dots leads nowhere. */
const sanitized = (name: string): string => name.replace(/["<>:/|\\?*[\]\p{Cc}]+/gu, '__').replace(/^\.{1,2}$/, '__');

/** The harness writes a task's name as it is: what would lead out of the folder, or is in no file's name, is replaced. */
const inFileName = (task: string): string => task.replace(/[/\\\p{Cc}]+/gu, '__');

/** Of the run that ended last, as `datetime.now().isoformat()`; every results file has its own. */
function timeOf(runs: readonly ExportedRun[], taken: Set<string>): string {
  const last =
    runs
      .map(({ run }) => run.updated)
      .sort()
      .at(-1) ?? '';
  const base = new Date(last).toISOString().replace('Z', '').replaceAll(':', '-');
  for (let micro = 0; ; micro++) {
    const time = `${base}${String(micro).padStart(3, '0')}`;
    if (!taken.has(time)) {
      taken.add(time);
      return time;
    }
  }
}

async function writeGroup(
  runs: readonly ExportedRun[],
  folder: string,
  times: Set<string>,
  context: ExportContext,
): Promise<string[]> {
  const [first] = runs;
  if (!first) return [];
  const target = join(folder, sanitized(modelName(first.run)));
  await makeFolder(target);
  const time = timeOf(runs, times);
  const files: string[] = [];
  const hashes: Record<string, string> = {};
  const opened: { entry: ExportedRun; benchmark: Benchmark; original: number }[] = [];
  for (const entry of runs) {
    const { run } = entry;
    const benchmark = await context.benchmarkOf(run);
    const items = await benchmark.items('evaluation');
    opened.push({ entry, benchmark, original: items.length });
    const byIndex = new Map(items.map((item) => [item.index, item]));
    const records = await context.itemsOf(entry);
    const rows = new SampleRows(run, benchmark);
    const path = join(target, `samples_${inFileName(run.benchmark.task)}_${time}.jsonl`);
    const hash = createHash('sha256');
    const lines = async function* (): AsyncGenerator<string> {
      for (const filter of rows.filters(records, byIndex))
        for (const record of records) {
          throwIfCancelled(context.signal);
          const item = byIndex.get(record.index);
          if (!item) throw gone(run, record.index);
          const row = await rows.row(item, record, filter);
          hash.update(row.hashes);
          yield row.line;
        }
    };
    await writeLines(path, lines());
    hashes[run.benchmark.task] = hash.digest('hex');
    files.push(path);
  }
  const results = join(target, `results_${time}.json`);
  await writeWhole(results, pythonJson(resultsOf(opened, hashes, context), 2));
  return [results, ...files];
}

const gone = (run: RunFile, index: number): HumanError =>
  new HumanError('bad-input', `The run ${run.id} has an item ${index} that the benchmark's data has not.`, {
    place: { file: run.benchmark.file },
    todo: 'The data has changed since: bring it back to what it was.',
  });

type Opened = { entry: ExportedRun; benchmark: Benchmark; original: number };

function resultsOf(opened: readonly Opened[], hashes: Record<string, string>, { softbench }: ExportContext): Fields {
  const [first] = opened;
  if (!first) return {};
  const { run } = first.entry;
  const byTask = <Value>(of: (each: Opened) => Value): Record<string, Value> =>
    Object.fromEntries(
      [...opened]
        .sort((a, b) => (a.entry.run.benchmark.task < b.entry.run.benchmark.task ? -1 : 1))
        .map((each) => [each.entry.run.benchmark.task, of(each)]),
    );
  const inOrder = <Value>(of: (each: Opened) => Value): Record<string, Value> =>
    Object.fromEntries(opened.map((each) => [each.entry.run.benchmark.task, of(each)]));
  const { chat } = run.settings;
  const seconds = opened.reduce((sum, { entry }) => sum + (entry.summary?.seconds ?? 0), 0);
  const started = opened.map(({ entry }) => Date.parse(entry.run.created)).sort((a, b) => a - b)[0] ?? 0;
  const system = chat?.systemInstruction ?? null;
  const template = chat?.template ?? null;
  return {
    results: inOrder(({ entry, benchmark }) => taskResults(entry, benchmark)),
    group_subtasks: {},
    configs: byTask(({ entry, benchmark }) => taskConfig(entry.run, benchmark)),
    versions: byTask(({ benchmark }) => fieldsOf(benchmark.configuration?.metadata).version ?? 'Yaml'),
    'n-shot': byTask(({ entry }) => entry.run.settings.shots),
    higher_is_better: byTask(({ entry, benchmark }) =>
      entry.run.predictOnly
        ? { bypass: true }
        : Object.fromEntries(measures(entry, benchmark).map(({ metric, higherIsBetter }) => [metric, higherIsBetter])),
    ),
    'n-samples': inOrder(({ entry, benchmark, original }) => ({ original, effective: itemsOf(entry, benchmark) })),
    config: {
      model: 'softbench',
      model_args: {
        pretrained: run.model.name,
        ...(usesSoftPrompt(run.mode) && { peft: modelName(run) }),
        graph_sha256: run.model.digests.graph,
        weights_sha256: run.model.digests.weights,
      },
      batch_size: run.settings.batchSize,
      batch_sizes: [],
      device: run.provider.running,
      use_cache: null,
      limit: run.settings.limit,
      bootstrap_iters: 100000,
      gen_kwargs: {},
      random_seed: 0,
      numpy_seed: 1234,
      torch_seed: 1234,
      fewshot_seed: run.settings.fewShotSeed,
    },
    git_hash: null,
    date: float(started / 1000),
    pretty_env_info: `Softbench ${run.softbench}, ONNX Runtime ${run.onnxruntime}, ${run.provider.running}, ${run.provider.threads} threads`,
    transformers_version: 'N/A',
    lm_eval_version: lmEvalVersion,
    upper_git_hash: null,
    softbench_version: softbench,
    task_hashes: hashes,
    model_source: 'softbench',
    model_name: modelName(run),
    model_name_sanitized: sanitized(modelName(run)),
    system_instruction: system,
    system_instruction_sha: system === null ? null : sha256(system),
    fewshot_as_multiturn: chat?.fewshotAsMultiturn ?? false,
    chat_template: template?.source ?? null,
    chat_template_sha: template?.digest ?? null,
    total_evaluation_time_seconds: String(seconds),
  };
}

/** Items that count; of a run that was not scored, those with a metric. */
const itemsOf = ({ run, summary }: ExportedRun, benchmark: Benchmark): number =>
  run.predictOnly ? (hasBypass(benchmark) ? run.benchmark.items : 0) : (summary?.scores.n ?? 0);

/** What the harness writes in place of scores where nothing is scored. */
const bypassed = 999;

/** The run's measures; of runs without them, S and L under the names of their filters. */
function measures({ run, summary }: ExportedRun, benchmark: Benchmark): MetricScore[] {
  if (run.predictOnly)
    return hasBypass(benchmark)
      ? filterNames(benchmark.configuration ?? {}).map((filter) => ({
          ...{ metric: 'bypass', filter, value: bypassed, standardError: null, higherIsBetter: true },
          n: run.benchmark.items,
        }))
      : [];
  if (summary?.measures && summary.measures.length > 0) return summary.measures;
  if (!summary) return [];
  const { S, L, LL, n } = summary.scores;
  const of = (metric: string, filter: string, value: number | null): MetricScore[] =>
    value === null
      ? []
      : [
          {
            metric,
            filter,
            value,
            // Of a mean of zeros and ones: sample deviation ÷ √n.
            standardError: n > 1 ? Math.sqrt((value * (1 - value)) / (n - 1)) : null,
            higherIsBetter: true,
            n,
          },
        ];
  return [
    ...of('exact_match', 'strict', S.value),
    ...of('exact_match', 'lenient', L.value),
    ...of('acc', 'none', LL?.value ?? null),
  ];
}

function taskResults(entry: ExportedRun, benchmark: Benchmark): Fields {
  const { task } = entry.run.benchmark;
  const alias = benchmark.configuration?.task_alias;
  return {
    name: task,
    alias: typeof alias === 'string' ? alias : task,
    sample_len: itemsOf(entry, benchmark),
    ...Object.fromEntries(
      measures(entry, benchmark).flatMap(({ metric, filter, value, standardError }) => [
        [`${metric},${filter}`, metric === 'bypass' ? bypassed : float(value ?? Number.NaN)],
        [`${metric}_stderr,${filter}`, standardError === null ? 'N/A' : float(standardError)],
      ]),
    ),
  };
}

/** Keys of TaskConfig in its order, with the defaults that are not None. */
const configDefaults: readonly (readonly [key: string, fallback?: unknown])[] = [
  ['task'],
  ['task_alias'],
  ['tag'],
  ['dataset_path'],
  ['dataset_name'],
  ['dataset_kwargs'],
  ['training_split'],
  ['validation_split'],
  ['test_split'],
  ['fewshot_split'],
  ['process_docs'],
  ['doc_to_text'],
  ['doc_to_target'],
  ['unsafe_code', false],
  ['doc_to_choice'],
  ['process_results'],
  ['description', ''],
  ['target_delimiter', ' '],
  ['fewshot_delimiter', '\n\n'],
  ['fewshot_config'],
  ['num_fewshot'],
  ['metric_list'],
  ['output_type', 'generate_until'],
  ['generation_kwargs'],
  ['repeats', 1],
  ['filter_list'],
  ['should_decontaminate', false],
  ['doc_to_decontamination_query'],
  ['gen_prefix'],
  ['metadata'],
];

/** `TaskConfig.to_dict()`: what the file says, with defaults, without what is None. */
function taskConfig(run: RunFile, benchmark: Benchmark): Fields {
  const values: Fields = { ...benchmark.configuration, task: run.benchmark.task, num_fewshot: run.settings.shots };
  if (benchmark.outputType === 'generate_until') values.generation_kwargs = generationKwargs(benchmark);
  if (run.predictOnly)
    Object.assign(values, { metric_list: [{ metric: 'bypass' }], process_results: 'process_results' });
  const fallback = (key: string): unknown => values[key] ?? configDefaults.find(([name]) => name === key)?.[1] ?? null;
  values.fewshot_config = {
    sampler: 'default',
    split: fallback('fewshot_split'),
    process_docs: null,
    fewshot_indices: null,
    samples: null,
    doc_to_text: fallback('doc_to_text'),
    doc_to_choice: fallback('doc_to_choice'),
    doc_to_target: fallback('doc_to_target'),
    gen_prefix: fallback('gen_prefix'),
    fewshot_delimiter: fallback('fewshot_delimiter'),
    target_delimiter: fallback('target_delimiter'),
    ...fieldsOf(values.fewshot_config),
  };
  return Object.fromEntries(
    configDefaults.flatMap(([key]) => {
      const value = fallback(key);
      return value === null || value === undefined ? [] : [[key, value]];
    }),
  );
}
