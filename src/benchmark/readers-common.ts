/** What all built-in readers use: where in an output an answer may stand, and words that announce one. */
import type { Reading, StopReason } from '../shared/results.ts';
import { strip } from './python.ts';

/** What a reader may know of the item and its output. */
export interface ReaderContext {
  /** Candidate answers as texts; empty where there are none. For letters: the texts behind the letters, where the prompt lists them. */
  options: readonly string[];
  /** The question, to see where an output goes on to a next one. */
  question: string;
  /** Why the output ended; `length`: in the middle of whatever it was saying. */
  stop?: StopReason;
  /** For JSON: does a value fit the schema that the benchmark gives? */
  fits?: (value: unknown) => boolean;
}

export interface Reader {
  /** The answer where the output, up to the stop and without outer spaces, is exactly in the form; else null. */
  strict(output: string, context: ReaderContext): Reading;
  /** The answer that a careful reader takes out of the output, whatever its form; null where there is none. */
  lenient(output: string, context: ReaderContext): Reading;
  same(answer: string, gold: string): boolean;
}

export const nothing: Reading = { answer: null, span: null };

export const readingAt = (answer: string, start: number, length = answer.length): Reading => ({
  answer,
  span: [start, start + length],
});

/** The whole output without outer spaces, where it fits the pattern. */
export function wholeOutput(output: string, pattern: RegExp): Reading {
  const text = strip(output);
  return pattern.test(text) ? readingAt(text, output.indexOf(text)) : nothing;
}

export const escapeSource = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

// ------------------------------------------------------------------ where an answer may stand

