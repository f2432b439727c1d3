/** Choices that a text names, which of them it denies, and for which it decides. */
import type { StopReason } from '../shared/results.ts';
import { distance } from './near-miss.ts';
import { strip } from './python.ts';
import {
  announcedAt,
  conclusionSource,
  escapeSource,
  type Found,
  sentences,
  wholeSentences,
} from './readers-common.ts';

export interface Mention {
  option: string;
  start: number;
  length: number;
  /** "not Paris", "rather than Paris", "Paris is wrong". */
  denied: boolean;
}

// A number is not named by a longer one: 12 not in 12.5, 1,200 not in 21,200.
const edgeBefore = (option: string): string =>
  /^\p{N}/u.test(option)
    ? '(?<![\\p{L}\\p{N}]|\\p{N}[.,]|[-−](?=\\p{N}))'
    : /^\p{L}/u.test(option)
      ? '(?<![\\p{L}\\p{N}])'
      : '';
const edgeBehind = (option: string): string =>
  /\p{N}$/u.test(option) ? '(?![\\p{L}\\p{N}]|[.,]\\p{N})' : /\p{L}$/u.test(option) ? '(?![\\p{L}\\p{N}])' : '';

/** The options as a source, whatever their spaces; a full stop at their ends may be missing. */
function optionsSource(options: readonly string[]): string {
  const usable = [...new Set(options.map(strip).filter(Boolean))].sort((a, b) => b.length - a.length);
  const texts = usable.map((option) => option.replace(/(?<=\S)\.$/, ''));
  const sources = texts.map((text) => text.split(/\s+/).map(escapeSource).join('\\s+'));
  const before = texts.map(edgeBefore);
  const behind = texts.map(edgeBehind);
  // Classes of all letters take most of the time of making such a pattern: edges that all options share stand once.
  const [edge, ...others] = new Set(before.map((one, at) => `${one} ${behind[at]}`));
  if (edge !== undefined && others.length === 0) return `${before[0]}(?:${sources.join('|')})${behind[0]}`;
  return sources.map((source, at) => `${before[at]}${source}${behind[at]}`).join('|');
}

const folded = (text: string): string => strip(text).replace(/\s+/g, ' ').replace(/\.$/, '').toLowerCase();

/** The option that a piece of text is, as the benchmark writes it. */
export const optionOf = (text: string, options: readonly string[]): string =>
  options.find((option) => strip(option) === strip(text)) ??
  options.find((option) => folded(option) === folded(text)) ??
  text;

