/** Numbers as people and models write them: where they stand in a text, and what they are worth. */
import { multipliers, numberWordsSource, wordsValue } from './number-words.ts';
import { strip } from './python.ts';

/** Decimal digits of every script as 0 to 9: the ten of a script stand together (five sets in a row in mathematics). */
function asciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    if (code >= 0x1d7ce && code <= 0x1d7ff) return String((code - 0x1d7ce) % 10);
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
    return String(value);
  });
}

const vulgar: Readonly<Record<string, number>> = {
  '½': 1 / 2,
  '⅓': 1 / 3,
  '⅔': 2 / 3,
  '¼': 1 / 4,
  '¾': 3 / 4,
  '⅕': 1 / 5,
  '⅖': 2 / 5,
  '⅗': 3 / 5,
  '⅘': 4 / 5,
  '⅙': 1 / 6,
  '⅚': 5 / 6,
  '⅛': 1 / 8,
  '⅜': 3 / 8,
  '⅝': 5 / 8,
  '⅞': 7 / 8,
};
const vulgarClass = `[${Object.keys(vulgar).join('')}]`;
const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const currency = '(?:US|AU|CA)?\\\\?[$€£¥₹]|(?:USD|EUR|GBP|Rs\\.?)(?=\\s?\\p{Nd})';
const sign = '[-−–‐﹣－+±]';
const d = '\\p{Nd}';
// Groups of digits: 1,234 · 1{,}234 · 1\,234 · 1\!,234 · 1,23,456 (India) · 1'234 · 1 234 with no-break or thin spaces.
const grouped = `${d}{1,3}(?:(?:,|\\{,\\}|\\\\[,;:]|\\\\!,|,\\\\!)${d}{3})+(?:[.٫]${d}+)?|${d}{1,2}(?:,${d}{2})+,${d}{3}(?:\\.${d}+)?|${d}{1,3}(?:['’\\u00a0\\u202f\\u2009٬]${d}{3})+(?:[.,٫]${d}+)?|[1-9]${d}{0,2} ${d}00(?: ${d}{3})*`;
// Points as groups where that is certain: `1.000,5`, `1.234.567`; a comma before one or two digits is a decimal one.
const continental = `${d}{1,3}(?:\\.${d}{3})+,${d}+|${d}{1,3}(?:\\.${d}{3}){2,}|${d}+,${d}{1,2}(?![${d}\\p{Nd},.])`;
const plain = `${d}+(?:[.٫]${d}+)?|[.]${d}+`;
const decimal = `(?:${continental}|${grouped}|${plain})`;
const edge = `(?![\\p{Nd}]|,${d}{3}(?!${d}))`;
const exponent = `(?:[eE][-+−]?${d}+(?![\\p{L}\\p{N}])|\\s*(?:[×x*·]|\\\\times|\\\\cdot)\\s*10\\s*(?:(?:\\^|\\*\\*)\\s*\\{?\\s*[-−]?${d}+\\}?|[⁻-]?[${superscripts}]+))`;
const power = `${d}+\\s*(?:\\^\\s*\\{?\\s*${d}+\\}?|\\*\\*\\s*${d}+|[${superscripts}]+)`;
const fraction = `\\\\[dtc]?frac\\s*(?:\\{\\s*(${sign}?\\s*${d}+)\\s*\\}\\s*\\{\\s*(${d}+)\\s*\\}|(${d})\\s*(${d}))`;
const slash = `(?:${d}+[\\s-]+(?=${d}+\\s?[/⁄]\\s?${d}+(?![${d}\\p{Nd}]|[/⁄.]${d})))?${d}+\\s?[/⁄]\\s?${d}+(?![${d}\\p{Nd}]|[/⁄.]\\s?${d})`;
const scale = `(?:\\s*(?:${Object.keys(multipliers).join('|')})s?(?![\\p{L}])|(?:k|K|bn)(?![\\p{L}\\p{N}]))`;
const body = `(?:${d}*\\s?${fraction}|${slash}|${d}*\\s?${vulgarClass}|${power}|${decimal}${edge}${exponent}?)`;

