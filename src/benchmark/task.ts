/** A benchmark that is ready to be used: data read, prompts rendered, outputs judged. */
import { HumanError } from '../shared/errors.ts';
import type { GenerationOptions, Reading, SoftPromptSettings, StopReason } from '../shared/results.ts';
import { causeOf } from './causes.ts';
import type { Configuration } from './configuration.ts';
import { readSplit, resolveFiles, type Split } from './data.ts';
import {
  choicesOf,
  endsQuestion,
  exampleText,
  forItem,
  type Gold,
  goldOf,
  questionTurn,
  resolveField,
} from './documents.ts';
import { exactMatch, normalise } from './exact-match.ts';
import { FewShotSampler } from './few-shot.ts';
import type { FilterContext, FilterPipeline } from './filters.ts';
import { letterAsOption, listedOptions } from './listed-options.ts';
import { str, strip } from './python.ts';
import { inferKind, nothing, type Reader, type ReaderContext, readers } from './readers.ts';
import type { Settings } from './settings.ts';
import type { AnswerKind, Benchmark, Item, Judgement, OutputType, RenderedPrompt } from './types.ts';

/** Items that kind, stop markers and checks are taken from. */
export const sampleSize = 200;

export class TaskBenchmark implements Benchmark {
  readonly file: string;
  readonly task: string;
  readonly outputType: OutputType;
  readonly answerKind: AnswerKind;
  readonly sources: Benchmark['sources'];
  readonly generation: GenerationOptions;
  readonly shots: number;
  readonly fewShotSeed: number;
  readonly modes: Benchmark['modes'];
  readonly softPrompt: SoftPromptSettings;
  readonly limit: number | null;
  readonly readers: Benchmark['readers'];
  readonly evaluationSplit: string;
  readonly trainingSplit: string | null;
  readonly notes: readonly string[];
  private readonly strictFilter: FilterPipeline | null;
  private readonly lenientFilter: FilterPipeline | null;
  private readonly reader: Reader;
  private readonly cache = new Map<string, Promise<Split>>();
  private sampler: Promise<{ sampler: FewShotSampler; pool: readonly Item[] }> | null = null;
  private readonly evaluated: ReadonlySet<Item>;

  private constructor(
    private readonly settings: Settings,
    configuration: Configuration,
    readonly configDigest: string,
    files: ReadonlyMap<string, string[]>,
    evaluation: Split,
  ) {
    const { splits, softbench } = settings;
    this.file = configuration.file;
    this.task = settings.task;
    this.outputType = settings.outputType;
    this.evaluationSplit = splits.test ?? splits.validation ?? '';
    const others = [splits.training, splits.validation, splits.fewShot];
    this.trainingSplit = others.find((split) => split !== null && split !== this.evaluationSplit) ?? null;
    this.cache.set(this.evaluationSplit, Promise.resolve(evaluation));
    this.files = files;
    this.evaluated = new Set(evaluation.items);
    this.sources = { configuration: configuration.files, data: [...new Set([...files.values()].flat())] };
    this.shots = settings.shots || softbench.shots;
    this.fewShotSeed = softbench.fewShotSeed;
    this.limit = softbench.limit;
    this.notes = settings.notes;
    this.softPrompt = softbench.softPrompt;
    this.modes = softbench.modes.filter((mode) => this.trainingSplit !== null || !mode.includes('soft-prompt'));

    const byName = (name: string | null): FilterPipeline | null =>
      settings.filters.find((filter) => filter.name === name) ?? null;
    const named = softbench.strict !== null;
    this.strictFilter = named
      ? byName(softbench.strict)
      : (settings.filters.find((filter) => filter.hasPattern) ?? settings.filters[0] ?? null);
    this.lenientFilter =
      softbench.lenient !== null
        ? byName(softbench.lenient)
        : (settings.filters.find((filter) => filter !== this.strictFilter && /flex/i.test(filter.name)) ?? null);
    this.readers = { strict: this.strictFilter?.name ?? 'built-in', lenient: this.lenientFilter?.name ?? 'built-in' };

    const sample = evaluation.items.slice(0, sampleSize);
    this.answerKind = softbench.answer ?? this.inferKind(sample);
    if (this.answerKind === 'choice' && settings.turn.choice === null) this.labels = this.labelsOf(evaluation.items);
    this.reader = readers[this.answerKind];
    this.generation = this.readGeneration(sample);
  }

  private readonly files: ReadonlyMap<string, string[]>;
  /** The answers that occur, where they are few and the file lists no candidates: `answer1` to `answer5`, `valid`, `invalid`. */
  private readonly labels: readonly string[] = [];

