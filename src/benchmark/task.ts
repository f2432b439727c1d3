/** A benchmark that is ready to be used: data read, prompts rendered, outputs judged. */
import { HumanError } from '../shared/errors.ts';
import type {
  ChatRequest,
  FilteredMetrics,
  GenerationOptions,
  SoftPromptSettings,
  StopReason,
} from '../shared/results.ts';
import type { Configuration } from './configuration.ts';
import { join, type Part, turnOf, writePrompt } from './conversation.ts';
import { readSplit, resolveFiles, type Split } from './data.ts';
import {
  answerText,
  choicesOf,
  endsQuestion,
  forItem,
  goldOf,
  hasContexts,
  questionsOf,
  questionText,
  resolveField,
  targetOf,
} from './documents.ts';
import { FewShotSampler } from './few-shot.ts';
import { Judge, sampleSize } from './judging.ts';
import { Measures } from './measuring.ts';
import { endsWithSpace, PythonError, str } from './python.ts';
import { requestsOf } from './requests.ts';
import type { Settings, TurnTemplates } from './settings.ts';
import type {
  AnswerKind,
  Benchmark,
  Chat,
  Item,
  ItemResponse,
  Judgement,
  OutputType,
  RenderedPrompt,
} from './types.ts';

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
  readonly chatRequest?: ChatRequest;
  readonly metricList: Benchmark['metricList'];
  readonly repeats: number;
  readonly generates: boolean;
  readonly configuration: Readonly<Record<string, unknown>>;
  private readonly judging: Judge;
  private readonly measures: Measures;
  private readonly cache = new Map<string, Promise<Split>>();
  /** In an object of its own, which {@link withChat} shares. */
  private readonly drawing: { sampler: Promise<{ sampler: FewShotSampler; pool: readonly Item[] }> | null } = {
    sampler: null,
  };
  private readonly evaluated: ReadonlySet<Item>;

  private constructor(
    private readonly settings: Settings,
    configuration: Configuration,
    readonly configDigest: string,
    files: ReadonlyMap<string, string[]>,
    evaluation: Split,
  ) {
    const { splits, softbench } = settings;
    this.file = configuration.address ?? configuration.file;
    this.configuration = configuration.values;
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
    if (softbench.chatRequest) this.chatRequest = softbench.chatRequest;
    // Whole texts have no prompt that examples could stand in.
    const examples = this.outputType !== 'loglikelihood_rolling';
    this.modes = softbench.modes.filter(
      (mode) =>
        (this.trainingSplit !== null || !mode.includes('soft-prompt')) && (examples || !mode.includes('few-shot')),
    );

    this.judging = new Judge(settings, evaluation.items);
    this.answerKind = this.judging.answerKind;
    this.readers = this.judging.readers;
    const [first] = evaluation.items;
    this.measures = new Measures(settings, first);
    this.metricList = settings.metrics;
    this.repeats = settings.repeats;
    // Candidates that are whole contexts have no one prompt to answer.
    const contexts = first !== undefined && forItem(first, () => hasContexts(settings.turn, first.fields));
    this.generates =
      this.outputType === 'generate_until' ||
      (this.outputType === 'multiple_choice' && !contexts && softbench.generate !== false);
    this.generation = this.readGeneration(evaluation.items.slice(0, sampleSize));
  }

  private readonly files: ReadonlyMap<string, string[]>;
  /** How prompts are written; null: as plain text. */
  private readonly chat: Chat | null = null;

  /** @throws HumanError where data is missing or broken, or a template does not fit the first item */
  static async open(settings: Settings, configuration: Configuration, configDigest: string): Promise<TaskBenchmark> {
    const files = new Map<string, string[]>();
    const folders = configuration.foldersOf(settings.data.processed ? 'metadata' : 'dataset_kwargs');
    if (settings.samplesFile !== null) {
      const samples = await resolveFiles([settings.samplesFile], configuration.foldersOf('metadata'));
      const { items } = await readSplit(samples, null, settings.data.options);
      settings.samples = items.map(({ fields }) => fields);
    }
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
    return (await this.split(splits.fewShot ?? splits.training ?? splits.validation ?? this.evaluationSplit)).items;
  }

  // --------------------------------------------------------------- prompts

  withChat(chat: Chat | null): TaskBenchmark {
    // Data, draws and judging are shared: only how prompts are written differs.
    return Object.assign(Object.create(this) as TaskBenchmark, { chat });
  }

  withoutGeneration(): TaskBenchmark {
    if (this.outputType === 'generate_until')
      throw new HumanError(
        'bad-input',
        `"${this.task}" has no candidates to compare: without generation there is nothing to measure.`,
        { place: { file: this.file }, todo: 'Leave generation on; it can be off where there is `doc_to_choice`.' },
      );
    return Object.assign(Object.create(this) as TaskBenchmark, { generates: false });
  }

  requests(item: Item, shots: number): ReturnType<typeof requestsOf> {
    return requestsOf(this, item, shots);
  }

  measure(item: Item, responses: readonly ItemResponse[]): FilteredMetrics[] {
    return this.measures.measure(item, responses);
  }

  async prompt(item: Item, shots: number): Promise<RenderedPrompt> {
    const examples = shots > 0 ? await this.examples(item, shots) : [];
    const { turn, example } = this.settings;
    const before: Part[] = [];
    forItem(item, () => {
      const system = join(
        this.chat?.systemInstruction ?? '',
        resolveField(this.settings.description, item.fields),
        turn.fewShotDelimiter,
      );
      if (system !== '')
        before.push({ kind: 'description', messages: [{ role: 'system', content: system, delimiter: '' }] });
    });
    for (const shown of examples) before.push(forItem(shown, () => exampleTurn(example, shown.fields)));
    return forItem(item, () => {
      const { texts, right } = questionsOf(turn, item.fields);
      const prefix = resolveField(turn.generationPrefix, item.fields);
      const several = hasContexts(turn, item.fields);
      const prompts = texts.map((text) => {
        const asked = turnOf(text, null, prefix, { target: several ? '' : turn.targetDelimiter, example: '' });
        const parts: Part[] = [...before, { kind: 'question', messages: [asked.question] }];
        if (asked.answer) parts.push({ kind: 'generation-prefix', messages: [asked.answer] });
        return writePrompt(parts, this.chat);
      });
      const asked = prompts[right] ?? writePrompt(before, this.chat);
      return several ? { ...asked, contexts: prompts.map(({ text }) => text) } : asked;
    });
  }

  private async examples(item: Item, shots: number): Promise<readonly Item[]> {
    this.drawing.sampler ??= this.makeSampler();
    const { sampler, pool } = await this.drawing.sampler;
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

  target(item: Item): { delimiter: string; text: string } {
    return { delimiter: this.delimiter(item), text: this.judging.gold(item).texts[0] ?? '' };
  }

  /** What stands between prompt and answer. */
  private delimiter(item: Item): string {
    const { generationPrefix, targetDelimiter } = this.settings.turn;
    // The harness scores the target of `loglikelihood` as it is written.
    if (this.outputType === 'loglikelihood') return '';
    if (this.outputType === 'multiple_choice') {
      // A template ends where the answer begins; the harness looks at the prefix as it is written in the file.
      const open = generationPrefix !== null && generationPrefix !== '' && !endsWithSpace(generationPrefix);
      return this.chat?.template && !open ? '' : targetDelimiter;
    }
    const prefix = forItem(item, () => resolveField(generationPrefix, item.fields));
    if (prefix === '') return this.chat?.template ? '' : targetDelimiter;
    return endsQuestion(prefix, this.judging.gold(item).texts[0] ?? '');
  }

  rawTarget(item: Item): unknown {
    return forItem(item, () => targetOf(this.settings.turn, item.fields));
  }

  trainingAnswer(item: Item): { text: string; endsWithEos: boolean } {
    const { delimiter, text } = this.target(item);
    // What is compared by its likelihood is the text alone: no stop belongs to it.
    if (!this.generates) return { text: delimiter + text, endsWithEos: false };
    // A marker such as </s> or <|im_end|> is the model's end of text, not something to write out; so is the end of a turn.
    const marker = this.generation.until[0];
    const isEos = this.chat?.template || marker === undefined || /^<[|/]?[^<>\s]+[|]?>$/.test(marker);
    return { text: delimiter + text + (isEos ? '' : marker), endsWithEos: Boolean(isEos) };
  }

  choices(item: Item): ReturnType<Benchmark['choices']> {
    return forItem(item, () => {
      const { turn } = this.settings;
      const texts = choicesOf(turn.choice, item.fields)?.map(str);
      if (!texts) return null;
      // As in the harness: of no candidates none can be the likeliest.
      if (texts.length === 0 && this.outputType === 'multiple_choice')
        throw new PythonError('`doc_to_choice` gives no candidates.');
      const gold = goldOf(turn, item.fields);
      const golds = hasContexts(turn, item.fields) ? [] : gold.texts.map((text) => texts.indexOf(text));
      return { texts, gold: gold.index ?? 0, ...(golds.length > 1 && { golds }) };
    });
  }

  // --------------------------------------------------------------- reading

  judge(item: Item, output: string, stop: { reason: StopReason; marker?: string }): Judgement {
    return this.judging.judge(item, output, stop);
  }

  isRight(item: Item, answer: string): boolean {
    return this.judging.isRight(item, answer);
  }

  /** @throws HumanError where a filter needs a field that the item has not */
  checkFilterFields(item: Item): void {
    this.judging.checkFilterFields(item);
  }

  /** Is the right answer's own text in the required format, and right? For the check of the file. */
  goldVerdict(item: Item): { text: string; inFormat: boolean; right: boolean } {
    const { delimiter, text } = this.target(item);
    return { text, ...this.judging.verdict(item, delimiter + text) };
  }

  // -------------------------------------------------------------- inference

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

/** A few-shot example: question and answer, and the delimiter between examples. */
function exampleTurn(turn: TurnTemplates, fields: Readonly<Record<string, unknown>>): Part {
  const { question, answer } = turnOf(
    questionText(turn, fields),
    answerText(turn, fields),
    resolveField(turn.generationPrefix, fields),
    { target: turn.targetDelimiter, example: turn.fewShotDelimiter },
  );
  return { kind: 'example', messages: answer ? [question, answer] : [question] };
}

function noSplit(name: string, settings: Settings): HumanError {
  const known = [...settings.data.splits.keys()].map((split) => `"${split}"`).join(', ');
  return new HumanError(
    'bad-input',
    `There is no split "${name}" in \`data_files\`${known ? `, which has ${known}` : ''}.`,
  );
}