/** A number with sign, currency, and what scales it, as a source for a pattern with the flag `u`. */
export const numberSource = `(?:${sign}\\s?(?=[$€£¥₹\\\\\\p{Nd}.${vulgarClass.slice(1, -1)}]))?(?:(?:${currency})\\s?)?(?:${sign}(?=[\\p{Nd}.]))?${body}${scale}?(?:\\s?\\\\?%)?`;

const signOf = (text: string): string => text.replace(/[−–‐﹣－]/g, '-').replace(/^±/, '');

/** The value of a number as people write it, digits of any script or words; null where it is none. */
export function numberValue(text: string): number | null {
  let rest = asciiDigits(strip(text)).replace(/[.。]$/, '');
  rest = signOf(rest).replace(/^([-+])\s+/, '$1');
  if (/^(?:[a-z]+[\s-]*)+$/i.test(rest)) return wordsValue(rest);
  rest = rest
    .replace(/^([-+]?)\s*(?:US|AU|CA)?\\?[$€£¥₹]\s*(-?)/, '$1$2')
    .replace(/^([-+]?)\s*(?:USD|EUR|GBP|Rs\.?)\s*/, '$1')
    .replace(/\s*(?:\\?%|\\?[$€£¥₹]|USD|EUR)$/, '');
  let factor = 1;
  const scaled = /^(.*?)\s*(hundred|thousand|million|billion|trillion|k|bn)s?$/i.exec(rest);
  if (scaled) {
    const word = (scaled[2] ?? '').toLowerCase();
    factor = word === 'k' ? 1e3 : word === 'bn' ? 1e9 : (multipliers[word] ?? 1);
    rest = scaled[1] ?? '';
  }
  const value = plainValue(strip(rest));
  return value === null ? null : value * factor;
}

function plainValue(text: string): number | null {
  const negative = text.startsWith('-');
  const rest = text.replace(/^[-+]\s*/, '');
  const value = unsignedValue(rest);
  return value === null ? null : negative ? -value : value;
}

const superscriptValue = (text: string): number =>
  Number(
    [...text].map((one) => (one === '⁻' ? '-' : superscripts.includes(one) ? superscripts.indexOf(one) : one)).join(''),
  );

function unsignedValue(text: string): number | null {
  const latex = /^(\d*)\s?\\[dtc]?frac\s*(?:\{\s*([-+]?\s*\d+)\s*\}\s*\{\s*(\d+)\s*\}|(\d)\s*(\d))$/.exec(text);
  if (latex) return ratio(latex[1] ?? '', latex[2] ?? latex[4] ?? '', latex[3] ?? latex[5] ?? '');
  const slashed = /^(?:(\d+)[\s-]+)?(\d+)\s?[/⁄]\s?(\d+)$/.exec(text);
  if (slashed) return ratio(slashed[1] ?? '', slashed[2] ?? '', slashed[3] ?? '');
  const mixed = new RegExp(`^(\\d*)\\s?(${vulgarClass})$`).exec(text);
  if (mixed) return Number(mixed[1] || 0) + (vulgar[mixed[2] ?? ''] ?? 0);
  const times =
    /^(.+?)\s*(?:[×x*·]|\\times|\\cdot)\s*10\s*(?:(?:\^|\*\*)\s*\{?\s*(-?\d+)\}?|([⁻-]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))$/.exec(text);
  if (times) {
    const mantissa = decimalValue(times[1] ?? '');
    return mantissa === null ? null : Number(`${mantissa}e${times[2] ?? superscriptValue(times[3] ?? '')}`);
  }
  const raised = /^(\d+)\s*(?:\^\s*\{?\s*(\d+)\}?|\*\*\s*(\d+)|([⁰¹²³⁴⁵⁶⁷⁸⁹]+))$/.exec(text);
  if (raised) return Number(raised[1]) ** Number(raised[2] ?? raised[3] ?? superscriptValue(raised[4] ?? ''));
  return decimalValue(text);
}

