/**
 * Why an output is not in the required format: one row a cause, the first that holds is the item's. The order goes from
 * what leaves nothing else to say (empty, refusal) over what the answer looks like to whether there is one at all.
 */
import type { FailureCause } from '../shared/failure-causes.ts';
import type { Reading, StopReason } from '../shared/results.ts';
import { eitherNumber, numbersIn } from './number-value.ts';
import { strip } from './python.ts';
import { answerPart, runOnAt, wordsOf } from './readers-common.ts';
import { letterCandidates, listEnd } from './readers-letter.ts';
import { mentions } from './readers-mentions.ts';
import { jsonBlocks } from './relaxed-json.ts';
import type { AnswerKind } from './types.ts';

export interface FailedOutput {
  output: string;
  stop: StopReason;
  kind: AnswerKind;
  lenient: Reading;
  /** Texts of the candidates; for letters, the texts behind them. */
  options: readonly string[];
  question: string;
  /** For JSON: does a value fit the schema that the benchmark gives? */
  fits?: (value: unknown) => boolean;
  /** Would the strict reading accept this text? */
  accepts(text: string): boolean;
}

export interface CauseRow {
  cause: FailureCause;
  /** An output that has this cause, where the answer asked for is given in `of`. */
  example: { output: string; of: string };
  holds(failed: FailedOutput): boolean;
}

/** "I cannot", "I am not able to": the speaker says that no answer will come. */
const declines =
  "(?:I|we)\\s+(?:cannot|can't|can not|won't|will not|could not|couldn't|am unable|am not able|do(?:n't| not) (?:have (?:access|enough|the ability)|know))|(?:I'm|I am|we are|we're)\\s+(?:unable|not able|an AI)|as an AI\\b|it is (?:not possible|impossible) to (?:answer|determine)";
/** An output that begins by declining, after an apology or not. "I'm sorry, Lily. I did not mean to" is a story, no refusal. */
const refusals = new RegExp(
  `^\\W*(?:(?:(?:I'm|I am|we are|we're)\\s+)?(?:very |so |really )?(?:sorry|afraid)\\b[\\s,.;:-]*(?:but\\s+|that\\s+)?|unfortunately\\b[\\s,]*)?(?:${declines})`,
  'i',
);

const wrappings = [
  /\\boxed\s*\{\s*(.*?)\s*\}/s,
  /\$\$?\s*([^$\n]+?)\s*\$\$?/,
  /\\[([]\s*(.+?)\s*\\[)\]]/s,
  /\\(?:text|mathrm|mathbf|textbf)\s*\{\s*(.*?)\s*\}/s,
  /\*\*\s*(.+?)\s*\*\*/s,
  /__\s*(.+?)\s*__/s,
  /(?<![*\w])\*(?!\s)([^*\n]+?)(?<!\s)\*(?![*\w])/,
  /`{1,3}(?:\w*\n)?\s*([^`]+?)\s*`{1,3}/,
];

/** The answer stands inside of LaTeX or Markdown marks, so that taking them away leaves the form (or the answer alone). */
function isWrapped({ output, lenient, question, accepts, kind }: FailedOutput): boolean {
  const text = output.slice(0, runOnAt(output, question));
  return wrappings.some((pattern) => {
    const match = pattern.exec(text);
    if (!match) return false;
    const inner = strip(match[1] ?? '');
    // `\boxed{\text{…}}`, `**(C)**` and the like hold the answer in a second layer.
    const core = inner
      .replace(/\\(?:text|mathrm|mathbf|boxed)\s*\{([^}]*)\}?/g, '$1')
      .replace(/[$*`]/g, '')
      .trim();
    if (accepts(text.replace(match[0], core)) || accepts(core)) return true;
    const answer = lenient.answer ?? '';
    return answer !== '' && kind !== 'json' && core.replace(/^[(]|[).]$/g, '') === answer.replace(/^[(]|[).]$/g, '');
  });
}