const deniedBefore =
  /(?:(?:\b(?:is|are|was|does|do|did|can|could|would|should)\s?n[o'’]?t|\bnot|\bnever|n['’]t|\bneither|\bnor|\brather than|\binstead of|\bother than|\bunlike|\bexcept(?: for)?|\bbut not|\bwithout|不是|并非)\s+(?:(?:be|to be|the|a|an|called|necessarily|really|actually|in|at|with|option|choice|answer|simply|logically)\s+|["'“*_(])*|不是|非)$/i;
/** "Thank you, Ted!": spoken to, not named. */
const spokenTo =
  /\b(?:thanks|thank you|sorry|hi|hello|hey|dear|please|wow|oh|yes|no|good (?:morning|night)|bye|welcome)[,!]?\s+$/i;
const deniedBehind =
  /^["'”’*_).,:]*\s*(?:(?:is|was|are|would be|seems)\s+)?(?:(?:clearly|definitely|also|therefore|simply)\s+)?(?:not\s+(?:the\s+)?(?:\w+\s+)?(?:correct|right|true|answer|possible|valid|a valid|an option|similar|the)|isn['’]t|wasn['’]t|cannot be|can['’]t be|(?:is|was|are)\s+(?:incorrect|wrong|false|ruled out|eliminated|excluded|impossible)|this (?:answer|option|choice|one) is (?:incorrect|wrong|not))/i;

/** Mentions of whole choices in a text, longest first, none inside of another. */
export function mentions(text: string, options: readonly string[]): Mention[] {
  const source = optionsSource(options);
  if (source === '') return [];
  return [...text.matchAll(new RegExp(source, 'giu'))].map((match) => ({
    option: optionOf(match[0], options),
    start: match.index,
    length: match[0].length,
    denied:
      deniedBefore.test(text.slice(Math.max(0, match.index - 40), match.index)) ||
      (spokenTo.test(text.slice(Math.max(0, match.index - 20), match.index)) &&
        /^[!.?,]/.test(text.slice(match.index + match[0].length))) ||
      deniedBehind.test(text.slice(match.index + match[0].length, match.index + match[0].length + 60)),
  }));
}

/** Is a text that lists the options again: three or more (or all) of them, each at the beginning of its line? */
function listsOptions(text: string, all: readonly Mention[], options: readonly string[]): number {
  const wanted = Math.min(options.length, Math.max(2, Math.min(3, options.length)));
  const heads = all.filter(({ start }) =>
    /(?:^|\n)[ \t]*(?:[-*•–>]|\(?[A-Za-z0-9]{1,2}[).:]\)?|\*\*|["'([]|\s)*$/.test(text.slice(0, start)),
  );
  let run: Mention[] = [];
  let end = 0;
  for (const head of heads) {
    const last = run.at(-1);
    const next = last ? text.slice(last.start + last.length, head.start).split('\n').length - 1 : 0;
    if (last && next >= 1 && next <= 2 && last.option !== head.option) run.push(head);
    else run = [head];
    if (new Set(run.map(({ option }) => option)).size >= wanted && options.length > 1) end = head.start + head.length;
  }
  return end;
}

const joined =
  /^["'”’*_)\s]*(?:,|or\b|and\b|\/|&|and\/or\b|oder\b|ou\b|o\b|或|和|、)\s*(?:(?:the|option|choice|either)\s+)*["'“*_(]*$/i;

/** Is the first of these two named together with the second, as in "Paris or Rome", "A, B"? */
const namedTogether = (text: string, first: { start: number; length: number }, second: { start: number }): boolean =>
  joined.test(text.slice(first.start + first.length, second.start));

export type Decision = { option: string; start: number; length: number } | 'undecided' | null;

const concludes = new RegExp(`^[\\s*_>#-]*${conclusionSource}`, 'iu');

/** The option that a text decides for. `undecided`: it names several and leaves it at that. */
export function decide(text: string, options: readonly string[], stop?: StopReason): Decision {
  const everything = mentions(text, options);
  const listed = listsOptions(text, everything, options);
  const all = everything.filter(({ start }) => start >= listed);
  const stated = announcedOption(text, options, all);
  if (stated) return stated;
  const positive = all.filter(({ denied }) => !denied);
  const [first] = positive;
  if (!first) return listed > 0 ? 'undecided' : complement(all, options);
  const distinct = new Set(positive.map(({ option }) => option));
  const atStart = /^[\s*_$`"'“([{:>-]*(?:(?:it'?s|it is|this is|that is|option|answer)\s+["'“*_(]*)?$/i.test(
    text.slice(0, first.start),
  );
  if (distinct.size === 1) return stop !== 'length' || atStart || isSaid(text, first) ? first : null;
  const second = positive.find(({ start, option }) => start > first.start && option !== first.option);
  if (listed === 0 && atStart) return second && namedTogether(text, first, second) ? 'undecided' : first;
  const last = sentences(text)
    .filter(({ text: sentence, start }) => start >= listed && concludes.test(sentence))
    .at(-1);
  if (last) {
    const inside = positive.filter(({ start }) => start >= last.start && start < last.end);
    const [one] = inside;
    if (one && new Set(inside.map(({ option }) => option)).size === 1) return one;
  }
  return 'undecided';
}

/**
 * In an output that broke off: is this choice named in a whole sentence that says something? Numbers are named in working,
 * and a sentence that begins with an aim ("To find …", "Let's …") says only what comes.
 */
function isSaid(text: string, { option, start }: Mention): boolean {
  const sentence = wholeSentences(text).find((one) => start >= one.start && start < one.end);
  return (
    sentence !== undefined &&
    !/^[\W\p{N}]+$/u.test(option.replace(/\p{L}{1,3}\.?/gu, '')) &&
    !/^\W*(?:to|let|let's|let us|first|we|given|if)\b/i.test(sentence.text)
  );
}

/**
 * The choice that a line must mean although it is not written so: with a few letters wrong (an edit in six letters, and no
 * other choice nearly as close), with one or two words put in, or only its beginning. For lines of eight letters or more.
 */
export function meantOption(line: string, options: readonly string[]): string | null {
  // A choice that is named outright and still not decided for was denied.
  if (mentions(line, options).length > 0) return null;
  const plain = (text: string): string =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
  const said = plain(line);
  if (said.length < 8 || said.length > 200) return null;
  const begun = options.filter((option) => plain(option).startsWith(`${said} `));
  if (begun.length === 1) return begun[0] ?? null;
  const holding = options.filter((option) => holdsInOrder(said.split(' '), plain(option).split(' ')));
  if (holding.length === 1) return holding[0] ?? null;
  const near = options
    .map((option) => ({ option, edits: distance(said, plain(option)) }))
    .sort((a, b) => a.edits - b.edits);
  const [best, second] = near;
  if (!best || best.edits > plain(best.option).length / 6) return null;
  return second && second.edits < best.edits + 2 ? null : best.option;
}

/** Are these words (three or more) in a line, in their order, with at most two others in between? */
function holdsInOrder(line: readonly string[], words: readonly string[]): boolean {
  if (words.length < 3 || line.length > words.length + 2) return false;
  let next = 0;
  for (const word of line) if (word === words[next]) next++;
  return next === words.length;
}

/** Behind "the answer is", the last time. */
function announcedOption(text: string, options: readonly string[], all: readonly Mention[]): Decision {
  const source = optionsSource(options);
  const found: Found[] = announcedAt(text, source);
  for (const one of found.reverse()) {
    const mention = all.find(({ start }) => start === one.start);
    if (!mention || mention.denied) continue;
    const next = all.find(({ start, option }) => start > one.start && option !== mention.option);
    return next && namedTogether(text, mention, next) ? 'undecided' : mention;
  }
  return null;
}

/** With two options, who denies one says the other. */
function complement(all: readonly Mention[], options: readonly string[]): Decision {
  const [first] = all;
  const distinct = [...new Set(options.map(strip))];
  if (!first || distinct.length !== 2 || new Set(all.map(({ option }) => option)).size > 1) return null;
  const other = distinct.find((option) => option !== strip(first.option));
  return other === undefined ? null : { option: optionOf(other, options), start: first.start, length: first.length };
}