  /** @throws HumanError where data is missing or broken, or a template does not fit the first item */
  static async open(settings: Settings, configuration: Configuration, configDigest: string): Promise<TaskBenchmark> {
    const files = new Map<string, string[]>();
    const folders = configuration.foldersOf('dataset_kwargs');
    const name = settings.splits.test ?? settings.splits.validation;
    const patterns = settings.data.splits.get(name ?? '');
    if (name === null || !patterns) throw noSplit(name ?? '', settings);
    for (const [split, wanted] of settings.data.splits)
      if (Object.values(settings.splits).includes(split)) files.set(split, await resolveFiles(wanted, folders));
    const evaluation = await readSplit(files.get(name) ?? [], settings.data.format, settings.data.options);
    if (evaluation.items.length === 0)
      throw new HumanError('bad-input', `The split "${name}" has no rows.`, {
        place: { file: evaluation.files[0] ?? configuration.file },
      });
    return new TaskBenchmark(settings, configuration, configDigest, files, evaluation);
  }

  // ------------------------------------------------------------------ data

  private split(name: string): Promise<Split> {
    const known = this.cache.get(name);
    if (known) return known;
    const files = this.files.get(name);
    if (!files) throw noSplit(name, this.settings);
    const read = readSplit(files, this.settings.data.format, this.settings.data.options);
    this.cache.set(name, read);
    // A file that was broken may be mended: try again next time.
    read.catch(() => this.cache.delete(name));
    return read;
  }

  async items(split: 'evaluation' | 'training' | 'fewshot'): Promise<readonly Item[]> {
    if (split === 'evaluation') return (await this.split(this.evaluationSplit)).items;
    if (split === 'training') return this.trainingSplit === null ? [] : (await this.split(this.trainingSplit)).items;
    return this.fewShotPool();
  }

  async dataDigest(split: 'evaluation' | 'training'): Promise<string> {
    const name = split === 'evaluation' ? this.evaluationSplit : this.trainingSplit;
    return name === null ? '' : (await this.split(name)).digest;
  }

  /** `fewshot_split`, the examples in the file, else training, validation, test. */
  private async fewShotPool(): Promise<readonly Item[]> {
    const { splits, samples } = this.settings;
    if (splits.fewShot === null && samples)
      return samples.map((fields, index) => ({ index, fields, place: { file: this.file } }));
    return (await this.split(splits.fewShot ?? splits.training ?? this.evaluationSplit)).items;
  }

  // --------------------------------------------------------------- prompts

  async prompt(item: Item, shots: number): Promise<RenderedPrompt> {
    const parts: RenderedPrompt['parts'] = [];
    const add = (kind: RenderedPrompt['parts'][number]['kind'], text: string): void => {
      if (text !== '') parts.push({ kind, text });
    };
    const examples = shots > 0 ? await this.examples(item, shots) : [];
    forItem(item, () => {
      add('description', resolveField(this.settings.description, item.fields));
      for (const example of examples)
        add(
          'example',
          forItem(example, () => exampleText(this.settings.example, example.fields)),
        );
      const turn = questionTurn(this.settings.turn, item.fields);
      add('question', turn.question);
      add('generation-prefix', turn.prefix);
    });
    return { text: parts.map((part) => part.text).join(''), parts };
  }

  private async examples(item: Item, shots: number): Promise<readonly Item[]> {
    this.sampler ??= this.makeSampler();
    const { sampler, pool } = await this.sampler;
    try {
      const positions = this.evaluated.has(item)
        ? sampler.examples(item.index, shots)
        : sampler.examplesForOther(item.fields, item.index, shots);
      return positions.flatMap((position) => pool[position] ?? []);
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      throw new HumanError('bad-input', `There are only ${pool.length} rows to draw ${shots} few-shot examples from.`, {
        place: { file: this.file },
        todo: 'Lower `num_fewshot`, or give a larger `fewshot_split`.',
      });
    }
  }

  private async makeSampler(): Promise<{ sampler: FewShotSampler; pool: readonly Item[] }> {
    const pool = await this.fewShotPool();
    const items = await this.items('evaluation');
    const { splits, sampler } = this.settings;
    const made = new FewShotSampler(
      pool.map((entry) => entry.fields),
      items.map((entry) => entry.fields),
      // As the harness decides it: also where neither split is given.
      { sampler, seed: this.fewShotSeed, leaveOut: splits.fewShot === splits.test },
    );
    return { sampler: made, pool };
  }

  // --------------------------------------------------------------- answers

