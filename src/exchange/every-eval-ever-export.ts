/**
 * Runs as files of "Every Eval Ever" (schema 0.3.0): `data/BENCHMARK/DEVELOPER/MODEL/UUID.json`, and `UUID_samples.jsonl`
 * beside it with one row for each item and score. F, S, K, L and LL are results of their own, and so are the metrics of
 * the benchmark file.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark/types.ts';
import { likelihoodVerdict } from '../metrics/index.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import { usesSoftPrompt } from '../shared/modes.ts';
import type { ItemRecord, RunFile, RunSummary, Share } from '../shared/results.ts';
import { makeFolder, sha256, writeWhole } from '../system/index.ts';
import type { ExportContext, ExportedRun } from './export.ts';
import type { Fields } from './foreign.ts';
import { writeLines } from './write-lines.ts';

const everyEvalEverVersion = '0.3.0';

export async function exportEveryEvalEver(
  runs: readonly ExportedRun[],
  folder: string,
  context: ExportContext,
): Promise<string[]> {
  const unscored = runs.find(({ run }) => run.predictOnly);
  if (unscored)
    throw new HumanError(
      'unsupported',
      `The run ${unscored.run.id} was not scored (--predict_only), and files of Every Eval Ever are of scores.`,
      { todo: 'Score it with "softbench rescore" first, or export it as lm-eval, csv or html.' },
    );
  const files: string[] = [];
  for (const entry of runs) {
    throwIfCancelled(context.signal);
    if (entry.summary) files.push(...(await writeRun(entry, entry.summary, folder, context)));
  }
  return files;
}

/** The same run always gets the same number: SHA-256 of its id in the form of a version-4 UUID. */
function uuidOf(id: string): string {
  const hex = sha256(id);
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}

