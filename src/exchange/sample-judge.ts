/**
 * From lm-evaluation-harness's samples to our item records. The files decide what was read and what was right: the row of
 * the strict filter gives F and S, that of the lenient one L. Built-in readers fill in what no filter gives: whether an
 * output of a task without a pattern has the form, the lenient answer, and why a form was missed.
 */
import { causeOf } from '../benchmark/causes.ts';
import { type ExactMatchOptions, exactMatch, plainMatch } from '../benchmark/exact-match.ts';
import { FilterPipeline, filterTable } from '../benchmark/filters.ts';
import { listedOptions } from '../benchmark/listed-options.ts';
import { strip } from '../benchmark/python.ts';
import { inferKind, nothing, type ReaderContext, readers } from '../benchmark/readers.ts';
import type { AnswerKind } from '../benchmark/types.ts';
import { notJudged } from '../evaluate/records.ts';
import type { FilteredMetrics, ItemRecord, MetricValue, Reading } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf } from './foreign.ts';
import { asSum, type LmEvalSample } from './lm-eval-samples.ts';

/** Which rows are read as what. */
export interface FilterPlan {
  /** Filters in the order of the file. */
  names: readonly string[];
  strict: string;
  /** Null: the built-in reader. */
  lenient: string | null;
  /** The strict filter looks for a pattern, and so defines the format. */
  hasPattern: boolean;
}

const filterList = (config: Fields): { name: string; steps: Fields[] }[] =>
  listOf(config.filter_list).map((entry) => ({
    name: textOf(fieldsOf(entry).name) ?? '',
    steps: listOf(fieldsOf(entry).filter).map(fieldsOf),
  }));

const looksForPattern = (steps: readonly Fields[]): boolean =>
  steps.some((step) => filterTable.get(String(step.function))?.pattern ?? 'regex_pattern' in step);

/** Filters of a task's configuration in their order; where a file names none, `none`. */
export function filterNames(config: Fields): string[] {
  const names = filterList(config).map(({ name }) => name);
  return names.length > 0 ? names : ['none'];
}

/** @param names of the filters that the rows have */
export function planFilters(config: Fields, names: readonly string[]): FilterPlan {
  const wanted = fieldsOf(fieldsOf(config.metadata).softbench);
  const known = (name: string | null): string | undefined => names.find((each) => each === name);
  const listed = filterList(config);
  // Without the configuration a name must do: these are the ones that lm-eval's own tasks give filters with a pattern.
  const pattern = (name: string): boolean => {
    const steps = listed.find((entry) => entry.name === name)?.steps;
    return steps ? looksForPattern(steps) : /strict|get[-_]answer|extract|regex/i.test(name);
  };
  const strict =
    known(textOf(wanted.strict)) ??
    names.find((name) => pattern(name) && !/flex/i.test(name)) ??
    names.find(pattern) ??
    names[0] ??
    'none';
  const lenient =
    known(textOf(wanted.lenient)) ?? names.find((name) => name !== strict && /flex|lenient/i.test(name)) ?? null;
  return { names, strict, lenient, hasPattern: pattern(strict) };
}

/** The filter's pipeline, to see where in an output its answer stands; null where it cannot be built here. */
function pipelineOf(config: Fields, name: string): FilterPipeline | null {
  const entry = filterList(config).find((each) => each.name === name);
  if (!entry) return null;
  try {
    const stages = entry.steps.map(({ function: kind, ...options }) => {
      const row = filterTable.get(String(kind));
      if (!row) throw new Error(`no filter ${String(kind)}`);
      return row.build(options);
    });
    return new FilterPipeline(name, stages, looksForPattern(entry.steps));
  } catch {
    return null;
  }
}

/** What the other filters' rows say of a document. */
export type OtherRows = ReadonlyMap<string, FilteredMetrics>;

const answerKinds: readonly AnswerKind[] = ['number', 'letter', 'choice', 'yes-no', 'text', 'json'];

export class SampleJudge {
  readonly answerKind: AnswerKind;
  readonly primaryMetric: string | null;
  private readonly strict: FilterPipeline | null;
  private readonly lenient: FilterPipeline | null;
  private readonly fallback: string;
  private readonly exactMatch: ExactMatchOptions;