  private gold(item: Item): Gold {
    return forItem(item, () => goldOf(this.settings.turn, item.fields));
  }

  target(item: Item): { delimiter: string; text: string } {
    const text = this.gold(item).texts[0] ?? '';
    const { targetDelimiter } = this.settings.turn;
    const { prefix } = forItem(item, () => questionTurn(this.settings.turn, item.fields));
    if (prefix === '' || this.outputType === 'multiple_choice') return { delimiter: targetDelimiter, text };
    return { delimiter: endsQuestion(prefix, text), text };
  }

  trainingAnswer(item: Item): { text: string; endsWithEos: boolean } {
    const { delimiter, text } = this.target(item);
    // A marker such as </s> or <|im_end|> is the model's end of text, not something to write out.
    const marker = this.generation.until[0];
    const isEos = marker === undefined || /^<[|/]?[^<>\s]+[|]?>$/.test(marker);
    return { text: delimiter + text + (isEos ? '' : marker), endsWithEos: isEos };
  }

  choices(item: Item): { texts: string[]; gold: number } | null {
    return forItem(item, () => {
      const texts = choicesOf(this.settings.turn.choice, item.fields);
      if (texts === null) return null;
      return { texts: texts.map(str), gold: goldOf(this.settings.turn, item.fields).index ?? 0 };
    });
  }

  // --------------------------------------------------------------- reading

  private questionText(item: Item): string {
    return forItem(item, () => questionTurn(this.settings.turn, item.fields)).question;
  }

  /** Candidates as the readers need them: texts behind the letters where letters are asked for. */
  private readerContext(item: Item): ReaderContext {
    const question = this.questionText(item);
    const choices = forItem(item, () => choicesOf(this.settings.turn.choice, item.fields))?.map(str) ?? [];
    if (this.answerKind !== 'letter') return { options: choices.length > 0 ? choices : this.labels, question };
    const listed = listedOptions(question);
    return { options: listed.length > 0 ? listed : choices, question };
  }

  private filterContext(item: Item): FilterContext {
    const { choices } = item.fields;
    return { choices: Array.isArray(choices) ? choices.map(str) : null };
  }

  private exactly(item: Item, answer: string): boolean {
    return this.gold(item).texts.some((gold) => exactMatch(answer, gold, this.settings.metric));
  }

  /** The right answers in the form that the readers give: what the strict filter takes out of them, else what the metric compares. */
  private goldAnswers(item: Item): string[] {
    return this.gold(item).texts.map((gold) => this.coreOf(gold, this.filterContext(item)));
  }

  private coreOf(gold: string, context: FilterContext): string {
    const read = this.strictFilter?.hasPattern ? this.strictFilter.read(gold, context).reading.answer : null;
    const core = read ?? gold;
    return strip(
      normalise(core, { ...this.settings.metric, ignoreCase: false, ignorePunctuation: false, ignoreNumbers: false }),
    );
  }

  private same(item: Item, answer: string): boolean {
    return this.exactly(item, answer) || this.goldAnswers(item).some((gold) => this.reader.same(answer, gold));
  }

  isRight(item: Item, answer: string): boolean {
    return this.strictFilter ? this.exactly(item, answer) : this.same(item, answer);
  }

  private readStrict(
    item: Item,
    output: string,
    context: ReaderContext,
  ): Pick<Judgement, 'strict' | 'inFormat' | 'right'> {
    const filter = this.strictFilter;
    if (filter) {
      const { reading, text } = filter.read(output, this.filterContext(item));
      const right = reading.answer !== null && this.exactly(item, text);
      if (filter.hasPattern) return { strict: reading, inFormat: reading.answer !== null, right };
      // Filters that only tidy define no format of their own: the built-in form counts, and what scores is in it.
      const inFormat = right || this.reader.strict(output, context).answer !== null;
      return { strict: reading, inFormat, right };
    }
    const read = this.reader.strict(output, context);
    if (read.answer !== null) return { strict: read, inFormat: true, right: this.same(item, read.answer) };
    const lettered =
      this.outputType === 'multiple_choice' && this.answerKind !== 'letter' ? letterAsOption(output, context) : null;
    if (lettered) return { strict: lettered, inFormat: true, right: this.same(item, lettered.answer ?? '') };
    const right = this.exactly(item, strip(output)) && strip(output) !== '';
    const start = output.indexOf(strip(output));
    return right
      ? { strict: { answer: strip(output), span: [start, start + strip(output).length] }, inFormat: true, right }
      : { strict: nothing, inFormat: false, right: false };
  }

