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

/** Joins two texts with the delimiter only where neither has a space at the border. */
export function join(before: string, after: string, delimiter = ' '): string {
  if (before === '' || after === '') return before + after;
  return endsWithSpace(before) || startsWithSpace(after) ? before + after : before + delimiter + after;
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

/** `doc_to_text`: a number where the candidates are whole contexts (as in WinoGrande). */
function questionOf(turn: TurnTemplates, fields: Fields): string | number {
  const { text } = turn;
  if (text === null) return '';
  if (typeof text === 'number') return text;
  if (Object.hasOwn(fields, text)) {
    const value = fields[text];
    return typeof value === 'number' ? value : str(value);
  }
  const rendered = templateOf(text).render(fields);
  return isDigits(rendered) && turn.choice !== null ? Number(rendered) : rendered;
}

/** `doc_to_target`: a text, the number of a candidate, or a list of right answers. */
function targetOf(turn: TurnTemplates, fields: Fields): unknown {
  const { target } = turn;
  if (typeof target !== 'string') return target;
  if (Object.hasOwn(fields, target)) return fields[target];
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

/** The right answers of an item, as texts, and the number of the right candidate where there are candidates. */
export interface Gold {
  texts: string[];
  index: number | null;
}

export function goldOf(turn: TurnTemplates, fields: Fields): Gold {
  const target = targetOf(turn, fields);
  const choices = choicesOf(turn.choice, fields);
  if (choices === null) return { texts: (Array.isArray(target) ? target : [target]).map(str), index: null };
  const indices = (Array.isArray(target) ? target : [target]).map((entry) => {
    const at = typeof entry === 'number' ? entry : choices.findIndex((choice) => str(choice) === str(entry));
    if (at < -choices.length || at >= choices.length || (at < 0 && typeof entry !== 'number'))
      throw new PythonError(
        `The right answer ${str(entry).slice(0, 80)} is not among the ${choices.length} candidates.`,
      );
    return at < 0 ? at + choices.length : at;
  });
  return { texts: indices.map((at) => str(choices[at])), index: indices[0] ?? null };
}

/** A turn of a prompt: the question with what stands before the answer, and the answer's text. */
export interface Turn {
  question: string;
  /** `gen_prefix`, rendered; '' where there is none. */
  prefix: string;
  answer: string | null;
}

/**
 * The question as the prompt shows it: question, the target delimiter where an answer or a prefix follows, and the
 * prefix itself. (lm-evaluation-harness: build_qa_turn.)
 */
export function questionTurn(turn: TurnTemplates, fields: Fields): Turn {
  const question = questionOf(turn, fields);
  if (typeof question === 'number')
    throw new PythonError(
      '`doc_to_text` gives a number: the candidates are whole contexts (as in WinoGrande), which Softbench does not support yet.',
    );
  const prefix = resolveField(turn.generationPrefix, fields);
  const joined = prefix !== '' && question !== '' && !endsWithSpace(question) && !startsWithSpace(prefix);
  return { question: joined ? question + turn.targetDelimiter : question, prefix, answer: null };
}

/** A few-shot example's text: question, delimiter, answer (behind the prefix) and the delimiter between examples. */
export function exampleText(turn: TurnTemplates, fields: Fields): string {
  const question = questionOf(turn, fields);
  if (typeof question === 'number') throw new PythonError('`doc_to_text` gives a number in a few-shot example.');
  const prefix = resolveField(turn.generationPrefix, fields);
  const target = targetOf(turn, fields);
  const choices = choicesOf(turn.choice, fields);
  const answered = target !== null && target !== undefined && target !== '';
  if (!answered) {
    const joined = prefix !== '' && question !== '' && !endsWithSpace(question) && !startsWithSpace(prefix);
    return question + (joined ? turn.targetDelimiter : '') + prefix;
  }
  const needed = prefix === '' || (question !== '' && !endsWithSpace(question) && !startsWithSpace(prefix));
  const chosen =
    choices && typeof target === 'number' ? choices.at(target) : Array.isArray(target) ? target[0] : target;
  return question + (needed ? turn.targetDelimiter : '') + join(prefix, str(chosen)) + turn.fewShotDelimiter;
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
