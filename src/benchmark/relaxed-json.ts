/** JSON, and what people and models write in its place: single quotes, trailing commas, comments, Python's words. */

/** The value of a JSON text, or undefined. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Words of other languages for JSON's own. */
const literals: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  undefined: 'null',
  NaN: 'null',
};

/** One token at a time: a string in any quotes, a comment, a name or number, one sign. */
const token =
  /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|“[^”]*”|\/\/[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*|[\p{L}_$][\p{L}\p{N}_$]*|[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\s+|[\s\S]/gu;

/**
 * Such a text as JSON; null where it cannot be one. Names without quotes are keys only. What is missing at the end is not
 * added: a text that was cut off has no value.
 */
export function asJson(text: string): string | null {
  const parts: string[] = [];
  for (const [part] of text.matchAll(token)) {
    if (/^\s+$|^\/\/|^\/\*|^#/.test(part)) continue;
    if (part.startsWith('"')) parts.push(part.replace(/\n/g, '\\n').replace(/\t/g, '\\t'));
    else if (part.startsWith("'") || part.startsWith('“'))
      parts.push(JSON.stringify(part.slice(1, -1).replace(/\\(['"\\])/g, '$1')));
    else if (/^[\p{L}_$]/u.test(part))
      parts.push(literals[part] ?? (/^(?:true|false|null)$/.test(part) ? part : `\u0000${part}`));
    else if (/^[-+.\d]/.test(part) && part.length > 0 && /\d/.test(part))
      parts.push(String(Number(part.replaceAll('_', ''))));
    else parts.push(part);
  }
  const tidy = parts.flatMap((part, i) => {
    const next = parts[i + 1];
    if (part === ',' && (next === '}' || next === ']')) return [];
    if (part.startsWith('\u0000')) return next === ':' ? [JSON.stringify(part.slice(1))] : [part];
    return [part];
  });
  const json = tidy.join('');
  return jsonValue(json) === undefined ? null : json;
}

export interface JsonBlock {
  start: number;
  text: string;
  value: unknown;
  /** Is it JSON as it stands? */
  exact: boolean;
}

/** Where the bracket that opens at `start` is closed; -1 where it is not. Quotes hide brackets. */
function closing(text: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let at = start; at < text.length; at++) {
    const one = text[at] ?? '';
    if (quote !== '') {
      if (one === '\\') at++;
      else if (one === quote) quote = '';
    } else if (one === '"') quote = one;
    // An apostrophe inside of a word is no quote.
    else if (one === "'" && /[\s[{:,(]$/.test(text.slice(Math.max(0, at - 1), at))) quote = one;
    else if ('{['.includes(one)) depth++;
    else if ('}]'.includes(one) && --depth === 0) return at + 1;
  }
  return -1;
}

/** All outermost `{…}` and `[…]` of a text that have a value, in their order. */
export function jsonBlocks(text: string): JsonBlock[] {
  const found: JsonBlock[] = [];
  for (let at = 0; at < text.length; at++) {
    if (!'{['.includes(text[at] ?? '')) continue;
    const end = closing(text, at);
    if (end < 0) continue;
    const block = text.slice(at, end);
    const exact = jsonValue(block);
    const json = exact === undefined ? asJson(block) : block;
    if (json === null) continue;
    found.push({ start: at, text: block, value: jsonValue(json), exact: exact !== undefined });
    at = end - 1;
  }
  return found;
}