/** Words that a next question begins with, at the beginning of a line, with Markdown marks or without. */
const questionCue =
  /\n[\s*#>_]*(?:(?:(?:Next |New |Follow-up )?Question|Problem|Exercise|Passage|Context|Input|Instruction|Human|User)\b[^\n:]{0,20}:|Q\s*\d*\s*[:.]|###\s*(?:Instruction|Question|Human|User)\b)/;

/** Marks of chat formats that end a turn or begin another, where a model writes them out as text. */
const turnMark =
  /<\|(?:im_start|im_end|endoftext|eot_id|end_of_text|start_header_id|end|user|assistant)\|>|<\/?s>|<(?:start|end)_of_turn>|\[\/?INST\]|<｜[^｜\n]{1,30}｜>/;

/** How the question begins, as `Question:`; a next one begins so too. */
function ownCue(question: string): string | null {
  return /^\s*([A-Z][\w ]{0,24}:)/.exec(question)?.[1] ?? null;
}

/** Where an output goes on to a next question or to another's turn; its length where it does not. */
export function runOnAt(output: string, question: string): number {
  // The first line may repeat the cue of its own question; a next question stands on a later line.
  const start = Math.max(0, output.search(/\S/));
  const rest = output.slice(start);
  const places = [rest.search(questionCue), rest.search(turnMark)];
  const cue = ownCue(question);
  if (cue) places.push(output.indexOf(cue, start + 1) - start);
  const found = places.filter((at) => at > 0);
  return found.length > 0 ? start + Math.min(...found) : output.length;
}

/** Where models think aloud before they answer: opening and closing mark. */
const thinking: readonly [RegExp, RegExp][] = [
  [
    /<(think|thinking|thought|reasoning|reason|scratchpad|reflection)>/i,
    /<\/(?:think|thinking|thought|reasoning|reason|scratchpad|reflection)>/i,
  ],
  [/\[THINK\]/, /\[\/THINK\]/],
  [/◁think▷/, /◁\/think▷/],
  [/<\|channel\|>(?:analysis|commentary)\b/, /<\|channel\|>final(?:<\|message\|>)?/],
  [/<\|begin_of_thought\|>/, /<\|end_of_thought\|>/],
];

const blanks = (length: number): string => ' '.repeat(length);

/** Thoughts blanked out, so that places stay; thoughts that never ended leave nothing. */
function withoutThoughts(output: string): string {
  let text = output;
  for (const [opens, closes] of thinking) {
    // A chat template may have opened the thoughts in the prompt: then only the closing mark is there.
    const closed = [...text.matchAll(new RegExp(closes, `g${closes.flags}`))].at(-1);
    const from = closed ? closed.index + closed[0].length : 0;
    text = blanks(from) + text.slice(from);
    const open = opens.exec(text);
    if (open) text = text.slice(0, open.index) + blanks(text.length - open.index);
  }
  return text;
}

/** A question without the options that it lists: who says one of these again has answered. */
export const stemOf = (question: string): string =>
  question.slice(0, question.search(/\n\s*(?:(?:answer )?(?:options|choices)\s*:|\(?A[).:]\s|[-*•]\s)|$/i));

/** Words of a repeated question that are enough to be no chance. */
const repeatedWords = 8;

/** Without a beginning that says the question again, word by word; blanked out. */
function withoutRepeat(output: string, question: string): string {
  const asked = ` ${wordsOf(stemOf(question)).join(' ')} `;
  const said = [...output.matchAll(/[\p{L}\p{N}]+/gu)];
  let run = '';
  let count = 0;
  for (const word of said) {
    const longer = `${run} ${word[0].toLowerCase()}`;
    if (!asked.includes(`${longer} `)) break;
    run = longer;
    count++;
  }
  const last = said[count - 1];
  if (!last || count < repeatedWords) return output;
  // Whole sentences only: "The capital of France is" may lead to the answer.
  const behind = last.index + last[0].length;
  const end =
    count === said.length
      ? behind
      : (/^[\s\S]*(?:[.?!:](?=\s|$)|\n)/.exec(output.slice(0, behind + 1))?.[0].length ?? 0);
  return blanks(end) + output.slice(end);
}

/** Words of a text in small letters, without signs. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** `<answer>…</answer>`, the last one; the closing mark may be the stop text. */
const answerMark = /<(answer|final_answer|final|solution)>([\s\S]*?)(?:<\/\1>|$)/gi;

/**
 * The part of an output that may hold its answer, from the beginning on: without thoughts, inside of `<answer>` marks where
 * it has them, up to a next question. What is left out in front is blanked, so that places are those of the output.
 */
export function answerPart(output: string, { question }: Pick<ReaderContext, 'question'>): string {
  const spoken = withoutRepeat(withoutThoughts(output), question);
  const text = spoken.slice(0, runOnAt(spoken, question));
  const marked = [...text.matchAll(answerMark)].filter((match) => strip(match[2] ?? '') !== '').at(-1);
  if (!marked) return text;
  const start = marked.index + (marked[1]?.length ?? 0) + 2;
  return blanks(start) + text.slice(start, start + (marked[2]?.length ?? 0));
}

// ------------------------------------------------------------------ words that announce an answer

/** "the answer is" in the languages that benchmarks come in: what is announced, and the verb or colon behind it. */
const announced = [
  '(?:(?:final|correct|right|best|likely|possible|resulting|desired|required) )*(?:answer|option|choice|result|solution|statement|conclusion)(?: (?:to|for|of|in|here|among|would|should)\\b(?: [^.:\\n]{0,60})?)?',
  '(?:la |ma )?(?:bonne |réponse )*(?:réponse|solution)(?: (?:correcte|finale|exacte))*',
  '(?:die |meine )?(?:richtige |korrekte |endgültige )*(?:Antwort|Lösung)',
  '(?:la |mi )?(?:respuesta|opción|solución)(?: (?:correcta|final))*',
  '(?:la )?(?:risposta|soluzione|opzione)(?: (?:corretta|giusta|finale))*',
  '(?:a )?(?:resposta|alternativa|opção)(?: (?:correta|certa|final))*',
  '(?:правильный |окончательный |верный )*ответ',
  '(?:最终|正确|所以|因此|故|本题)*(?:的)?(?:答案|选项|选择)(?:应该|应|就)?',
  '(?:正解|答え|回答|解答)',
  '(?:정답|답)(?:은|는)?',
  '(?:الإجابة|الجواب)(?: (?:الصحيحة|الصحيح|النهائية))?',
  '(?:सही )?उत्तर',
].join('|');
const verbs =
  '(?:(?:is|are|was|equals|must be|would be|should be|will be|seems to be|can be|being|est|ist|lautet|wäre|es|è|é|sería|sarebbe|seria|будет|это)(?!\\p{L})|是|为|為|选|選|は|[:：=—]|-(?=\\s))';
const fillers =
  '(?:(?:therefore|thus|then|so|hence|simply|clearly|actually|indeed|probably|definitely|likely|approximately|about|around|roughly|exactly|equal to|either way|option|choice|letter|answer|statement|sentence|number|value|that|the|just|only|also|always|opción|Option|lettre|Buchstabe|la|letra)(?:\\s+|(?=[(*:])))';
export const wrapSource =
  '[\\s:：*_$`"\'“”‘’«「『(（\\[{>]*(?:\\\\(?:boxed|fbox|text|textbf|mathrm|mathbf|bf|large|displaystyle)\\s*\\{?\\s*)*[\\s*_$`"\'“”‘’(\\[{]*';
// Compiled once: with its body in one pattern, it would be compiled anew for the options of every item.
const cue = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:${announced})\\**\\s*(?:${verbs}\\s*\\**\\s*)+|####+|(?:=>|⇒|→|\\\\(?:implies|Rightarrow))\\s*(?=\\S{1,12}\\s*$))`,
  'gimu',
);
/** What may stand between the announcement and the answer, a piece at a time. */
const between = new RegExp(
  `${fillers}|[\\s:：*_$\`"'“”‘’«「『(（\\[{>]|\\\\(?:boxed|fbox|text|textbf|mathrm|mathbf|bf|large|displaystyle)\\s*\\{?`,
  'iuy',
);
const piecesBetween = 40;