  judge(item: Item, output: string, stop: { reason: StopReason; marker?: string }): Judgement {
    const context = this.readerContext(item);
    const read = this.readStrict(item, output, context);
    // A form that the built-in readers check goes up to the stop: an output that never stopped does not have it.
    const unfinished = stop.reason === 'length' && !this.strictFilter?.hasPattern && !(this.strictFilter && read.right);
    const strict = unfinished ? { strict: nothing, inFormat: false, right: false } : read;
    const lenient = this.readLenient(item, output, context, strict);
    const cause = strict.inFormat
      ? null
      : causeOf({
          output,
          stop: stop.reason,
          kind: this.answerKind,
          lenient: lenient.reading,
          options: context.options,
          question: context.question,
          accepts: (text) => this.readStrict(item, text, context).inFormat,
        });
    return { ...strict, lenient: lenient.reading, lenientRight: lenient.right, cause };
  }

  private readLenient(
    item: Item,
    output: string,
    context: ReaderContext,
    strict: Pick<Judgement, 'strict' | 'right'>,
  ): { reading: Reading; right: boolean } {
    if (this.lenientFilter) {
      const { reading, text } = this.lenientFilter.read(output, this.filterContext(item));
      return { reading, right: reading.answer !== null && this.exactly(item, text) };
    }
    // The built-in reader is asked only where the form is not there: what is right strictly is right leniently.
    if (strict.strict.answer !== null && (this.strictFilter?.hasPattern || strict.right))
      return { reading: strict.strict, right: strict.right || this.same(item, strict.strict.answer) };
    const reading = this.reader.lenient(output, context);
    return { reading, right: reading.answer !== null && this.same(item, reading.answer) };
  }

  /** @throws HumanError where a filter needs a field that the item has not */
  checkFilterFields(item: Item): void {
    const filter = this.settings.filters.find(({ needsChoices }) => needsChoices);
    if (filter && !Array.isArray(item.fields.choices))
      throw new HumanError(
        'bad-input',
        `Item ${item.index}: the filter \`${filter.name}\` uses \`multi_choice_regex\`, which needs a field "choices" with the list of candidates.`,
        { place: item.place },
      );
  }

  /** Is the right answer's own text in the required format, and right? For the check of the file. */
  goldVerdict(item: Item): { text: string; inFormat: boolean; right: boolean } {
    const { delimiter, text } = this.target(item);
    const { inFormat, right } = this.readStrict(item, delimiter + text, this.readerContext(item));
    return { text, inFormat, right };
  }

  // -------------------------------------------------------------- inference

  private inferKind(sample: readonly Item[]): AnswerKind {
    const options = sample.flatMap(
      (item) => forItem(item, () => choicesOf(this.settings.turn.choice, item.fields))?.map(str) ?? [],
    );
    const golds = sample.flatMap((item) => this.goldAnswers(item));
    const kind = inferKind(golds, options.length > 0 ? options : null);
    // A few answers that come again and again are labels: the form is "one of them", not "any text".
    const labels = new Set(golds).size;
    return kind === 'text' && sample.length >= 20 && labels <= Math.min(12, sample.length / 4) ? 'choice' : kind;
  }

  /** The different right answers, sorted; none where there are too many to be a choice. */
  private labelsOf(items: readonly Item[]): string[] {
    const labels = new Set(items.flatMap((item) => this.goldAnswers(item)));
    return labels.size <= 50 ? [...labels].sort() : [];
  }

  private readGeneration(sample: readonly Item[]): GenerationOptions {
    const { settings } = this;
    const { maxNewTokens, ...sampling } = settings.generation;
    if (this.outputType !== 'multiple_choice')
      return {
        until: settings.until ?? [settings.turn.fewShotDelimiter],
        maxNewTokens: maxNewTokens ?? 256,
        ...sampling,
      };
    // The generated reading beside the likelihoods: one line where every choice is one line, with room for the longest.
    const texts = sample.flatMap((item) => this.choices(item)?.texts ?? []);
    const longest = Math.max(0, ...texts.map((text) => text.length));
    return {
      until: settings.until ?? [texts.some((text) => text.includes('\n')) ? settings.turn.fewShotDelimiter : '\n'],
      maxNewTokens: maxNewTokens ?? Math.min(256, Math.max(16, Math.ceil(longest / 2) + 8)),
      ...sampling,
    };
  }
}

function noSplit(name: string, settings: Settings): HumanError {
  const known = [...settings.data.splits.keys()].map((split) => `"${split}"`).join(', ');
  return new HumanError(
    'bad-input',
    `There is no split "${name}" in \`data_files\`${known ? `, which has ${known}` : ''}.`,
  );
}