  /** @param first some of the rows: answer kind and metric are taken from them */
  constructor(
    private readonly config: Fields,
    readonly plan: FilterPlan,
    first: readonly LmEvalSample[],
  ) {
    this.strict = pipelineOf(config, plan.strict);
    this.lenient = plan.lenient === null ? null : pipelineOf(config, plan.lenient);
    const steps = filterList(config).find(({ name }) => name === plan.strict)?.steps ?? [];
    this.fallback = steps.map((step) => textOf(step.fallback)).find((text) => text !== null) ?? '[invalid]';
    this.primaryMetric = primaryMetric(config, first);
    this.exactMatch = exactMatchOf(config);
    const wanted = textOf(fieldsOf(fieldsOf(config.metadata).softbench).answer);
    const golds = first.flatMap((sample) => this.goldCores(sample));
    const choices = first.flatMap((sample) => this.choicesOf(sample));
    this.answerKind =
      answerKinds.find((kind) => kind === wanted) ?? inferKind(golds, choices.length > 0 ? choices : null);
  }

  /** Candidates: those whose likelihoods were compared, else those of the configuration or the document. */
  private choicesOf(sample: LmEvalSample): string[] {
    if (isComparison(sample)) return candidates(sample).map((text) => text.replace(/^ /, ''));
    return sample.choices ?? textsOf(this.config.doc_to_choice);
  }

  /** The right answers as texts: the number of a candidate becomes the candidate. */
  golds(sample: LmEvalSample): string[] {
    const choices = this.choicesOf(sample);
    return sample.targets.map((target) => (/^\d+$/.test(target) ? (choices[Number(target)] ?? target) : target));
  }

  /** What the strict filter takes out of the right answers: `18` of a worked solution that ends with `#### 18`. */
  goldCores(sample: LmEvalSample): string[] {
    const { choices } = fieldsOf(sample.doc);
    return this.golds(sample).map((gold) => {
      const read = this.plan.hasPattern
        ? this.strict?.read(gold, { choices: Array.isArray(choices) ? choices.map(String) : null }).reading.answer
        : null;
      return strip(read ?? gold);
    });
  }

  private context(sample: LmEvalSample, question: string): ReaderContext {
    const choices = this.choicesOf(sample);
    const listed = this.answerKind === 'letter' ? listedOptions(question) : [];
    return { options: listed.length > 0 ? listed : choices, question };
  }

  /** The record of a document. `row` is that of the strict filter. */
  record(row: LmEvalSample, others: OtherRows): ItemRecord {
    const context = row.requests[0]?.context ?? '';
    const metrics = this.plan.names.flatMap((name): FilteredMetrics[] => {
      const of = name === this.plan.strict ? this.metricsOf(name, row) : others.get(name);
      return of ? [of] : [];
    });
    const base = {
      schema: 1 as const,
      index: row.docId,
      prompt: { hash: row.promptHash ?? sha256(context), tokens: 0 },
      outputTokens: 0,
      stop: { reason: 'stop-string' as const },
      gold: this.golds(row)[0] ?? '',
      metrics,
    };
    return this.isGenerated(row) ? { ...base, ...this.generated(row, others, context) } : { ...base, ...compared(row) };
  }

  private isGenerated(row: LmEvalSample): boolean {
    const type = textOf(this.config.output_type);
    if (type !== null) return type === 'generate_until' || type === 'greedy_until';
    return row.responses[0]?.every((response) => 'text' in response) ?? true;
  }

  /** What a row of any filter says, for the record. */
  metricsOf(filter: string, { filtered, values, responses }: LmEvalSample): FilteredMetrics {
    const [first] = responses[0] ?? [];
    return { filter, ...(first && 'text' in first && { answer: filtered }), values };
  }

  private isRight(values: Record<string, MetricValue> | undefined): boolean | null {
    const value = this.primaryMetric === null ? undefined : values?.[this.primaryMetric];
    return typeof value === 'number' || typeof value === 'boolean' ? Number(value) === 1 : null;
  }

  private same(row: LmEvalSample, answer: string): boolean {
    const reader = readers[this.answerKind];
    return this.goldCores(row).some((gold) => strip(answer) === gold || reader.same(answer, gold));
  }

  private generated(row: LmEvalSample, others: OtherRows, context: string): Omit<ItemRecord, keyof typeof emptyBase> {
    const texts = (row.responses[0] ?? []).map((response) =>
      'text' in response ? response.text : String(response.sum),
    );
    const output = texts[0] ?? '';
    const question = questionOf(this.config, context);
    const readerContext = this.context(row, question);
    const { strict, inFormat, right } = this.strictReading(row, output, readerContext);
    const lenient = this.lenientReading(row, others, output, readerContext, { strict, right });
    return {
      output,
      ...(texts.length > 1 && {
        repeats: texts
          .slice(1)
          .map((text) => ({ output: text, outputTokens: 0, stop: { reason: 'stop-string' as const } })),
      }),
      strict,
      inFormat,
      right,
      lenient: lenient.reading,
      lenientRight: lenient.right,
      cause: inFormat
        ? null
        : causeOf({
            output,
            stop: 'stop-string',
            kind: this.answerKind,
            lenient: lenient.reading,
            options: readerContext.options,
            question,
            accepts: (text) => this.accepts(text, readerContext),
          }),
    };
  }

