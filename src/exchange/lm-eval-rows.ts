/**
 * A run's items as the rows of a samples file of lm-evaluation-harness 0.4.13 (evaluator.py and
 * loggers/evaluation_tracker.py): one a filter and document, with the same keys in the same order, the same hashes, and
 * Python's own way to write numbers.
 */
import { float, PythonFloat, str } from '../benchmark/python.ts';
import { pythonJson } from '../benchmark/python-json.ts';
import type { Benchmark, Item, ItemRequest, ItemResponse } from '../benchmark/types.ts';
import { answeredOf } from '../evaluate/records.ts';
import { HumanError } from '../shared/errors.ts';
import type { FilteredMetrics, ItemRecord, MetricValue, RunFile } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import { type Fields, fieldsOf } from './foreign.ts';

/** What stands in a row of every filter. */
interface Common {
  doc: Fields;
  target: unknown;
  arguments: Record<string, Record<string, unknown>>;
  resps: unknown[];
  hashes: { doc_hash: string; prompt_hash: string; target_hash: string };
}

export class SampleRows {
  private readonly generation: Fields;

  constructor(
    private readonly run: RunFile,
    private readonly benchmark: Benchmark,
  ) {
    this.generation = generationKwargs(benchmark);
  }

  /** Names of the filters, in the order of the file. */
  filters(records: readonly ItemRecord[], items: ReadonlyMap<number, Item>): string[] {
    const [record] = records;
    const item = record && items.get(record.index);
    return record && item ? this.metricsOf(item, record).map(({ filter }) => filter) : [];
  }

  /** The item's row for a filter, as it stands in the file, and its three hashes one behind the other. */
  async row(item: Item, record: ItemRecord, filter: string): Promise<{ line: string; hashes: string }> {
    const { doc, target, arguments: args, resps, hashes } = await this.common(item, record);
    const measured = this.metricsOf(item, record).find((each) => each.filter === filter);
    const values = Object.entries(measured?.values ?? {});
    const line = pythonJson({
      doc_id: item.index,
      doc,
      target: str(target),
      arguments: args,
      resps,
      filtered_resps: measured?.answer === undefined ? resps.map((entry) => first(entry)) : [asTexts(measured.answer)],
      filter,
      metrics: values.map(([name]) => name),
      ...hashes,
      ...Object.fromEntries(values.map(([name, value]) => [name, metricValue(name, value, this.benchmark.outputType)])),
    });
    return { line, hashes: hashes.doc_hash + hashes.prompt_hash + hashes.target_hash };
  }

  /** What each filter left and what it is worth. Runs of before the metrics of the file were kept: counted again. */
  metricsOf(item: Item, record: ItemRecord): FilteredMetrics[] {
    if (record.metrics && record.metrics.length > 0) return record.metrics;
    const measured = this.benchmark.measure?.(item, responsesOf(record));
    if (this.run.predictOnly && measured) return measured.map((of) => ({ ...of, values: bypassed(this.benchmark) }));
    if (measured && measured.length > 0) return measured;
    const row = (filter: string, answer: string | null, right: boolean): FilteredMetrics => ({
      filter,
      answer: answer ?? '[invalid]',
      values: { exact_match: right ? 1 : 0 },
    });
    return [
      row('strict', record.inFormat ? record.strict.answer : null, record.inFormat && record.right),
      row('lenient', record.lenient.answer, record.lenientRight),
    ];
  }

  private async common(item: Item, record: ItemRecord): Promise<Common> {
    const { benchmark, run } = this;
    const { shots } = run.settings;
    const given: readonly ItemRequest[] = benchmark.requests
      ? await benchmark.requests(item, shots)
      : [{ kind: 'generate', context: (await benchmark.prompt(item, shots)).text }];
    // Candidates and an output behind the same prompt: the harness asks for the candidates only.
    const compared = given.filter(({ kind }) => kind !== 'generate');
    const requests = compared.length > 0 ? compared : given;
    this.check(item, record, given);
    const target = benchmark.rawTarget?.(item) ?? benchmark.target(item).text;
    const texts = requests.map((request) => (request.kind === 'rolling' ? request.text : request.context));
    return {
      doc: item.fields,
      target,
      arguments: Object.fromEntries(
        requests.map((request, i) => [`gen_args_${i}`, argumentsOf(request, this.generation)]),
      ),
      resps: responses(requests, record),
      hashes: {
        doc_hash: sha256(pythonJson(item.fields, 2)),
        prompt_hash: sha256(texts[0] ?? ''),
        target_hash: sha256(str(target)),
      },
    };
  }

