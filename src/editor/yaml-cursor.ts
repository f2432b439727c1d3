/**
 * Where in a YAML text the cursor stands. While someone types, the text is seldom valid, so that this goes by
 * indentation and brackets of the lines at hand and not by a parser.
 */

export interface Cursor {
  /** Keys from the top down to the mapping that the cursor is in. */
  path: string[];
  /** Key whose value is being typed; null where a key is. */
  valueKey: string | null;
  /** What has been typed of the key or value so far. */
  typed: string;
  /** Keys that this mapping already has, as far as the lines around tell. */
  siblings: string[];
}

const keyPattern = /^(?:"([^"]+)"|'([^']+)'|([A-Za-z_][\w.-]*))\s*:(?=\s|$)/;

interface Line {
  indent: number;
  key: string | null;
  /** What stands behind the colon. */
  rest: string;
}

/** A list entry `- key: …` counts with the column of its key. */
function parse(raw: string): Line | null {
  const content = raw.replace(/\r$/, '');
  const dashes = /^(\s*(?:-\s+)*)(.*)$/.exec(content);
  const text = dashes?.[2] ?? '';
  if (!text || text.startsWith('#')) return null;
  const match = keyPattern.exec(text);
  return {
    indent: dashes?.[1]?.length ?? 0,
    key: match ? (match[1] ?? match[2] ?? match[3] ?? null) : null,
    rest: match ? text.slice(match[0].length).trim() : text,
  };
}

/** @param line from 0  @param column from 0, in UTF-16 units */
export function cursorAt(text: string, line: number, column: number): Cursor {
  const lines = text.split('\n');
  const before = (lines[line] ?? '').slice(0, column);
  const lead = /^(\s*(?:-\s+)*)(.*)$/.exec(before);
  const indent = lead?.[1]?.length ?? 0;
  let typed = lead?.[2] ?? '';
  let valueKey: string | null = null;
  const path = parentsOf(lines, line, indent);

  const block = keyPattern.exec(typed);
  if (block) {
    valueKey = block[1] ?? block[2] ?? block[3] ?? null;
    typed = typed.slice(block[0].length).trimStart();
  } else if (/^\s*-\s/.test(before)) {
    // An entry of a list: its value belongs to the list's key, unless that list holds mappings.
    valueKey = null;
  }
  // { … } and [ … ] on one line: each opening bracket goes one mapping deeper.
  for (;;) {
    const open = unclosed(typed);
    if (open === null) break;
    const inner = typed.slice(open + 1);
    if (typed[open] === '{' && valueKey !== null) {
      path.push(valueKey);
      valueKey = null;
    }
    const entries = splitFlow(inner);
    typed = (entries.at(-1) ?? '').trimStart();
    const flow = /^(?:"([^"]+)"|'([^']+)'|([A-Za-z_][\w.-]*))\s*:\s/.exec(typed);
    if (flow) {
      valueKey = flow[1] ?? flow[2] ?? flow[3] ?? null;
      typed = typed.slice(flow[0].length);
    }
  }
  return { path, valueKey, typed, siblings: siblingsOf(lines, line, indent) };
}

/** Position of the first bracket that is not closed; null where all are. */
function unclosed(text: string): number | null {
  const open: number[] = [];
  let quote = '';
  for (const [at, character] of [...text].entries()) {
    if (quote) {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '{' || character === '[') open.push(at);
    else if (character === '}' || character === ']') open.pop();
  }
  return open[0] ?? null;
}

/** Entries of a flow collection at its own level. */
function splitFlow(text: string): string[] {
  const entries = [''];
  let depth = 0;
  for (const character of text) {
    if (character === ',' && depth === 0) {
      entries.push('');
      continue;
    }
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    entries[entries.length - 1] += character;
  }
  return entries;
}

function parentsOf(lines: readonly string[], line: number, indent: number): string[] {
  const path: string[] = [];
  let limit = indent;
  for (let at = line - 1; at >= 0 && limit > 0; at--) {
    const found = parse(lines[at] ?? '');
    if (!found || found.indent >= limit) continue;
    limit = found.indent;
    if (found.key && (found.rest === '' || found.rest.startsWith('#'))) path.unshift(found.key);
  }
  return path;
}

/** Keys of the same mapping above and below. */
function siblingsOf(lines: readonly string[], line: number, indent: number): string[] {
  const keys: string[] = [];
  const scan = (step: 1 | -1): void => {
    for (let at = line + step; at >= 0 && at < lines.length; at += step) {
      const found = parse(lines[at] ?? '');
      if (!found) continue;
      if (found.indent < indent) return;
      if (found.indent === indent && found.key) keys.push(found.key);
    }
  };
  // The entry of a list ends where the next begins.
  if (!/^\s*-\s/.test(lines[line] ?? '')) scan(-1);
  scan(1);
  return keys;
}
