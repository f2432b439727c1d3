/**
 * The task files of a folder by the names that groups call them: lm-evaluation-harness's TaskIndex. Files are only looked
 * at, line by line, for the keys that name them; thousands of them are a second's work.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

export interface IndexEntry {
  kind: 'task' | 'group' | 'tag';
  name: string;
  /** Of a tag: none. */
  file: string;
  /** Of a tag: the names of its tasks, sorted. */
  tasks: string[];
}

export type TaskIndex = ReadonlyMap<string, IndexEntry>;

const ignored = new Set(['__pycache__', '.ipynb_checkpoints', 'node_modules', '.git']);
/** Most files that are looked at. */
const mostFiles = 30_000;

/** What the top level of a file says of its name. */
interface Head {
  task: string | null;
  group: string | null;
  tags: string[] | null;
  includes: string[];
}

const keyLine = /^(["']?)(task|group|tag|include|class)\1\s*:\s*(.*)$/;

/** A plain or quoted scalar without its comment. */
function scalar(text: string): string {
  const quoted = /^(?:"([^"]*)"|'([^']*)')/.exec(text);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  return text.replace(/(?:^|\s)#.*$/, '').trim();
}

function headOf(text: string): Head {
  const head: Head = { task: null, group: null, tags: null, includes: [] };
  const lines = text.split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    const found = keyLine.exec(line);
    if (!found) continue;
    const [, , key = '', rest = ''] = found;
    const values = valuesOf(rest, lines, at);
    const [first] = values;
    if (key === 'task' && first !== undefined && !/^\s*$/.test(scalar(rest))) head.task ??= scalar(rest);
    else if (key === 'group') head.group ??= first ?? null;
    else if (key === 'tag') head.tags ??= values;
    else if (key === 'include') head.includes.push(...values);
  }
  return head;
}

/** A scalar, or the scalars of a list in either form. */
function valuesOf(rest: string, lines: readonly string[], at: number): string[] {
  const inline = scalar(rest);
  if (inline.startsWith('['))
    return inline
      .replace(/^\[|\]$/g, '')
      .split(',')
      .map((part) => scalar(part.trim()))
      .filter(Boolean);
  if (inline !== '') return [inline];
  const values: string[] = [];
  for (const line of lines.slice(at + 1)) {
    const item = /^\s*-\s+(.*)$/.exec(line);
    if (item) values.push(scalar(item[1] ?? ''));
    else if (line.trim() !== '' && !/^\s*#/.test(line)) break;
  }
  return values;
}

/** Seconds that an index is taken for true: a group is checked at every key stroke. */
const freshSeconds = 20;
const known = new Map<string, { read: number; index: Promise<TaskIndex> }>();

/** The index of a folder, read again after a while. */
export function indexTasks(folder: string): Promise<TaskIndex> {
  const before = known.get(folder);
  if (before && performance.now() - before.read < freshSeconds * 1000) return before.index;
  if (known.size > 50) known.clear();
  const entry = { read: performance.now(), index: readIndex(folder) };
  known.set(folder, entry);
  // The time to read a large tree is not part of it.
  void entry.index.then(() => {
    entry.read = performance.now();
  });
  return entry.index;
}

/** Reads the heads of the YAML files under a folder, sorted by path, as the harness goes through them. */
async function readIndex(folder: string): Promise<TaskIndex> {
  const files = (await yamlFiles(folder)).sort().slice(0, mostFiles);
  const heads = new Map<string, Promise<Head>>();
  const read = (file: string): Promise<Head> => {
    const known = heads.get(file);
    if (known) return known;
    const head = readFile(file, 'utf8').then(headOf, () => headOf(''));
    heads.set(file, head);
    return head;
  };
  /** Keys of included files count where the file has none of its own. */
  const merged = async (file: string, chain: readonly string[] = []): Promise<Head> => {
    const own = await read(file);
    const result = { ...own };
    for (const include of [...own.includes].reverse()) {
      const path = resolve(dirname(file), include);
      if (chain.includes(path) || (result.tags && (result.task ?? result.group))) continue;
      const below = await merged(path, [...chain, file]);
      result.task ??= below.task;
      result.group ??= below.group;
      result.tags ??= below.tags;
    }
    return result;
  };
  const index = new Map<string, IndexEntry>();
  for (const file of files) {
    const { task, group, tags } = await merged(file);
    const name = group ?? task;
    if (name === null || index.get(name)?.kind === 'task' || index.get(name)?.kind === 'group') continue;
    index.set(name, { kind: group === null ? 'task' : 'group', name, file, tasks: [] });
    if (group !== null) continue;
    for (const tag of tags ?? []) {
      const entry = index.get(tag) ?? { kind: 'tag' as const, name: tag, file: '', tasks: [] };
      entry.tasks.push(name);
      if (!index.has(tag)) index.set(tag, entry);
    }
  }
  for (const entry of index.values()) entry.tasks.sort();
  return index;
}

async function yamlFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const waiting = [folder];
  while (waiting.length > 0 && found.length < mostFiles) {
    const at = waiting.pop() ?? folder;
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory() && !ignored.has(entry.name)) waiting.push(join(at, entry.name));
      else if (entry.isFile() && /\.ya?ml$/.test(entry.name)) found.push(join(at, entry.name));
    }
  }
  return found;
}
