/** Reads one of the choices out of an output by its text; and yes or no in several languages. */
import type { Reading } from '../shared/results.ts';
import { strip } from './python.ts';
import {
  announcedAt,
  answerPart,
  boxes,
  nothing,
  type Reader,
  type ReaderContext,
  readingAt,
  sentences,
  wholeOutput,
} from './readers-common.ts';
import { letter } from './readers-letter.ts';
import { decide, meantOption, optionOf } from './readers-mentions.ts';

const folded = (text: string): string => strip(text).replace(/\s+/g, ' ').replace(/[.!]$/, '').toLowerCase();

const strictChoice: Reader['strict'] = (output, { options }) => {
  const text = strip(output);
  return options.some((option) => strip(option) === text) ? readingAt(text, output.indexOf(text)) : nothing;
};

export const choice: Reader = {
  strict: strictChoice,
  lenient(output, context) {
    const { options } = context;
    const text = answerPart(output, context);
    const boxed = boxes(text).at(-1);
    const inBox = boxed && decide(boxed.text, options);
    if (boxed && inBox && inBox !== 'undecided')
      return readingAt(inBox.option, boxed.start + inBox.start, inBox.length);
    const found = decide(text, options, context.stop);
    if (found === 'undecided') return nothing;
    if (found) return { answer: found.option, span: [found.start, found.start + found.length] };
    // A letter in place of the text, or what a choice says with other signs around.
    const lettered = letter.lenient(text, { ...context, question: '' });
    const option = options[(lettered.answer?.charCodeAt(0) ?? 0) - 65];
    if (lettered.answer !== null && option !== undefined) return { answer: option, span: lettered.span };
    const line = /^\s*([^\n]*\S)/d.exec(text);
    const meant = line && meantOption(line[1] ?? '', options);
    return meant ? { answer: meant, span: line.indices?.[1] ?? null } : nothing;
  },
  same: (answer, gold) => folded(answer) === folded(gold),
};

// ------------------------------------------------------------------ yes and no

/** Words for yes and no, by themselves. One row a language; English words that say the same of a statement stand first. */
const truthWords: readonly (readonly [string, string])[] = [
  ['yes', 'no'],
  ['true', 'false'],
  ['yeah', 'nope'],
  ['yep', 'nah'],
  ['oui', 'non'],
  ['vrai', 'faux'],
  ['ja', 'nein'],
  ['wahr', 'falsch'],
  ['richtig', 'nicht richtig'],
  ['sí', 'no'],
  ['verdadero', 'falso'],
  ['sì', 'no'],
  ['vero', 'falso'],
  ['sim', 'não'],
  ['verdadeiro', 'falso'],
  ['ja', 'nee'],
  ['tak', 'nie'],
  ['да', 'нет'],
  ['evet', 'hayır'],
  ['是', '否'],
  ['是的', '不是'],
  ['对', '错'],
  ['正确', '错误'],
  ['はい', 'いいえ'],
  ['예', '아니오'],
  ['네', '아니요'],
  ['نعم', 'لا'],
  ['हाँ', 'नहीं'],
];
const truths: ReadonlyMap<string, 'yes' | 'no'> = new Map(
  truthWords.flatMap(([yes, no]) => [[yes, 'yes'] as const, [no, 'no'] as const]),
);
const truthOf = (text: string): string => truths.get(folded(text)) ?? folded(text);

const byLength = (words: Iterable<string>): string => [...words].sort((a, b) => b.length - a.length).join('|');
const wordSource = byLength(
  [...truths.keys()].filter(
    (word) => /[\p{Script=Latin}]/u.test(word) || word.length > 1 || '是否对错네예'.includes(word),
  ),
);
const wordEdge = '(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Arabic}\\p{Script=Devanagari}\\p{N}])';

/** "No one", "No matter": no answers; "No, he did not", "No." are. */
const noAnswer =
  /^(?:no|non|nee|nie|ja)(?:\s+(?:one|matter|doubt|longer|more|less|problem|single|such|other|idea|need|way|wonder|sooner)\b|-\p{L})/iu;

/** What a text says of a statement: "is true", "is not plausible". The adjectives are those of truth and those the question asks about. */
const positive = 'true|correct|right|accurate|valid|so|the case';
const negative = 'false|incorrect|wrong|untrue|inaccurate|invalid|impossible';

const askedWord =
  /\b(?:is|are|was|were|be|sound|sounds|seem|seems)\b[^?.\n]{0,120}?\b(plausible|possible|likely|sarcastic|valid|correct|true|consistent|grammatical|reasonable|acceptable|ambiguous|legal|safe|sensible|prime|even|odd|divisible|[a-z]+(?:ible|able|ful|ous|ical))\b/i;

/** Opposites by their first syllable: plausible and implausible. */
const opposites = (word: string): string =>
  ['im', 'in', 'un', 'il', 'ir', 'dis', 'non-', 'non'].map((head) => `${head}${word}`).join('|');

interface Said {
  truth: 'yes' | 'no';
  start: number;
  end: number;
}

