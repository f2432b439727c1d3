/**
 * Is this text a benchmark file, and where is its `task:` (in a BIG-bench task its `"name":`)? Asked for every YAML file and
 * task.json that is opened and at every key stroke, so it looks at the lines only; the benchmark room parses.
 */

export interface TaskLine {
  /** From 0. */
  line: number;
  /** From 0: start of `task` and end of the line's text. */
  start: number;
  end: number;
  task: string;
}

/** Keys of which a task file has at least one at its top level; a group file (`task:` with a list) has none. */
const companions = ['doc_to_text', 'doc_to_target', 'dataset_path', 'output_type', 'include'];

const topLevelKey = /^(?:"([A-Za-z_]+)"|'([A-Za-z_]+)'|([A-Za-z_]+))\s*:(?=\s|$)(.*)$/;

/** Files that are looked at, by language and name: YAML, and `task.json` (a BIG-bench task). */
export const mayBeBenchmark = ({ languageId, fileName }: { languageId: string; fileName: string }): boolean =>
  languageId === 'yaml' || (/^jsonc?$/.test(languageId) && /(?:^|[\\/])task\.json$/.test(fileName));

/** The line that names the task of a benchmark file; null where the text is something else. */
export function findTask(text: string): TaskLine | null {
  if (/^\uFEFF?\s*\{/.test(text)) return findBigBenchTask(text);
  let found: TaskLine | null = null;
  let isBenchmark = false;
  const lines = text.split('\n');
  for (const [line, raw] of lines.entries()) {
    const content = raw.replace(/\r$/, '').replace(/^\uFEFF/, '');
    const match = topLevelKey.exec(content);
    if (!match) continue;
    const key = match[1] ?? match[2] ?? match[3] ?? '';
    if (key === 'task' && !found) {
      const task = scalar(match[4] ?? '');
      if (task) found = { line, start: 0, end: content.length, task };
    } else if (companions.includes(key)) isBenchmark = true;
    if (found && isBenchmark) return found;
  }
  return null;
}

/** The line that names the group of a group file (`group:` and a list of tasks); null where the text is something else. */
export function findGroup(text: string): TaskLine | null {
  let found: TaskLine | null = null;
  let isList = false;
  for (const [line, raw] of text.split('\n').entries()) {
    const content = raw.replace(/\r$/, '').replace(/^\uFEFF/, '');
    const match = topLevelKey.exec(content);
    const key = match?.[1] ?? match?.[2] ?? match?.[3];
    if (key === 'doc_to_text') return null;
    const value = (match?.[4] ?? '').trim();
    if (key === 'task') isList = value === '' || value.startsWith('[') || value.startsWith('#');
    if (key === 'group' && scalar(value)) found = { line, start: 0, end: content.length, task: scalar(value) };
  }
  return isList ? found : null;
}

/** A plain or quoted scalar on one line; empty for a list, a mapping or nothing. */
function scalar(text: string): string {
  const value = text.trim();
  const quoted = /^(?:"([^"]*)"|'([^']*)')/.exec(value);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  const plain = value.replace(/(?:^|\s)#.*$/, '').trim();
  return /^[[{|>&*!-]/.test(plain) ? '' : plain;
}

/** A text in double quotes, or a brace or bracket. */
const jsonToken = /"(?:[^"\\\n]|\\.)*"|[{}[\]]/g;

/**
 * The `"name":` of a BIG-bench task: a JSON object with a name and a preferred score or, in the parent of subtasks, the
 * canary and keywords that BIG-bench asks for. What else stands there need not be valid.
 */
function findBigBenchTask(text: string): TaskLine | null {
  const keys = new Set<string>();
  let name: { offset: number; task: string } | null = null;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(jsonToken)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 1) {
      const behind = /^\s*:\s*(?:"((?:[^"\\\n]|\\.)*)")?/.exec(
        text.slice(index + token.length, index + token.length + 400),
      );
      // A value: only keys have a colon behind them.
      if (!behind) continue;
      const key = token.slice(1, -1);
      keys.add(key);
      if (key === 'name' && behind[1]) name = { offset: index, task: unescaped(behind[1]) };
    }
    if (name && (keys.has('preferred_score') || (keys.has('canary') && keys.has('keywords')))) break;
  }
  if (!name || !(keys.has('preferred_score') || (keys.has('canary') && keys.has('keywords')))) return null;
  const before = text.slice(0, name.offset);
  const start = name.offset - (before.lastIndexOf('\n') + 1);
  const rest = text.slice(name.offset).split('\n', 1)[0] ?? '';
  return { line: before.split('\n').length - 1, start, end: start + rest.trimEnd().length, task: name.task };
}

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
