/** Jinja2's filters for HTML, without automatic escaping: what they give is plain text. One row each. */
import { decodeHTML } from 'entities';
import { spaces } from '../shared/whitespace.ts';
import { entriesOf, isDict, isNumber, PythonError, repr, str, strip, truthy } from './python.ts';
import { type Arguments, type TemplateFilter, Undefined } from './template-scope.ts';

const given = ({ positional, named }: Arguments, place: number, name: string): unknown =>
  positional[place] ?? named.get(name);

const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/'/g, '&#39;').replace(/"/g, '&#34;');

const escapeText: TemplateFilter = (value) => escaped(str(value));

const words = new RegExp(`[${spaces}]+`, 'u');

/** Code points of a number that Python's `html.unescape` takes for nothing. */
const isNothing = (code: number): boolean =>
  (code >= 1 && code <= 8) ||
  code === 0xb ||
  (code >= 0xe && code <= 0x1f) ||
  (code >= 0x7f && code <= 0x9f) ||
  (code >= 0xfdd0 && code <= 0xfdef) ||
  (code > 0xffff && (code & 0xfffe) === 0xfffe) ||
  (code & 0xffff) === 0xfffe ||
  (code & 0xffff) === 0xffff;

/** `html.unescape`: names as in HTML 5, also without a semicolon where that is allowed. */
const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+);?|#[xX]([\da-fA-F]+);?|[^\t\n\f <&#;]{1,32};?)/g, (whole, decimal, hexadecimal) => {
    if (decimal === undefined && hexadecimal === undefined) return decodeHTML(whole);
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    // 0x80 to 0x9f stand for the characters of Windows-1252, as in HTML 5; five of them for none.
    if ((code >= 0x80 && code <= 0x9f) || code === 0 || code === 0xd) return decodeHTML(`&#${code};`);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd';
    return isNothing(code) ? '' : String.fromCodePoint(code);
  });

/** The text without tags and comments, up to the first that is not closed. */
function withoutTags(text: string): string {
  let out = '';
  let from = 0;
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', from)) {
    const [open, close] = text.startsWith('<!--', start) ? [4, '-->'] : [0, '>'];
    const end = text.indexOf(close, start + open);
    if (end < 0) break;
    out += text.slice(from, start);
    from = end + close.length;
  }
  return out + text.slice(from);
}

/** White space becomes one space, and entities their characters. */
const stripTags: TemplateFilter = (value) =>
  unescaped(
    strip(withoutTags(str(value)))
      .split(words)
      .join(' '),
  );

const xmlAttributes: TemplateFilter = (value, args) => {
  if (!isDict(value)) throw new PythonError('xmlattr needs a dict.');
  const parts = entriesOf(value).flatMap(([key, entry]) => {
    if (entry === null || entry === undefined || entry instanceof Undefined) return [];
    if (/[\t-\r\x20/>=]/.test(str(key))) throw new PythonError(`Invalid character in attribute name: ${repr(key)}`);
    return [`${escaped(str(key))}="${escaped(str(entry))}"`];
  });
  const space = truthy(given(args, 0, 'autospace') ?? true) && parts.length > 0 ? ' ' : '';
  return space + parts.join(' ');
};

/** Python's `\w` and `\d` in the patterns below. */
const letter = '[\\p{L}\\p{N}_]';
const host = '[\\p{L}\\p{N}_%-]';
const address = new RegExp(
  `^(?:(?:https?://|www\\.)(?:(?:${host}+\\.)+)?(?:[a-z]{2,63}|xn--[\\p{L}\\p{N}_%]{2,59})` +
    `|(?:${host}{2,63}\\.)+(?:com|net|int|edu|gov|org|info|mil)` +
    `|https?://(?:\\p{Nd}{1,3}(?:\\.\\p{Nd}{1,3}){3}|\\[(?:[\\p{Nd}a-f]{0,4}:){2}(?:[\\p{Nd}a-f]{0,4}:?){1,6}\\]))` +
    `(?::\\p{Nd}{1,5})?(?:[/?#][^${spaces}]*)?$`,
  'iu',
);
const mail = new RegExp(`^[^${spaces}]+@${letter}[\\p{L}\\p{N}_.-]*\\.${letter}+$`, 'u');
const scheme = /^[\p{L}\p{N}_.+-]{2,}:\/{0,2}$/u;