function ratio(whole: string, above: string, below: string): number | null {
  const [a, b] = [Number(above.replace(/\s/g, '')), Number(below)];
  return b === 0 || Number.isNaN(a) ? null : Number(whole || 0) + a / b;
}

function decimalValue(text: string): number | null {
  const groups = text
    .replace(/٫/g, '.')
    .replace(/\{,\}|\\[,;:]|\\!,|,\\!|[٬'’\u00a0\u202f\u2009]/g, ',')
    .replace(/(?<=\d) (?=\d{3}(?!\d))/g, ',');
  let plainText = groups;
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(groups)) plainText = groups.replaceAll('.', '').replace(',', '.');
  else if (/^\d{1,3}(?:\.\d{3}){2,}$/.test(groups)) plainText = groups.replaceAll('.', '');
  else if (/^\d+,\d{1,2}$/.test(groups)) plainText = groups.replace(',', '.');
  else if (/^\d{1,3}(?:,\d{2,3})*,\d{3}(?:[.,]\d+)?$/.test(groups)) {
    const at = /^(.*,\d{3})[.,](\d+)$/.exec(groups);
    const inGroups = at && !/^\d{3}$/.test(at[2] ?? '') ? at : /^(.*,\d{3})\.(\d+)$/.exec(groups);
    plainText = inGroups ? `${(inGroups[1] ?? '').replaceAll(',', '')}.${inGroups[2]}` : groups.replaceAll(',', '');
  }
  return /^(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(plainText) ? Number(plainText) : null;
}

// ------------------------------------------------------------------ numbers in a text

/** `18 or 20`, `18/20`: two numbers are offered. */
export const eitherNumber = /^\s*(?:or|and\/or|oder|ou|或)\s*$/i;

export interface NumberAt {
  text: string;
  start: number;
  end: number;
  value: number;
  /** Part of a sum or product that is written out, not its result: 3 and 4 in `3 + 4 = 7`. */
  operand: boolean;
}

const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';
/** What has digits and is no number: times, dates, ordinals, marks of a list or a step, parts of names and formulas. */
const notNumbers = new RegExp(
  [
    `\\p{Nd}{1,2}:\\p{Nd}{2}(?::\\p{Nd}{2})?(?:\\s?[ap]\\.?m\\b\\.?)?`,
    `\\p{Nd}{1,2}\\s?[ap]\\.?m(?![\\p{L}])\\.?`,
    `\\p{Nd}{4}[-/]\\p{Nd}{1,2}[-/]\\p{Nd}{1,2}|\\p{Nd}{1,2}[-/]\\p{Nd}{1,2}[-/](?:\\p{Nd}{4}|\\p{Nd}{2})(?!\\p{Nd})`,
    `(?<!\\p{L})${month}\\s+\\p{Nd}{1,2}(?:st|nd|rd|th)?(?:,\\s*\\p{Nd}{4})?(?!\\p{Nd})|\\p{Nd}{1,2}(?:st|nd|rd|th)?\\s+(?:of\\s+)?${month}(?:,?\\s+\\p{Nd}{4})?(?![\\p{L}\\p{Nd}])`,
    `\\p{Nd}+(?:st|nd|rd|th)(?![\\p{L}])`,
    `\\p{Nd}+(?:\\.\\p{Nd}+){2,}(?![\\p{Nd}])(?<!(?:^|[^\\p{Nd}.])\\p{Nd}{1,3}(?:\\.\\p{Nd}{3})+)`,
    `(?<=(?:^|\\n)[\\s*#>]*)\\(?\\p{Nd}{1,2}[.)](?=[\\s*]+\\S)`,
    `(?<!\\p{L})(?:step|question|problem|exercise|part|case|example|figure|table|equation|line|chapter|section|option|q)\\s*#?\\p{Nd}+(?!\\p{Nd})`,
    `(?<=[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}]_*)(?<!\\p{Nd}[eE]|\\\\[dtc]?frac)\\p{Nd}+`,
    `_\\{?\\p{Nd}+\\}?`,
    `\\p{Nd}+[xyznm](?![\\p{L}\\p{N}])(?!\\s*\\p{Nd})`,
  ].join('|'),
  'giu',
);

const same = (text: string): string => text.replace(/\P{Nd}/gu, ' ').replace(/\p{Nd}/gu, 'x');

/** The numbers of a text in their order. Digits first; numbers in words where `words` asks for them. */
export function numbersIn(text: string, { words = false } = {}): NumberAt[] {
  // What only looks like a number is made letters of the same length.
  const clear = text.replace(notNumbers, (part, ...rest) => {
    const at = rest.at(-2) as number;
    return keeps(text, part, at) ? part : same(part);
  });
  const found: NumberAt[] = [];
  for (const match of clear.matchAll(new RegExp(numberSource, 'gu'))) {
    const raw = match[0];
    let start = match.index;
    let token = raw.trimEnd();
    // A sign between two numbers is an operator: `16-7`, `16 - 7`, `(2)-1`; so is one with a space behind it in a sum.
    const lead = new RegExp(`^${sign}\\s?`, 'u').exec(token)?.[0] ?? '';
    const before = clear.slice(0, start).trimEnd();
    if (
      lead !== '' &&
      (/[\p{Nd}\p{L})\]}%$]$/u.test(before) ? !/\p{L}$/u.test(before) || before.length === start : false)
    ) {
      start += lead.length;
      token = token.slice(lead.length);
    } else if (/^[-–‐]\s/.test(lead) && /(?:^|\n)\s*$/.test(clear.slice(0, start))) {
      // A dash and a space at the beginning of a line are a list's mark.
      start += lead.length;
      token = token.slice(lead.length);
    }
    const value = numberValue(token);
    if (value === null) continue;
    found.push({
      text: text.slice(start, start + token.length),
      start,
      end: start + token.length,
      value,
      operand: isOperand(clear, start, start + token.length),
    });
  }
  if (words)
    for (const match of clear.matchAll(new RegExp(numberWordsSource, 'giu'))) {
      const value = wordsValue(match[0]);
      const end = match.index + match[0].length;
      if (value !== null && !found.some((one) => one.start < end && match.index < one.end))
        found.push({ text: match[0], start: match.index, end, value, operand: false });
    }
  return found.sort((a, b) => a.start - b.start);
}

