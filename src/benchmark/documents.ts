/** What the templates of a benchmark make of an item: question, answer, candidates. As ConfigurableTask of lm-evaluation-harness 0.4.13. */
import { HumanError } from '../shared/errors.ts';
import { endsWithSpace, isDigits, literalEval, PythonError, startsWithSpace, str } from './python.ts';
import type { TurnTemplates } from './settings.ts';
import { Template } from './template.ts';
import type { Item } from './types.ts';

type Fields = Readonly<Record<string, unknown>>;

const templates = new Map<string, Template>();

/** The parsed template, kept for the next item. @throws TemplateError */
export function templateOf(source: string): Template {
  const known = templates.get(source);
  if (known) return known;
  const made = new Template(source);
  if (templates.size > 1000) templates.clear();
  templates.set(source, made);
  return made;
}

/** The delimiter between a given beginning of an answer and its rest. */
export const endsQuestion = (prefix: string, answer: string): string =>
  prefix === '' || answer === '' || endsWithSpace(prefix) || startsWithSpace(answer) ? '' : ' ';

/** A key that holds the name of a field or a template: the field's text, or the rendered template. */
export function resolveField(key: string | null, fields: Fields): string {
  if (!key) return '';
  return Object.hasOwn(fields, key) ? str(fields[key]) : templateOf(key).render(fields);
}

/** `doc_to_choice`: a list, the values of a mapping, a field, or a template whose value is a list. */
export function choicesOf(choice: TurnTemplates['choice'], fields: Fields): unknown[] | null {
  if (choice === null) return null;
  if (Array.isArray(choice)) return choice;
  if (typeof choice === 'object') return Object.values(choice);
  if (Object.hasOwn(fields, choice)) {
    const value = fields[choice];
    if (!Array.isArray(value))
      throw new PythonError(`\`doc_to_choice\` names the field "${choice}", which is not a list.`);
    return value;
  }
  const value = templateOf(choice).value(fields);
  const list = typeof value === 'string' ? literalEval(value) : value;
  if (!Array.isArray(list)) throw new PythonError(`\`doc_to_choice\` must give a list, not ${str(list).slice(0, 80)}.`);
  return list;
}

/** Python's booleans are numbers: `label: true` is the second candidate. */
const numberOf = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value);

/** `doc_to_text`: a number where the candidates are whole contexts (as in WinoGrande). */
function questionOf(turn: TurnTemplates, fields: Fields): string | number {
  const { text } = turn;
  if (text === null) return '';
  if (typeof text === 'number') return text;
  if (Object.hasOwn(fields, text)) {
    const value = numberOf(fields[text]);
    return typeof value === 'number' ? value : str(value);
  }
  const rendered = templateOf(text).render(fields);
  return isDigits(rendered) && turn.choice !== null ? Number(rendered) : rendered;
}

/** `doc_to_target`: a text, the number of a candidate, or a list of right answers. */
export function targetOf(turn: TurnTemplates, fields: Fields): unknown {
  const { target } = turn;
  if (typeof target !== 'string') return target;
  if (Object.hasOwn(fields, target)) return numberOf(fields[target]);
  const rendered = templateOf(target).render(fields);
  if (isDigits(rendered) && turn.choice !== null) return Number(rendered);
  if (rendered.length >= 2 && rendered.startsWith('[') && rendered.endsWith(']')) {
    try {
      return literalEval(rendered);
    } catch {
      return rendered;
    }
  }
  return rendered;
}

/**
 * The right answers of an item, as texts, and the number of the right candidate where there are candidates ({@link
 * noCandidate} where it is none of them).
 */
export interface Gold {
  texts: string[];
  index: number | null;
}

export function goldOf(turn: TurnTemplates, fields: Fields): Gold {
  const target = targetOf(turn, fields);
  const choices = choicesOf(turn.choice, fields);
  if (choices === null) return { texts: (Array.isArray(target) ? target : [target]).map(str), index: null };
  const question = questionOf(turn, fields);
  // The candidates are contexts: what is written behind each is the same.
  if (typeof question === 'number') return { texts: [str(target)], index: indexIn(choices, question) };
  const answers = Array.isArray(target) ? target : [target];
  const texts = answers.map((answer) => {
    // A number from the end is one for a text, though it equals no candidate's number.
    const text = typeof answer === 'number' ? choices.at(answer) : answer;
    return str(text === undefined ? answer : text);
  });
  return { texts, index: answers.length > 0 ? indexIn(choices, answers[0]) : null };
}

/** The number of a right answer that is no candidate: the harness counts every choice as wrong then. */
export const noCandidate = -1;

/** The place of a right answer, given as a number or as a text, among the candidates, or {@link noCandidate}. */
function indexIn(choices: readonly unknown[], answer: unknown): number {
  const at = typeof answer === 'number' ? answer : choices.findIndex((choice) => str(choice) === str(answer));
  return at >= 0 && at < choices.length ? at : noCandidate;
}

/** The question of the item that is asked: its text, or that of every candidate where these are whole contexts. */
export function questionsOf(turn: TurnTemplates, fields: Fields): { texts: string[]; right: number } {
  const question = questionOf(turn, fields);
  if (typeof question === 'string') return { texts: [question], right: 0 };
  const contexts = choicesOf(turn.choice, fields);
  if (contexts === null)
    throw new PythonError('`doc_to_text` gives a number, but there is no `doc_to_choice` with the contexts it counts.');
  return { texts: contexts.map(str), right: indexIn(contexts, question) };
}

/** Is the question a number, so that the candidates are whole contexts (as in WinoGrande)? */
export const hasContexts = (turn: TurnTemplates, fields: Fields): boolean =>
  turn.choice !== null && typeof questionOf(turn, fields) === 'number';

/** The number of the right one among candidates that are contexts. */
export const rightContext = (turn: TurnTemplates, fields: Fields): number => questionsOf(turn, fields).right;

/** The question's text; of candidates that are contexts, the right one. */
export function questionText(turn: TurnTemplates, fields: Fields): string {
  const { texts, right } = questionsOf(turn, fields);
  return texts[right] ?? '';
}

/** The answer of a few-shot example, as its text; null where it has none. */
export function answerText(turn: TurnTemplates, fields: Fields): string | null {
  const target = targetOf(turn, fields);
  if (target === null || target === undefined || target === '') return null;
  const first = Array.isArray(target) ? target[0] : target;
  const choices = hasContexts(turn, fields) ? null : choicesOf(turn.choice, fields);
  if (!choices || typeof first !== 'number') return str(first);
  const text = choices.at(first);
  if (text === undefined)
    throw new PythonError(
      `The answer ${first} is not among the ${choices.length} candidates; an example cannot show it.`,
    );
  return str(text);
}

/** Runs `work`; what a template refuses becomes a message that names the item. */
export function forItem<Result>(item: Item, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof PythonError)) throw thrown;
    throw new HumanError('bad-input', `Item ${item.index}: ${thrown.message}`, { place: item.place, cause: thrown });
  }
}