const pairs = [
  ['(', ')'],
  ['<', '>'],
  ['&lt;', '&gt;'],
] as const;
const count = (text: string, part: string): number => text.split(part).length - 1;

/** A word's brackets and marks around what may be an address; a closing bracket that is opened inside belongs to it. */
function parted(word: string): { head: string; middle: string; tail: string } {
  const head = /^(?:[(<]|&lt;)+/.exec(word)?.[0] ?? '';
  let middle = word.slice(head.length);
  let tail = /(?:[)>.,\n]|&gt;)+$/.exec(middle)?.[0] ?? '';
  middle = middle.slice(0, middle.length - tail.length);
  for (const [open, close] of pairs) {
    const opened = count(middle, open);
    if (opened <= count(middle, close)) continue;
    for (let moved = Math.min(opened, count(tail, close)); moved > 0; moved--) {
      const end = tail.indexOf(close) + close.length;
      middle += tail.slice(0, end);
      tail = tail.slice(end);
    }
  }
  return { head, middle, tail };
}

const urlize: TemplateFilter = (value, args, evaluator) => {
  const limit = given(args, 0, 'trim_url_limit') ?? null;
  if (limit !== null && !isNumber(limit)) throw new PythonError('trim_url_limit must be a whole number.');
  const rels = new Set(
    str(given(args, 3, 'rel') ?? '')
      .split(words)
      .filter(Boolean),
  );
  if (truthy(given(args, 1, 'nofollow'))) rels.add('nofollow');
  rels.add('noopener');
  const target = given(args, 2, 'target') ?? null;
  const more = given(args, 4, 'extra_schemes') ?? null;
  const schemes = more === null ? [] : [...evaluator.iterate(more)].map(str);
  const wrong = schemes.find((one) => !scheme.test(one));
  if (wrong !== undefined) throw new PythonError(`${repr(wrong)} is not a valid URI scheme prefix.`);
  const attributes = ` rel="${escaped([...rels].sort().join(' '))}"${target === null || target === '' ? '' : ` target="${escaped(str(target))}"`}`;
  const shortened = (text: string): string => {
    const letters = Array.from(text);
    return limit !== null && letters.length > Number(limit) ? `${letters.slice(0, Number(limit)).join('')}...` : text;
  };
  const linked = (middle: string): string => {
    if (address.test(middle)) {
      const place = /^https?:\/\//.test(middle) ? middle : `https://${middle}`;
      return `<a href="${place}"${attributes}>${shortened(middle)}</a>`;
    }
    if (middle.startsWith('mailto:') && mail.test(middle.slice(7))) return `<a href="${middle}">${middle.slice(7)}</a>`;
    if (/^(?!www\.|@)[^:]*@[^:]*$/.test(middle) && mail.test(middle)) return `<a href="mailto:${middle}">${middle}</a>`;
    return schemes
      .filter((one) => middle !== one && middle.startsWith(one))
      .reduce((text) => `<a href="${text}"${attributes}>${text}</a>`, middle);
  };
  return escaped(str(value))
    .split(new RegExp(`([${spaces}]+)`))
    .map((word) => {
      const { head, middle, tail } = parted(word);
      return head + linked(middle) + tail;
    })
    .join('');
};

export const htmlFilters: readonly (readonly [string, TemplateFilter])[] = [
  ['e', escapeText],
  ['escape', escapeText],
  ['forceescape', escapeText],
  ['safe', (value) => value],
  ['striptags', stripTags],
  ['urlize', urlize],
  ['xmlattr', xmlAttributes],
];