  /** The prompt of today must be the one that was asked: the file may have changed since. */
  private check(item: Item, record: ItemRecord, requests: readonly ItemRequest[]): void {
    const texts = requests.map((request) => (request.kind === 'rolling' ? request.text : request.context));
    if (record.prompt.hash === '' || texts.some((text) => sha256(text) === record.prompt.hash)) return;
    throw new HumanError(
      'bad-input',
      `Item ${item.index} has another prompt today than in the run ${this.run.id}: the benchmark file or its data has changed since.`,
      { place: item.place, todo: 'Bring the files back to what they were, or run the benchmark again.' },
    );
  }
}

/** `--predict_only` puts the metric `bypass` in place of all others, and only outputs have it. */
export const hasBypass = ({ outputType }: Pick<Benchmark, 'outputType'>): boolean => outputType === 'generate_until';

const bypassed = (benchmark: Benchmark): FilteredMetrics['values'] => (hasBypass(benchmark) ? { bypass: null } : {});

/** The responses as the benchmark measures them. */
function responsesOf(record: ItemRecord): ItemResponse[] {
  const { likelihoods, outputs } = answeredOf(record);
  return [...likelihoods, ...(outputs.length > 0 ? [{ kind: 'generate' as const, outputs }] : [])];
}

function argumentsOf(request: ItemRequest, generation: Fields): Record<string, unknown> {
  if (request.kind === 'rolling') return { arg_0: request.text };
  return { arg_0: request.context, arg_1: request.kind === 'generate' ? generation : request.continuation };
}

/** `resps`, with every value as its text (sanitize_list). */
function responses(requests: readonly ItemRequest[], record: ItemRecord): unknown[] {
  const sums = record.likelihoods ?? record.choices?.logLikelihoods.map((sum) => ({ sum, greedy: undefined })) ?? [];
  return requests.map((request, i) => {
    if (request.kind === 'generate') return [record.output, ...(record.repeats ?? []).map(({ output }) => output)];
    const { sum = Number.NaN, greedy = false } = sums[i] ?? {};
    const text = str(new PythonFloat(sum));
    return [request.kind === 'rolling' ? text : [text, greedy ? 'True' : 'False']];
  });
}

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

const asTexts = (value: MetricValue): unknown =>
  Array.isArray(value) ? value.map((each) => asTexts(each)) : str(value);

/** Metrics whose value of an item is an int in the harness, by the kind of task; all others are floats. */
const intMetrics: Readonly<Record<string, readonly string[]>> = {
  multiple_choice: ['exact_match', 'f1', 'mcc'],
  loglikelihood: ['acc'],
};

function metricValue(name: string, value: MetricValue, outputType: string): unknown {
  if (name === 'brier_score' && Array.isArray(value)) return [value[0], asFloats(value[1] as MetricValue)];
  // [log-likelihood, words or bytes]
  if (outputType === 'loglikelihood_rolling' && Array.isArray(value))
    return [asFloats(value[0] as MetricValue), value[1]];
  return intMetrics[outputType]?.includes(name) ? value : asFloats(value);
}

const asFloats = (value: MetricValue): unknown =>
  typeof value === 'number' ? float(value) : Array.isArray(value) ? value.map((each) => asFloats(each)) : value;

/** `generation_kwargs` as TaskConfig completes them. */
export function generationKwargs({ configuration, generation }: Benchmark): Fields {
  const given = fieldsOf(configuration?.generation_kwargs);
  const delimiter = typeof configuration?.fewshot_delimiter === 'string' ? configuration.fewshot_delimiter : '\n\n';
  if (!configuration?.generation_kwargs)
    return {
      temperature: new PythonFloat(0),
      do_sample: false,
      max_gen_toks: configuration ? 256 : generation.maxNewTokens,
      until: configuration ? [delimiter] : [...generation.until],
    };
  const kwargs: Fields = { ...given };
  if ('temperature' in kwargs) kwargs.temperature = new PythonFloat(Number(kwargs.temperature));
  if (!('until' in kwargs)) kwargs.until = [delimiter];
  return kwargs;
}