  private strictReading(
    row: LmEvalSample,
    output: string,
    context: ReaderContext,
  ): { strict: Reading; inFormat: boolean; right: boolean } {
    const own = this.ofFirst(row, this.strict, output);
    const reader = readers[this.answerKind];
    if (this.plan.hasPattern) {
      if (own) return { strict: own.reading, inFormat: own.reading.answer !== null, right: own.right };
      const taken = answerText(row.filtered);
      const inFormat = taken !== this.fallback;
      return {
        strict: inFormat ? this.locate(this.strict, taken, output, 'first') : nothing,
        inFormat,
        right: inFormat && (this.isRight(row.values) ?? this.same(row, taken)),
      };
    }
    const read = reader.strict(output, context);
    const said = own ? own.right : isRepeated(row) ? null : this.isRight(row.values);
    const right = said ?? (read.answer !== null && this.same(row, read.answer));
    const strict = own ? own.reading : read.answer === null && right ? wholeOf(output) : read;
    return { strict, inFormat: right || read.answer !== null, right };
  }

  /**
   * What a filter reads in the first of several outputs, which F, S, K and L are of: the row has what it made of all of
   * them, such as a vote. Null where the row speaks of the one output that there is, or where the filter is not known.
   */
  private ofFirst(
    row: LmEvalSample,
    filter: FilterPipeline | null,
    output: string,
  ): { reading: Reading; right: boolean } | null {
    if (!isRepeated(row) || !filter) return null;
    const { choices } = fieldsOf(row.doc);
    const { reading, text } = filter.read(output, { choices: Array.isArray(choices) ? choices.map(String) : null });
    return { reading, right: reading.answer !== null && this.exactly(row, text) };
  }

  private exactly(row: LmEvalSample, answer: string): boolean {
    return this.golds(row).some((gold) => exactMatch(answer, gold, this.exactMatch));
  }

  private accepts(text: string, context: ReaderContext): boolean {
    if (this.plan.hasPattern && this.strict)
      return this.strict.read(text, { choices: [...context.options] }).reading.answer !== null;
    return readers[this.answerKind].strict(text, context).answer !== null;
  }

  private lenientReading(
    row: LmEvalSample,
    others: OtherRows,
    output: string,
    context: ReaderContext,
    { strict, right }: { strict: Reading; right: boolean },
  ): { reading: Reading; right: boolean } {
    const own = this.ofFirst(row, this.lenient, output);
    if (own) return own;
    const other = this.plan.lenient === null ? undefined : others.get(this.plan.lenient);
    if (other) {
      const taken = answerText(other.answer ?? '');
      const missed = taken === '[invalid]';
      return {
        reading: missed ? nothing : this.locate(this.lenient, taken, output, 'last'),
        right: this.isRight(other.values) ?? (!missed && this.same(row, taken)),
      };
    }
    if (strict.answer !== null && (this.plan.hasPattern || right))
      return { reading: strict, right: right || this.same(row, strict.answer) };
    const reading = readers[this.answerKind].lenient(output, context);
    return { reading, right: reading.answer !== null && this.same(row, reading.answer) };
  }

  /** Where an answer stands in the output: as the filter itself finds it, else the first or last place that has its text. */
  private locate(filter: FilterPipeline | null, answer: string, output: string, side: 'first' | 'last'): Reading {
    const read = filter?.read(output, { choices: null }).reading;
    if (read?.answer === answer && read.span) return read;
    const at = answer === '' ? -1 : side === 'first' ? output.indexOf(answer) : output.lastIndexOf(answer);
    return { answer, span: at < 0 ? null : [at, at + answer.length] };
  }
}

/** The keys that a record has whatever was asked. */
const emptyBase = { schema: 1, index: 0, prompt: 0, outputTokens: 0, stop: 0, gold: '', metrics: 0 };

/** Several outputs of one prompt (`repeats`). */
export const isRepeated = ({ responses }: LmEvalSample): boolean => (responses[0]?.length ?? 0) > 1;

