/** A BIG-bench JSON task that is ready to be used: prompts rendered, outputs judged as its preferred score does. */
import { HumanError } from '../shared/errors.ts';
import type { ChatRequest, GenerationOptions, Reading, StopReason } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import { type BigBenchExample, type BigBenchTask, bigBenchMetrics } from './big-bench-file.ts';
import { BigBenchShots, bestChoices, type FormattedExample, format } from './big-bench-prompts.ts';
import { type AnswerTest, answerTestOf, readBigBench, reportedScores } from './big-bench-reading.ts';
import type { BigBenchSettings } from './big-bench-settings.ts';
import { causeOf } from './causes.ts';
import { join, type Part, writePrompt } from './conversation.ts';
import { dump, fieldsOf, type JsonDocument, plainValue } from './json-document.ts';
import { listedOptions } from './listed-options.ts';
import { NumpyRandom } from './numpy-random.ts';
import { rightStrip, strip } from './python.ts';
import { inferKind, nothing, type Reader, type ReaderContext, readers } from './readers.ts';
import type { AnswerKind, Benchmark, Chat, Item, Judgement, OutputType, RenderedPrompt } from './types.ts';

interface Entry {
  example: BigBenchExample;
  formatted: FormattedExample;
  /** Position among the file's examples, without copies. */
  position: number;
}

export class BigBenchBenchmark implements Benchmark {
  /** How prompts are written; null: as plain text. */
  private readonly chat: Chat | null = null;
  readonly file: string;
  readonly task: string;
  readonly outputType: OutputType;
  readonly answerKind: AnswerKind;
  readonly configDigest: string;
  readonly sources: Benchmark['sources'];
  readonly generation: GenerationOptions;
  readonly shots: number;
  readonly fewShotSeed: number;
  readonly modes: Benchmark['modes'];
  readonly softPrompt: Benchmark['softPrompt'];
  readonly limit: number | null;
  readonly readers: Benchmark['readers'];
  readonly evaluationSplit = 'examples';
  readonly advice = {
    training: 'Raise `training_share` in the object `softbench` of the file, or give it more examples.',
    shots: 'Use fewer examples (`shots` in the object `softbench` of the file).',
  };
  readonly trainingSplit: string | null;
  readonly notes: readonly string[];
  readonly chatRequest?: ChatRequest;
  readonly metrics: readonly string[];
  private readonly entries = new Map<Item, Entry>();
  private readonly evaluated: readonly Item[];
  private readonly training: readonly Item[];
  private readonly fewShot: BigBenchShots;
  private readonly reader: Reader;
  private readonly answerTest: AnswerTest;
  /** The file's outputs are read by a pattern or up to a stop text; else the built-in reader of the choices is the form. */
  private readonly readsText: boolean;
  private readonly labels: readonly string[];
  private readonly digest: string;

  constructor(
    private readonly source: BigBenchTask,
    document: JsonDocument,
    settings: BigBenchSettings,
  ) {
    const { examples } = source;
    this.file = document.file;
    this.task = source.name;
    const asks = new Set(source.metrics.map((metric) => bigBenchMetrics.get(metric)?.asks));
    this.outputType = asks.has('choice') ? 'multiple_choice' : 'generate_until';
    this.readsText = asks.has('text') || this.outputType === 'generate_until' || source.outputRegex !== null;
    this.answerTest = answerTestOf(source);
    this.metrics = reportedScores(source);
    this.fewShotSeed = settings.fewShotSeed;
    if (settings.chatRequest) this.chatRequest = settings.chatRequest;
    this.limit = settings.limit;
    this.softPrompt = settings.softPrompt;
    this.sources = { configuration: [this.file], data: [this.file] };

    const formatted = examples.map((example) => format(source, example));
    this.fewShot = new BigBenchShots(examples, formatted, this.fewShotSeed);
    const share = settings.modes.includes('soft-prompt') ? settings.trainingShare : 0;
    const held = heldOut(examples, formatted, share, settings.splitSeed);
    const itemOf = (position: number, index: number): Item => {
      const example = examples[position];
      const texts = formatted[position];
      if (!example || !texts) throw new RangeError(`There is no example ${position}.`);
      const fields = Object.fromEntries([...fieldsOf(example.node)].map(([key, node]) => [key, plainValue(node)]));
      const item = { index, fields, place: { file: this.file, ...document.position(example.node.from) } };
      this.entries.set(item, { example, formatted: texts, position });
      return item;
    };
    const positions = examples.map((_, position) => position);
    this.training = positions.filter((position) => held.has(position)).map(itemOf);
    this.evaluated = positions.filter((position) => !held.has(position)).map(itemOf);
    this.trainingSplit = held.size > 0 ? 'held-out examples' : null;
    this.modes = settings.modes.filter((mode) => held.size > 0 || !mode.includes('soft-prompt'));
    this.shots = Math.max(0, Math.min(settings.shots, examples.length - 1));
    this.notes = this.makeNotes(settings, held.size);

    const { root } = document;
    const config = [...fieldsOf(root ?? undefined)].filter(([key]) => key !== 'examples');
    this.configDigest = sha256(JSON.stringify(config.map(([key, node]) => [key, dump(node)]).sort()));
    this.digest = sha256(JSON.stringify([examples.map(({ node }) => dump(node)), [...held]]));

    const sample = this.evaluated.slice(0, 200);
    const golds = sample.flatMap((item) => this.golds(item));
    const options = sample.flatMap((item) => this.choices(item)?.texts ?? []);
    const inferred = inferKind(golds, options.length > 0 ? options : null);
    // A few answers that come again and again are labels.
    const labels = [...new Set(golds)].sort();
    const areLabels =
      inferred === 'text' && sample.length >= 20 && labels.length <= Math.min(12, Math.floor(sample.length / 4));
    this.labels = areLabels ? labels : [];
    this.answerKind = settings.answer ?? (areLabels ? 'choice' : inferred);
    this.reader = readers[this.answerKind];
    const form =
      source.outputRegex !== null ? 'output_regex' : source.stopString !== null ? 'stop_string' : 'default regex';
    this.readers = { strict: this.readsText ? form : 'built-in', lenient: 'built-in' };
    this.generation = this.makeGeneration(settings, [...golds, ...options]);
  }