function predicates(text: string, question: string): Said[] {
  const asked = askedWord.exec(question)?.[1]?.toLowerCase();
  const yes = asked && !/^(?:false|wrong|incorrect)$/.test(asked) ? `${positive}|${asked}` : positive;
  const no = asked ? `${negative}|${opposites(asked)}` : negative;
  const pattern = new RegExp(
    `(?<head>\\b(?:is|are|was|were|be|seems?|sounds?|appears?|would be|considered|evaluates? to|=)(?:\\s+to be)?|['’]s|['’]re)\\s*(?<not>n['’]t\\s+|(?:indeed\\s+|actually\\s+|therefore\\s+|simply\\s+)?not\\s+|never\\s+)?(?:(?:indeed|very|quite|actually|also|therefore|clearly|a|an|logically|definitely|always|highly|more|most|entirely|completely)\\s+)*["'“*_\`]*(?<word>${no}|${yes})\\b`,
    'dgi',
  );
  return [...text.matchAll(pattern)].flatMap((match) => {
    const span = match.indices?.groups?.word;
    const word = match.groups?.word ?? '';
    if (!span || isHypothetical(text, match.index)) return [];
    const good = !new RegExp(`^(?:${no})$`, 'i').test(word);
    return [
      { truth: good !== Boolean(match.groups?.not) ? ('yes' as const) : ('no' as const), start: span[0], end: span[1] },
    ];
  });
}

/** "if it is true", "whether it is true": nothing is said. */
const isHypothetical = (text: string, at: number): boolean =>
  /\b(?:if|whether|when|unless|suppose|assume|assuming|determine)\b[^.,;\n]{0,80}$/i.test(
    text.slice(Math.max(0, at - 90), at),
  );

/** Yes and no as words of their own: at the beginning, behind "the answer is", at the beginning of a line or sentence, marked. */
function words(text: string): Said[] {
  const found: Said[] = [];
  const add = (word: string, start: number): void => {
    const truth = truths.get(word.toLowerCase());
    if (truth && !noAnswer.test(text.slice(start))) found.push({ truth, start, end: start + word.length });
  };
  for (const one of announcedAt(text, `(?:${wordSource})${wordEdge}`)) add(one.text, one.start);
  const pattern = new RegExp(
    `(?<=(?:^|[.!?:\\n。！？：]|(?:^|[\\s(])["'“‘*_([{\`$]+)[\\s*_"'“‘(\\[{\`$]*)(?<word>${wordSource})${wordEdge}(?=\\s*(?:[.,;:!?)\\]}"'”’*_\`$\\n。，、！—–-]|$|\\s(?:he|she|it|they|the|this|that|these|those|you|we|I|a|an|there|his|her|because|since|if|in|not|is)\\b))`,
    'dgimu',
  );
  for (const match of text.matchAll(pattern)) {
    const span = match.indices?.groups?.word;
    if (span) add(match.groups?.word ?? '', span[0]);
  }
  return found.sort((a, b) => a.start - b.start);
}

/** "yes or no", "true/false", "(Yes, No)": both are offered, none is said. */
function offered(text: string): [number, number][] {
  const pattern = new RegExp(
    `(?:${wordSource})["'”’*_]*\\s*(?:/|,?\\s*or\\s+|\\|)\\s*["'“*_]*(?:${wordSource})${wordEdge}`,
    'giu',
  );
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

function lenientYesNo(output: string, context: ReaderContext): Reading {
  const text = answerPart(output, context);
  const both = offered(text);
  const outside = ({ start }: Said): boolean => !both.some(([from, to]) => start >= from && start < to);
  const said = words(text).filter(outside);
  const answer = ({ truth, start, end }: Said): Reading => {
    const word = text.slice(start, end);
    const listed = context.options.find((option) => truthOf(option) === truth);
    return { answer: listed ?? (truthOf(word) === truth ? word.toLowerCase() : truth), span: [start, end] };
  };
  // Behind "the answer is", the last time; else at once; else the last that is said.
  const announcedWords = announcedAt(text, `(?:${wordSource})${wordEdge}`).map(({ start }) => start);
  const stated = said.filter(({ start }) => announcedWords.includes(start)).at(-1);
  if (stated) return answer(stated);
  const boxed = boxes(text).at(-1);
  const inBox =
    boxed && words(boxed.text.replace(/\\(?:text|mathrm|textbf)\{/g, (mark) => ' '.repeat(mark.length))).at(0);
  if (boxed && inBox) return answer({ ...inBox, start: inBox.start + boxed.start, end: inBox.end + boxed.start });
  const [first] = said;
  if (first && /^[\s*_"'“‘([{`$>-]*$/.test(text.slice(0, first.start))) return answer(first);
  const claims = predicates(text, context.question).filter(outside);
  const all = [...said, ...claims].sort((a, b) => a.start - b.start);
  const distinct = new Set(all.map(({ truth }) => truth));
  const [one] = all;
  if (!one) return nothing;
  if (distinct.size === 1) return answer(one);
  // Working that calls parts true and false: what its last sentence says.
  const end = sentences(text).findLast(({ start, end: to }) =>
    all.some((each) => each.start >= start && each.start < to),
  );
  const ending = all.filter(({ start }) => end && start >= end.start && start < end.end);
  const last = ending.at(-1);
  return last && context.stop !== 'length' && new Set(ending.map(({ truth }) => truth)).size === 1
    ? answer(last)
    : nothing;
}

export const yesNo: Reader = {
  strict: (output, context) =>
    context.options.length > 0 ? strictChoice(output, context) : wholeOutput(output, /^(?:yes|no|true|false)$/i),
  lenient(output, context) {
    const found = lenientYesNo(output, context);
    if (found.answer !== null || context.options.length === 0) return found;
    // Candidates that are other words than yes and no.
    const named = decide(answerPart(output, context), context.options);
    return named && named !== 'undecided'
      ? { answer: optionOf(named.option, context.options), span: [named.start, named.start + named.length] }
      : nothing;
  },
  same: (answer, gold) => truthOf(answer) === truthOf(gold),
};