export interface Found {
  text: string;
  start: number;
  end: number;
}

/** All places where `body` stands behind words such as "the answer is", in the order of the text. */
export function announcedAt(text: string, body: string, flags = 'iu'): Found[] {
  const found: Found[] = [];
  const heads = [...text.matchAll(cue)];
  if (heads.length === 0) return found;
  const pattern = new RegExp(body, `${flags}y`);
  for (const head of heads) {
    let at = head.index + head[0].length;
    for (let pieces = 0; pieces < piecesBetween; pieces++) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match && match[0] !== '') {
        found.push({ text: match[0], start: at, end: at + match[0].length });
        break;
      }
      between.lastIndex = at;
      const piece = between.exec(text);
      if (!piece) break;
      at += piece[0].length;
    }
  }
  return found;
}

/** What stands in `\boxed{…}` (braces may be inside), in the order of the text; `\fbox` too. An unclosed one goes to the end. */
export function boxes(text: string): Found[] {
  const found: Found[] = [];
  for (const match of text.matchAll(/\\(?:boxed|fbox|framebox)\s*(\{|(?=\S))/g)) {
    const start = match.index + match[0].length;
    if (match[1] === undefined || match[1] === '') {
      const word = /^\S+/.exec(text.slice(start))?.[0] ?? '';
      found.push({ text: word, start, end: start + word.length });
      continue;
    }
    let depth = 1;
    let at = start;
    for (; at < text.length && depth > 0; at++) {
      if (text[at] === '{') depth++;
      else if (text[at] === '}') depth--;
    }
    const end = depth === 0 ? at - 1 : at;
    found.push({ text: text.slice(start, end), start, end });
  }
  return found;
}

/** Words by which a text draws its conclusion, at the beginning of a sentence. */
export const conclusionSource =
  '(?:(?:and |but )?(?:so|therefore|thus|hence|consequently|accordingly|in conclusion|in total|in all|altogether|overall|finally|as a result|this means(?: that)?|that means(?: that)?|it follows that|we (?:get|find|conclude)(?: that)?|i conclude(?: that)?|donc|also|folglich|daher|entonces|por lo tanto|quindi|portanto|следовательно|значит|所以|因此|故|따라서)\\b|∴)';

// ------------------------------------------------------------------ sentences

/** The sentences of a text that broke off, without the last where it is not complete. */
export function wholeSentences(text: string): Found[] {
  const all = sentences(text);
  return /[.!?。！？।]["'”’)\]*]*$/.test(all.at(-1)?.text ?? '') ? all : all.slice(0, -1);
}

/**
 * Sentences of a text with their places: up to a line break, or up to a full stop that ends one (not the one of a decimal
 * number, an initial or a list's number).
 */
export function sentences(text: string): Found[] {
  const found: Found[] = [];
  const ends =
    /(?<![\s(][A-Z]|^[A-Z]|^\s*\d{1,2}|\n\s*\d{1,2}|\b(?:Mr|Mrs|Ms|Dr|St|vs|etc|e\.g|i\.e|No))[.!?]["'”’)\]*]*(?=\s|$)|\n|[。！？।]/g;
  let start = 0;
  const add = (end: number): void => {
    const raw = text.slice(start, end);
    const lead = raw.length - raw.trimStart().length;
    if (raw.trim() !== '') found.push({ text: raw.trim(), start: start + lead, end: start + lead + raw.trim().length });
    start = end;
  };
  for (const match of text.matchAll(ends)) add(match.index + match[0].length);
  add(text.length);
  return found;
}