  private makeNotes(settings: BigBenchSettings, held: number): string[] {
    const { examples } = this.source;
    const notes: string[] = [];
    if (held > 0)
      notes.push(
        `BIG-bench has no training split: ${held} of ${examples.length} examples, drawn with seed ${settings.splitSeed}, are held out to tune soft prompts on and not evaluated. \`softbench.training_share\` sets how many; with 0 all are evaluated.`,
      );
    else if (settings.modes.includes('soft-prompt') && settings.trainingShare > 0)
      notes.push(`${examples.length} examples are too few to hold any out to tune a soft prompt on.`);
    if (this.shots < settings.shots)
      notes.push(`Few-shot mode uses ${this.shots} examples: the task has only ${examples.length}.`);
    return notes;
  }

  private makeGeneration(settings: BigBenchSettings, answers: readonly string[]): GenerationOptions {
    const { source } = this;
    // Without a stop text of its own the output goes on until a next question begins: the pattern takes its first match.
    const next = rightStrip(source.separator + source.inputPrefix);
    const oneLine = !this.readsText && answers.every((answer) => !answer.includes('\n'));
    const longest = answers.reduce((most, { length }) => Math.max(most, length), 0);
    const until = source.stopString ?? (oneLine ? '\n' : strip(next) === '' ? null : next);
    return {
      until: until ? [until] : [],
      maxNewTokens: settings.maxNewTokens ?? Math.min(256, Math.max(16, Math.ceil(longest / 2) + 8)),
      temperature: 0,
      topP: 1,
      seed: 0,
    };
  }

  // ------------------------------------------------------------------ data

  async items(split: 'evaluation' | 'training' | 'fewshot'): Promise<readonly Item[]> {
    if (split === 'evaluation') return this.evaluated;
    return split === 'training' ? this.training : [...this.entries.keys()];
  }

  async dataDigest(): Promise<string> {
    return this.digest;
  }

  private entry(item: Item): Entry {
    const found = this.entries.get(item);
    if (!found) throw new Error(`Item ${item.index} is not of ${this.file}.`);
    return found;
  }

  // --------------------------------------------------------------- prompts

  withChat(chat: Chat | null): BigBenchBenchmark {
    return Object.assign(Object.create(this) as BigBenchBenchmark, { chat });
  }

  async prompt(item: Item, shots: number): Promise<RenderedPrompt> {
    const { formatted, position } = this.entry(item);
    const parts: Part[] = [];
    const system = join(this.chat?.systemInstruction ?? '', this.source.taskPrefix, this.source.separator);
    if (system !== '')
      parts.push({ kind: 'description', messages: [{ role: 'system', content: system, delimiter: '' }] });
    if (shots > 0) {
      try {
        for (const { question, answer } of await this.fewShot.examples(position, shots))
          parts.push({
            kind: 'example',
            messages: [
              { role: 'user', content: question, delimiter: '' },
              { role: 'assistant', content: answer, delimiter: this.source.separator },
            ],
          });
      } catch (thrown) {
        if (!(thrown instanceof RangeError)) throw thrown;
        throw new HumanError(
          'bad-input',
          `There are only ${this.entries.size} examples: too few to draw ${shots} others from for each.`,
          { place: { file: this.file }, todo: 'Lower `softbench.shots`.' },
        );
      }
    }
    parts.push({ kind: 'question', messages: [{ role: 'user', content: formatted.question, delimiter: '' }] });
    return writePrompt(parts, this.chat);
  }

  /** All answers that are right: the file's targets, else every choice with the highest score. */
  private golds(item: Item): string[] {
    const { targets, scores } = this.entry(item).example;
    return targets ?? (scores ? bestChoices(scores) : []);
  }

  references(item: Item): readonly string[] {
    return this.golds(item);
  }