/** A list's number that stands alone on its line, or ends the text, is a number after all. */
function keeps(text: string, part: string, at: number): boolean {
  return /^\(?\p{Nd}{1,2}[.)]$/u.test(part) && /^\s*(?:\n|$)/.test(text.slice(at + part.length));
}

const operatorBehind =
  /^[\s)}\]*]*(?:[+×÷*·^]|\\times|\\cdot|\\div|[-−–](?=\s?[\p{Nd}$(\\])|\/(?=\s?[\p{Nd}$(\\])|x(?=\s?[\p{Nd}$(]))\s*[(\\$£€{[]*\s*[-−]?[\p{Nd}\p{L}.]/u;
const operatorBefore =
  /[\p{Nd})\]}%a-z]\**\s*(?:[+×÷*·/^]|\\times|\\cdot|\\div|[-−–]|(?<=\s|\p{Nd})x)\s*[(\\$£€{[]*\s*$/u;

function isOperand(text: string, start: number, end: number): boolean {
  // "18 eggs + 2": units may stand between a number and its operator.
  const behind = text.slice(end, end + 40).replace(/^\s?(?:\p{L}+\s){0,2}(?=[+×÷*=])/u, '');
  if (/^[\s)}\]]*=/.test(behind)) return true;
  if (operatorBehind.test(behind)) return true;
  const before = text.slice(Math.max(0, start - 40), start);
  return operatorBefore.test(before) && !/=\s*[($\\£€]*\s*[-−]?\s*$/.test(before);
}
