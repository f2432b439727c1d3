/** Reads and judges the outputs of a task: strict and lenient answer, what is right, why a form was missed. */

import { HumanError } from '../shared/errors.ts';
import type { Reading, StopReason } from '../shared/results.ts';
import { answerFits } from './answer-schema.ts';
import { causeOf } from './causes.ts';
import { choicesOf, forItem, type Gold, goldOf, questionText } from './documents.ts';
import { exactMatch, normalise } from './exact-match.ts';
import type { FilterContext, FilterPipeline } from './filters.ts';
import { letterAsOption, listedOptions } from './listed-options.ts';
import { str, strip } from './python.ts';
import { inferKind, nothing, type Reader, type ReaderContext, readers } from './readers.ts';
import type { Settings } from './settings.ts';
import type { AnswerKind, Item, Judgement } from './types.ts';

/** Items that kind, stop markers and checks are taken from. */
export const sampleSize = 200;

/** The readers of one task and what they compare with. */
export class Judge {
  readonly answerKind: AnswerKind;
  /** Names of the strict and lenient filters, or `built-in`. */
  readonly readers: { strict: string; lenient: string };
  private readonly strictFilter: FilterPipeline | null;
  private readonly lenientFilter: FilterPipeline | null;
  private readonly reader: Reader;
  private readonly fits: ((value: unknown) => boolean) | null;
  /** The answers that occur, where they are few and the file lists no candidates: `answer1` to `answer5`, `valid`, `invalid`. */
  private readonly labels: readonly string[] = [];

  /** @param items of the evaluated split: the kind of the answers is taken from their right ones */
  constructor(
    private readonly settings: Settings,
    items: readonly Item[],
  ) {
    const { softbench } = settings;
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

    const sample = items.slice(0, sampleSize);
    this.answerKind = softbench.answer ?? this.inferKind(sample);
    if (this.answerKind === 'choice' && settings.turn.choice === null) this.labels = this.labelsOf(items);
    this.reader = readers[this.answerKind];
    this.fits = softbench.schema && answerFits(softbench.schema);
  }

  /** The right answers, as texts and as the number of the candidate. */
  gold(item: Item): Gold {
    return forItem(item, () => goldOf(this.settings.turn, item.fields));
  }

  private questionText(item: Item): string {
    return forItem(item, () => questionText(this.settings.turn, item.fields));
  }

  /** Candidates as the readers need them: texts behind the letters where letters are asked for. */
  private readerContext(item: Item): ReaderContext {
    const question = this.questionText(item);
    const choices = forItem(item, () => choicesOf(this.settings.turn.choice, item.fields))?.map(str) ?? [];
    if (this.answerKind !== 'letter')
      return { options: choices.length > 0 ? choices : this.labels, question, ...(this.fits && { fits: this.fits }) };
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
      this.settings.outputType === 'multiple_choice' && this.answerKind !== 'letter'
        ? letterAsOption(output, context)
        : null;
    if (lettered) return { strict: lettered, inFormat: true, right: this.same(item, lettered.answer ?? '') };
    const right = this.exactly(item, strip(output)) && strip(output) !== '';
    const start = output.indexOf(strip(output));
    return right
      ? { strict: { answer: strip(output), span: [start, start + strip(output).length] }, inFormat: true, right }
      : { strict: nothing, inFormat: false, right: false };
  }

  judge(item: Item, output: string, stop: { reason: StopReason; marker?: string }): Judgement {
    const context = { ...this.readerContext(item), stop: stop.reason };
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
          ...(this.fits && { fits: this.fits }),
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

  /** Is a text (the right answer's own, for the check of the file) in the required format, and right? */
  verdict(item: Item, text: string): { inFormat: boolean; right: boolean } {
    const { inFormat, right } = this.readStrict(item, text, this.readerContext(item));
    return { inFormat, right };
  }

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
}