/** A part of a path that every system takes. */
function pathPart(text: string): string {
  const safe = text.replace(/[<>:"/\\|?*\s\p{Cc}]+/gu, '_').replace(/[. ]+$/, '');
  return safe === '' || safe === 'data' || safe.startsWith('.') ? `_${safe}` : safe;
}

async function writeRun(
  { run, summary }: ExportedRun,
  scores: RunSummary,
  folder: string,
  context: ExportContext,
): Promise<string[]> {
  const [developer, model] = developerOf(run);
  const parts = ['data', pathPart(run.benchmark.task), pathPart(developer), pathPart(model)];
  const uuid = uuidOf(run.id);
  const target = join(folder, ...parts);
  await makeFolder(target);
  const evaluationId = `${run.benchmark.task}/${run.model.name}/${run.id}`;
  const records = await context.itemsOf({ run, summary });
  // Imported runs have items without their questions: the file of samples needs these.
  const benchmark = run.source ? null : await context.benchmarkOf(run).catch(() => null);
  const detailed = benchmark && records.some(hasRow);
  const samples = join(target, `${uuid}_samples.jsonl`);
  const written = detailed ? await writeLines(samples, sampleLines(run, records, benchmark, evaluationId)) : null;
  const aggregate = aggregateOf(run, scores, evaluationId);
  const file = join(target, `${uuid}.json`);
  await writeWhole(
    file,
    `${JSON.stringify(
      {
        ...aggregate,
        ...(written && {
          detailed_evaluation_results: {
            format: 'jsonl',
            file_path: [...parts, `${uuid}_samples.jsonl`].join('/'),
            hash_algorithm: 'sha256',
            checksum: written.digest,
            total_rows: written.count,
          },
        }),
      },
      null,
      2,
    )}\n`,
  );
  return written ? [file, samples] : [file];
}

/** `org/model`; a folder's name has no organisation: `local` stands for it, since records are filed under one. */
function developerOf({ model }: RunFile): [developer: string, name: string] {
  const slash = model.name.indexOf('/');
  return slash > 0 ? [model.name.slice(0, slash), model.name.slice(slash + 1)] : ['local', model.name];
}

const seconds = (time: string): string => String(Math.floor(Date.parse(time) / 1000));
/** All values as texts, as the schema wants additional details; empty ones left out. */
const texts = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      value === null || value === undefined || value === ''
        ? []
        : [[key, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  );

function aggregateOf(run: RunFile, summary: RunSummary, evaluationId: string): Fields {
  const { model, settings, source } = run;
  const evaluated = source?.evaluated ?? run.created;
  return {
    schema_version: everyEvalEverVersion,
    evaluation_id: evaluationId,
    evaluation_timestamp: seconds(evaluated),
    retrieved_timestamp: seconds(run.updated),
    source_metadata: {
      source_name: 'Softbench',
      source_type: 'evaluation_run',
      source_organization_name: 'unknown',
      evaluator_relationship: 'other',
      additional_details: texts({ run: run.id, notes: run.notes }),
    },
    eval_library: source
      ? { name: source.library ?? source.tool, version: source.version || 'unknown' }
      : { name: 'softbench', version: run.softbench },
    model_info: {
      name: model.name,
      id: model.name,
      developer: developerOf(run)[0],
      ...(!source && { inference_engine: { name: 'ONNX Runtime', version: run.onnxruntime } }),
      additional_details: {
        deployment_type: source ? 'unknown' : 'self_deployed',
        model_availability: source ? 'unknown' : 'open_weights',
        ...texts({
          graph_sha256: model.digests.graph,
          weights_sha256: model.digests.weights,
          tokenizer_sha256: model.digests.tokenizer,
          config_sha256: model.digests.config,
          execution_provider: run.provider.running,
          ...(usesSoftPrompt(run.mode) && { soft_prompt: settings.softPrompt ?? settings.softPromptFrom ?? run.id }),
        }),
      },
    },
    evaluation_results: resultsOf(run, summary, evaluationId),
  };
}

const definitions: Readonly<Record<string, string>> = {
  F: 'Format-following: share of the outputs that are in the required format.',
  S: 'Score: share of the outputs that are in the required format and right.',
  K: 'Knowledge given format: share of the outputs in the format that are right (S ÷ F).',
  L: 'Lenient score: share of the outputs whose leniently read answer is right.',
  LL: 'Log-likelihood accuracy: share of the items whose right choice is the most likely one.',
};

function resultsOf(run: RunFile, summary: RunSummary, evaluationId: string): Fields[] {
  const { scores } = summary;
  const named: [string, Share | null][] = [
    ['F', scores.F],
    ['S', scores.S],
    ['K', scores.K],
    ['L', scores.L],
    ['LL', scores.LL],
  ];
  const common = { source_data: sourceData(run), evaluation_timestamp: seconds(run.source?.evaluated ?? run.created) };
  const generation = { generation_config: generationConfig(run) };
  return [
    ...named.flatMap(([name, share]): Fields[] =>
      share === null || share.value === null
        ? []
        : [
            {
              evaluation_result_id: `${evaluationId}#${name}`,
              evaluation_name: run.benchmark.task,
              ...common,
              metric_config: {
                evaluation_description: definitions[name],
                metric_id: `softbench.${name}`,
                metric_name: name,
                metric_kind: 'accuracy',
                metric_unit: 'proportion',
                lower_is_better: false,
                score_type: 'continuous',
                min_score: 0,
                max_score: 1,
              },
              score_details: {
                score: share.value,
                uncertainty: {
                  confidence_interval: {
                    lower: share.low,
                    upper: share.high,
                    confidence_level: 0.95,
                    method: 'Wilson',
                  },
                  num_samples: share.n,
                },
              },
              ...generation,
            },
          ],
    ),
    ...(summary.measures ?? []).flatMap(({ metric, filter, value, standardError, higherIsBetter, n }): Fields[] =>
      value === null
        ? []
        : [
            {
              evaluation_result_id: `${evaluationId}#${metric},${filter}`,
              evaluation_name: run.benchmark.task,
              ...common,
              metric_config: {
                evaluation_description: filter === 'none' ? metric : `${metric} (filter: ${filter})`,
                metric_id: metric,
                metric_name: metric,
                lower_is_better: !higherIsBetter,
                additional_details: { filter, bounds_status: 'unknown' },
              },
              score_details: {
                score: value,
                uncertainty: {
                  ...(standardError !== null && { standard_error: { value: standardError } }),
                  num_samples: n,
                },
              },
              ...generation,
            },
          ],
    ),
  ];
}

const sourceData = ({ benchmark }: RunFile): Fields => ({
  dataset_name: benchmark.task,
  source_type: 'other',
  additional_details: texts({
    split: benchmark.split,
    items: benchmark.items,
    configuration_sha256: benchmark.digests.config,
    data_sha256: benchmark.digests.data,
  }),
});

function generationConfig({ mode, settings }: RunFile): Fields {
  const { generation, shots, limit, softPrompt, softPromptFrom } = settings;
  return {
    generation_args: {
      temperature: generation.temperature,
      top_p: generation.topP,
      ...(generation.maxNewTokens > 0 && { max_tokens: generation.maxNewTokens }),
    },
    additional_details: texts({
      mode,
      num_fewshot: shots,
      fewshot_seed: settings.fewShotSeed,
      until: generation.until,
      limit,
      soft_prompt: softPrompt,
      soft_prompt_from: softPromptFrom,
    }),
  };
}

/** One row for each item and score that it has a part in: strict reading, lenient reading, likelihoods. */
async function* sampleLines(
  run: RunFile,
  records: readonly ItemRecord[],
  benchmark: Benchmark,
  evaluationId: string,
): AsyncGenerator<string> {
  const items = new Map((await benchmark.items('evaluation')).map((item) => [item.index, item]));
  for (const record of records) {
    const item = items.get(record.index);
    if (!item) continue;
    const prompt = await benchmark.prompt(item, run.settings.shots);
    const question = prompt.parts.filter(({ kind }) => kind === 'question' || kind === 'generation-prefix');
    const raw = question.map(({ text }) => text).join('') || prompt.text;
    const references = [...new Set(benchmark.references?.(item) ?? [record.gold])];
    const choices = benchmark.choices(item)?.texts ?? null;
    const base = {
      schema_version: everyEvalEverVersion,
      evaluation_id: evaluationId,
      model_id: run.model.name,
      evaluation_name: run.benchmark.task,
    };
    const sample = {
      sample_id: String(record.index),
      sample_hash: sha256(raw + references.join('')),
      interaction_type: 'single_turn',
      input: { raw, formatted: prompt.text, reference: references, choices },
    };
    const usage = {
      token_usage: {
        input_tokens: record.prompt.tokens,
        output_tokens: record.outputTokens,
        total_tokens: record.prompt.tokens + record.outputTokens,
      },
    };
    const row = (score: string, filter: string, rest: Fields): string =>
      JSON.stringify({
        ...base,
        evaluation_result_id: `${evaluationId}#${score}`,
        ...sample,
        ...rest,
        ...(record.prompt.tokens > 0 && usage),
        metadata: texts({
          filter,
          prompt_hash: record.prompt.hash,
          prompt_tokens: String(record.prompt.tokens),
          output_tokens: String(record.outputTokens),
          in_format: String(record.inFormat),
          ...(record.generated !== false && { stop_reason: record.stop.reason, stop_marker: record.stop.marker }),
          cause: record.cause,
          choices: record.choices,
          likelihoods: record.likelihoods,
        }),
      });
    if (record.generated !== false) {
      yield row('S', 'strict', readingOf(record, record.strict.answer, 'strict', record.inFormat && record.right));
      yield row('L', 'lenient', readingOf(record, record.lenient.answer, 'lenient', record.lenientRight));
    }
    const verdict = likelihoodVerdict(record);
    if (verdict !== null) {
      const answer = likeliest(record);
      yield row('LL', likelihoodFilter, {
        output: { raw: [answer] },
        answer_attribution: answer === '' ? [] : attribution(answer, 'likeliest choice'),
        evaluation: { score: verdict ? 1 : 0, is_correct: verdict },
      });
    }
  }
}

/** What stands in the place of a filter where likelihoods were compared. */
export const likelihoodFilter = 'likelihood';

/** Whole texts (rolling log-likelihoods) have no answer: nothing to write of an item. */
const hasRow = (record: ItemRecord): boolean => record.generated !== false || likelihoodVerdict(record) !== null;

/** The candidate with the highest likelihood; without candidates, the target where the model would have written it. */
function likeliest({ choices, likelihoods, gold }: ItemRecord): string {
  if (choices) return choices.texts[choices.logLikelihoods.indexOf(Math.max(...choices.logLikelihoods))] ?? '';
  return likelihoods?.[0]?.greedy ? gold : '';
}

function readingOf(record: ItemRecord, answer: string | null, method: string, right: boolean): Fields {
  return {
    output: { raw: [record.output, ...(record.repeats ?? []).map(({ output }) => output)] },
    answer_attribution: answer === null ? [] : attribution(answer, method),
    evaluation: { score: right ? 1 : 0, is_correct: right },
  };
}

const attribution = (answer: string, method: string): Fields[] => [
  { turn_idx: 0, source: 'output.raw', extracted_value: answer, extraction_method: method, is_terminal: true },
];