  target(item: Item): { delimiter: string; text: string } {
    return { delimiter: '', text: this.entry(item).formatted.targets[0] ?? '' };
  }

  trainingAnswer(item: Item): { text: string; endsWithEos: boolean } {
    const { text } = this.target(item);
    const marker = this.generation.until[0];
    if (marker === undefined || this.chat?.template) return { text, endsWithEos: true };
    // BIG-bench keeps the stop text in the answer, so that targets may end with it.
    return { text: text.endsWith(marker) ? text : text + marker, endsWithEos: false };
  }

  choices(item: Item): ReturnType<Benchmark['choices']> {
    const { scores } = this.entry(item).example;
    if (this.outputType !== 'multiple_choice' || !scores) return null;
    const texts = [...scores.keys()];
    return { texts, gold: texts.indexOf(bestChoices(scores)[0] ?? ''), scores: [...scores.values()] };
  }

  // --------------------------------------------------------------- reading

  private context(item: Item): ReaderContext {
    const { question } = this.entry(item).formatted;
    const options = this.choices(item)?.texts ?? this.labels;
    if (this.answerKind !== 'letter') return { options, question };
    const listed = listedOptions(question);
    return { options: listed.length > 0 ? listed : options, question };
  }

  private same(item: Item, answer: string): boolean {
    return this.isRight(item, answer) || this.golds(item).some((gold) => this.reader.same(answer, strip(gold)));
  }

  isRight(item: Item, answer: string): boolean {
    if (!this.readsText) return this.golds(item).some((gold) => this.reader.same(answer, strip(gold)));
    return this.answerTest(answer, this.golds(item));
  }

  private readStrict(
    item: Item,
    output: string,
    context: ReaderContext,
    stop: { reason: StopReason; marker?: string },
  ): { strict: Reading; inFormat: boolean; right: boolean } {
    const none = { strict: nothing, inFormat: false, right: false };
    if (!this.readsText) {
      const strict = this.reader.strict(output, context);
      if (strict.answer === null || stop.reason === 'length') return none;
      return { strict, inFormat: true, right: this.isRight(item, strict.answer) };
    }
    const read = readBigBench(this.source, output, stop);
    if (!read) return none;
    const right = this.answerTest(read.answer, this.golds(item));
    const strict: Reading = { answer: read.answer, span: read.span };
    if (read.byFile || right) return { strict, inFormat: true, right };
    // BIG-bench's default pattern takes anything: the form is that of the answers' kind, up to a stop.
    const complete = stop.reason !== 'length' || read.span[1] < output.length;
    const inFormat = complete && this.reader.strict(read.answer, context).answer !== null;
    return { strict, inFormat, right };
  }

  judge(item: Item, output: string, stop: { reason: StopReason; marker?: string }): Judgement {
    const context = { ...this.context(item), stop: stop.reason };
    const strict = this.readStrict(item, output, context, stop);
    let lenient = strict.strict;
    let lenientRight = strict.right;
    if (!strict.right) {
      lenient = this.reader.lenient(output, context);
      lenientRight = lenient.answer !== null && this.same(item, lenient.answer);
    }
    const cause = strict.inFormat
      ? null
      : causeOf({
          output,
          stop: stop.reason,
          kind: this.answerKind,
          lenient,
          options: context.options,
          question: context.question,
          accepts: (text) => this.readStrict(item, text, context, { reason: 'eos' }).inFormat,
        });
    return { ...strict, lenient, lenientRight, cause };
  }

  /** Would the right answer, written as tuning teaches it, be read as right? For the check of the file. */
  goldIsRead(item: Item): boolean {
    const { text } = this.target(item);
    const { stopString } = this.source;
    const cut = stopString !== null && text.endsWith(stopString) ? text.slice(0, -stopString.length) : text;
    const stop =
      stopString === null ? ({ reason: 'eos' } as const) : { reason: 'stop-string' as const, marker: stopString };
    return this.readStrict(item, cut, this.context(item), stop).right;
  }
}

/**
 * Positions of the examples that soft prompts are tuned on: a share of them in the order of a permutation by seed. Examples
 * with the same question and choices stay on one side, so that no item is tuned on.
 */
function heldOut(
  examples: readonly BigBenchExample[],
  formatted: readonly FormattedExample[],
  share: number,
  seed: number,
): Set<number> {
  const wanted = Math.floor(examples.length * share);
  // One to train on and one to validate with; and one to evaluate.
  if (wanted < 2 || examples.length < 3) return new Set();
  const byQuestion = new Map<string, number[]>();
  for (const [position, { scores }] of examples.entries()) {
    const key = JSON.stringify([formatted[position]?.question, [...(scores?.keys() ?? [])].sort()]);
    byQuestion.set(key, [...(byQuestion.get(key) ?? []), position]);
  }
  const groups = [...byQuestion.values()];
  const held: number[] = [];
  for (const at of new NumpyRandom(seed).permutation(groups.length)) {
    const group = groups[at] ?? [];
    if (held.length + group.length <= wanted) held.push(...group);
  }
  return held.length < 2 ? new Set() : new Set(held.sort((a, b) => a - b));
}
