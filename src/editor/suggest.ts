/** What completion and hover say at a place of a benchmark file. Plain data. */
import { type KeyDoc, keyDoc, keysAt } from './keys.ts';
import { cursorAt } from './yaml-cursor.ts';

export interface Suggestion {
  label: string;
  kind: 'key' | 'value';
  insert: string;
  detail: string;
  meaning: string;
}

/** Names that the file itself gives: its filters, for `strict` and `lenient`. */
function filterNames(text: string): string[] {
  const list = /^filter_list\s*:(.*(?:\n(?:\s+.*|-.*|\s*))*)/m.exec(text)?.[1] ?? '';
  return [...list.matchAll(/(?:^|[\s{,-])name\s*:\s*(?:"([^"]*)"|'([^']*)'|([^\s,}#]+))/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
}

/** @param line from 0  @param column from 0 */
export function suggestionsAt(text: string, line: number, column: number): Suggestion[] {
  const { path, valueKey, typed, siblings } = cursorAt(text, line, column);
  if (valueKey !== null) return valuesOf(text, [...path, valueKey]);
  // `- ` below a key whose list holds plain values.
  const owner = keyDoc(path);
  if (owner && !owner.inside) return valuesOf(text, path);
  if (/\s/.test(typed)) return [];
  return (keysAt(path) ?? [])
    .filter(({ key, idle }) => !idle && !siblings.includes(key))
    .map((one) => ({
      label: one.key,
      kind: 'key',
      insert: one.inside ? `${one.key}:` : `${one.key}: `,
      detail: one.type,
      meaning: one.meaning,
    }));
}

function valuesOf(text: string, path: readonly string[]): Suggestion[] {
  const doc = keyDoc(path);
  const value = (label: string, meaning: string): Suggestion => ({
    label,
    kind: 'value',
    insert: label,
    detail: path.at(-1) ?? '',
    meaning,
  });
  if (path.join('.') === 'metadata.softbench.strict' || path.join('.') === 'metadata.softbench.lenient')
    return filterNames(text).map((name) => value(name, 'A filter of this file.'));
  return (doc?.values ?? []).map((one) => value(one.value, one.meaning));
}

/** Markdown about the key at a place, and the columns it takes; null where no known key stands there. */
export function hoverAt(
  text: string,
  line: number,
  column: number,
): { markdown: string; start: number; end: number } | null {
  const content = text.split('\n')[line] ?? '';
  for (const match of content.matchAll(/[A-Za-z_][\w-]*/g)) {
    const start = match.index;
    const end = start + match[0].length;
    if (column < start || column > end) continue;
    const { path, valueKey } = cursorAt(text, line, start);
    if (valueKey !== null) {
      const doc = keyDoc([...path, valueKey]);
      const chosen = doc?.values.find((one) => one.value === match[0] && one.meaning);
      return chosen ? { markdown: `\`${chosen.value}\`: ${chosen.meaning}`, start, end } : null;
    }
    if (!/^["']?\s*:/.test(content.slice(end))) return null;
    const doc = keyDoc([...path, match[0]]);
    return doc && { markdown: hoverText(doc), start, end };
  }
  return null;
}

function hoverText({ key, type, meaning, values }: KeyDoc): string {
  const choices = values.filter((one) => one.meaning).map((one) => `- \`${one.value}\`: ${one.meaning}`);
  return [`**${key}**${type ? ` (${type})` : ''}`, meaning, ...(choices.length > 0 ? [choices.join('\n')] : [])].join(
    '\n\n',
  );
}