/** `1.000,5`, `1 000`, `1'000`, `3,5`, Arabic-Indic, Devanagari or full-width digits. */
const foreignNumber =
  /(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d.])|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.,])|(?<![\d.,])\d{1,3}(?:[\u00a0\u202f ']\d{3})+(?![\d])|(?<![\d.,])\d+,\d{1,2}(?![\d,.])|(?![0-9])\p{Nd}/u;

/**
 * The output says the question again: its first words are words of the question in their order, six or more, and they are
 * most of it. An answer that begins with the question's words and goes on to its own ("Janet sells …, so …") does not.
 */
function repeatsQuestion({ output, question, lenient, kind, options }: FailedOutput): boolean {
  if (lenient.answer !== null) return false;
  if (kind === 'letter' && listEnd(output, options) > 0) return true;
  const said = wordsOf(output);
  const asked = ` ${wordsOf(question).join(' ')} `;
  let shared = 0;
  while (shared < said.length && asked.includes(` ${said.slice(0, shared + 1).join(' ')} `)) shared++;
  return shared >= 6 && shared >= 0.6 * said.length;
}

/** Choices that an output names without denying them; letters of choices too where letters are asked for. */
function candidates({ output, kind, options, question }: FailedOutput): Set<string> {
  const text = answerPart(output, { question });
  if (kind === 'letter') {
    const letters = letterCandidates(text);
    if (letters.size > 1) return letters;
  }
  const known = kind === 'yes-no' && options.length === 0 ? ['yes', 'no', 'true', 'false'] : options;
  return new Set(
    mentions(text, known)
      .filter(({ denied }) => !denied)
      .map(({ option }) => option.toLowerCase()),
  );
}

/** Several answers are named and none is decided for. Where the output broke off, it may have been on its way to one. */
function severalCandidates(failed: FailedOutput): boolean {
  const { output, kind, question, lenient, stop } = failed;
  if (lenient.answer !== null && kind !== 'text') return false;
  const text = strip(answerPart(output, { question }));
  const inOneBreath =
    /^[^.\n]{0,80}\b(?:or|and\/or|oder|ou)\b[^.\n]{0,80}[.?!]?$/i.test(text) ||
    /^\W*\w{1,20}\W*(?:,|\/|&)\W*\w{1,20}\W*$/.test(text);
  if (kind === 'number')
    return numbersIn(text).some((one, i, all) => i > 0 && eitherNumber.test(text.slice(all[i - 1]?.end, one.start)));
  if (kind === 'text') return /^\s*[^\n]{1,60}\s(?:or)\s[^\n]{1,60}$/i.test(text);
  return kind !== 'json' && candidates(failed).size > 1 && (stop !== 'length' || inOneBreath);
}

/** What the lenient reading took, as it stands in the output. */
const takenText = ({ output, lenient }: FailedOutput): string => (lenient.span ? output.slice(...lenient.span) : '');

/** A letter was read by the text (or the value) of its choice. */
const choiceText = (failed: FailedOutput): boolean =>
  failed.kind === 'letter' &&
  failed.lenient.answer !== null &&
  takenText(failed).toUpperCase() !== failed.lenient.answer &&
  !/^[\uff21-\uff3a\u0391-\u042f]$/.test(takenText(failed));

/** A choice was read by its letter. */
const letterOnly = (failed: FailedOutput): boolean =>
  (failed.kind === 'choice' || failed.kind === 'yes-no') &&
  failed.lenient.answer !== null &&
  failed.lenient.answer.length > 1 &&
  /^[A-Za-z]$/.test(takenText(failed));

function ranOn({ output, question, stop, lenient, accepts, kind, options }: FailedOutput): boolean {
  const at = runOnAt(output, question);
  if (lenient.answer === null) return false;
  if (at < output.length && (lenient.span?.[1] ?? 0) <= at) return true;
  // It went on behind an answer until it was cut off.
  const own = kind === 'letter' ? strip(options[lenient.answer.charCodeAt(0) - 65] ?? '') : '';
  const behind = output.slice(lenient.span?.[1] ?? output.length).replace(/^\W*/, '');
  if (stop === 'length' && wordsOf(behind.startsWith(own) ? behind.slice(own.length) : behind).length >= 3) return true;
  // Text behind a complete answer: the first line is the answer, with no more than a few words to it, and more follows or
  // nothing stopped it.
  const [firstLine = '', ...rest] = strip(output).split('\n');
  const place = firstLine.indexOf(lenient.answer);
  const others = place < 0 ? null : firstLine.replace(lenient.answer, ' ').replace(own, ' ');
  const short = others !== null && wordsOf(others).length <= 3;
  // An answer that is said again at the very end is what the output closes with.
  const complete = accepts(firstLine) || (short && (stop === 'length' || wordsOf(behind).length > 0));
  return complete && (stop === 'length' || rest.some((line) => strip(line) !== ''));
}

export const causeTable: readonly CauseRow[] = [
  {
    cause: 'empty output',
    example: { output: '\n', of: '18' },
    holds: ({ output }) => strip(output) === '',
  },
  {
    cause: 'refusal',
    example: { output: "I'm sorry, but I cannot answer that.", of: '18' },
    holds: ({ output }) => refusals.test(output),
  },
  {
    cause: 'unparseable JSON',
    example: { output: '{"city": "Paris"', of: '{"city": "Paris"}' },
    holds: ({ kind, output }) =>
      kind === 'json' && /[{[]/.test(output) && !jsonBlocks(output).some(({ exact }) => exact),
  },
  {
    cause: 'JSON against the schema',
    example: { output: '{"city": 3}', of: '{"city": "Paris"}' },
    holds: ({ kind, output, question, fits }) => {
      const blocks = kind === 'json' && fits ? jsonBlocks(answerPart(output, { question })) : [];
      return blocks.length > 0 && fits !== undefined && !blocks.some(({ value }) => fits(value));
    },
  },
  {
    cause: 'foreign number format',
    example: { output: '1.000,5', of: '1000.5' },
    holds: ({ kind, lenient }) => kind === 'number' && lenient.answer !== null && foreignNumber.test(lenient.answer),
  },
  {
    cause: 'LaTeX or Markdown wrapping',
    example: { output: '$\\boxed{18}$', of: '18' },
    holds: isWrapped,
  },
  {
    cause: 'repeats the question',
    example: { output: 'How many eggs does Janet sell every day at the market?', of: '18' },
    holds: repeatsQuestion,
  },
  {
    cause: 'letter instead of choice text',
    example: { output: 'B', of: 'Paris' },
    holds: letterOnly,
  },
  {
    cause: 'several candidates',
    example: { output: '(A) or (B)', of: 'A' },
    holds: severalCandidates,
  },
  {
    cause: 'choice text instead of letter',
    example: { output: 'Paris', of: 'B' },
    holds: choiceText,
  },
  {
    cause: 'ran on',
    example: { output: '18\n\nQuestion: Tom has 3 apples. How many', of: '18' },
    holds: ranOn,
  },
  {
    cause: 'stopped by length',
    example: { output: 'Janet has 16 eggs and she eats', of: '18' },
    holds: ({ stop, lenient }) => stop === 'length' && lenient.answer === null,
  },
  {
    cause: 'answer not in the required form',
    example: { output: 'She makes 18 dollars.', of: '18' },
    holds: ({ lenient }) => lenient.answer !== null,
  },
  {
    cause: 'no answer found',
    example: { output: 'Let us think about it.', of: '18' },
    holds: () => true,
  },
];

/** The first cause that holds. */
export function causeOf(failed: FailedOutput): FailureCause {
  return causeTable.find((row) => row.holds(failed))?.cause ?? 'no answer found';
}