/** What `exact_match` ignores, as the task's configuration says. */
function exactMatchOf(config: Fields): ExactMatchOptions {
  const options = listOf(config.metric_list)
    .map(fieldsOf)
    .find(({ metric }) => metric === 'exact_match');
  if (!options) return plainMatch;
  const patterns =
    typeof options.regexes_to_ignore === 'string' ? [options.regexes_to_ignore] : options.regexes_to_ignore;
  return {
    regexesToIgnore: textsOf(patterns),
    ignoreCase: options.ignore_case === true,
    ignorePunctuation: options.ignore_punctuation === true,
    ignoreNumbers: options.ignore_numbers === true,
  };
}

/** Several candidates behind one context, or one behind several. */
const isComparison = (row: LmEvalSample): boolean =>
  row.responses.length > 1 && row.requests.every(({ continuation }) => continuation !== null);

/** The texts of the candidates; the second half of twice as many is without the context (`acc_mutual_info`). */
function candidates({ requests }: LmEvalSample): string[] {
  const half = requests.length / 2;
  const unconditional = requests.length % 2 === 0 && requests.slice(half).every(({ context }) => context === '');
  const asked = unconditional && requests[0]?.context !== '' ? requests.slice(0, half) : requests;
  const continuations = asked.map(({ continuation }) => continuation ?? '');
  // Whole contexts are compared (WinoGrande): the candidates are what differs.
  return new Set(continuations).size === 1 && asked.length > 1 ? asked.map(({ context }) => context) : continuations;
}

/** What stands in a record where only likelihoods were measured. */
export const nothingGenerated = {
  output: '',
  ...notJudged,
  generated: false as const,
};

/** Likelihoods only. */
function compared(row: LmEvalSample): Omit<ItemRecord, keyof typeof emptyBase> {
  const likelihoods = row.responses.map(([response]) => ({
    sum: (response && asSum(response)) ?? Number.NaN,
    tokens: 0,
    ...(response && 'sum' in response && response.greedy !== undefined && { greedy: response.greedy }),
  }));
  if (!isComparison(row)) return { ...nothingGenerated, likelihoods };
  const texts = candidates(row);
  const sums = likelihoods.slice(0, texts.length).map(({ sum }) => sum);
  const gold = row.targets.map((target) =>
    /^\d+$/.test(target) ? Number(target) : texts.map(strip).indexOf(strip(target)),
  );
  const perCharacter = sums.map((sum, i) => sum / Math.max(1, texts[i]?.replace(/^ /, '').length ?? 1));
  const said = (metric: string): boolean | null => {
    const value = row.values[metric];
    return typeof value === 'number' ? value === 1 : null;
  };
  return {
    ...nothingGenerated,
    likelihoods,
    choices: {
      texts: texts.map((text) => text.replace(/^ /, '')),
      logLikelihoods: sums,
      gold: Math.max(0, gold[0] ?? 0),
      right: said('acc') ?? gold.includes(largest(sums)),
      rightNormalised: said('acc_norm') ?? gold.includes(largest(perCharacter)),
    },
  };
}

const largest = (values: readonly number[]): number =>
  values.reduce((best, value, i) => (value > (values[best] ?? Number.NEGATIVE_INFINITY) ? i : best), 0);

const answerText = (value: MetricValue): string =>
  Array.isArray(value)
    ? value.length === 1
      ? answerText(value[0] as MetricValue)
      : JSON.stringify(value)
    : String(value);

function wholeOf(output: string): Reading {
  const answer = strip(output);
  const start = output.indexOf(answer);
  return { answer, span: [start, start + answer.length] };
}

/** The item's own question: what follows the last example. */
function questionOf(config: Fields, context: string): string {
  const delimiter = typeof config.fewshot_delimiter === 'string' ? config.fewshot_delimiter : '\n\n';
  const shots = Number(config.num_fewshot ?? 0);
  return shots > 0 && delimiter !== '' ? context.slice(context.lastIndexOf(delimiter) + delimiter.length) : context;
}

/** The metric that says right or wrong: the first of the configuration that is 0 or 1 everywhere, else the first such. */
function primaryMetric(config: Fields, rows: readonly LmEvalSample[]): string | null {
  const listed = listOf(config.metric_list).flatMap((entry) => textOf(fieldsOf(entry).metric) ?? []);
  const found = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
  const isVerdict = (name: string): boolean =>
    rows.length > 0 &&
    rows.every(({ values }) => {
      const value = values[name];
      return value === undefined || value === 0 || value === 1 || typeof value === 'boolean';
    });
  return [...listed, ...found].find((name) => found.includes(name) && isVerdict(name)) ?? null;
}
