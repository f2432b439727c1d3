/** Reads a benchmark file and what it includes, and keeps where each value stands. */
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  visit,
} from 'yaml';
import type { Place } from '../shared/errors.ts';
import { sha256 } from '../system/index.ts';
import { readAnswerSchema } from './answer-schema.ts';
import { settleFunctions } from './python-functions.ts';
import { readSource } from './source-file.ts';
import type { Problem } from './types.ts';

export type Path = readonly (string | number)[];

/** A part of a YAML file: for values that the user should look at. */
interface Range {
  place: Place;
  end: { line: number; column: number };
}

/** A value tagged `!function`. */
export interface PythonFunction {
  /** The keys down to it, without places in lists. */
  keys: string[];
  /** Its name as written: `utils.process_docs`. */
  source: string;
  file: string;
  problem: Problem;
}

interface YamlFile {
  file: string;
  text: string;
  document: Document;
  lines: LineCounter;
  /** Lines of quoted texts were joined ({@link joinQuotedLines}). */
  joined: boolean;
}

/** The resolved configuration: the file's own keys over those of the files it includes. */
export class Configuration {
  readonly values: Record<string, unknown> = {};
  /** The file each key comes from. */
  private readonly origin = new Map<string, YamlFile>();
  /** All files read, the benchmark file first. */
  readonly files: string[] = [];
  readonly problems: Problem[] = [];
  /** Every `!function` of the files, whether it counts or not. */
  readonly functions: PythonFunction[] = [];

  /** What opens it again, where that is not its file: `group.yaml#task`. */
  address: string | null = null;

  constructor(readonly file: string) {}

  /** SHA-256 of the resolved values; the order of keys does not matter. */
  get digest(): string {
    return sha256(JSON.stringify(sortKeys(this.values)));
  }

  /** The folders that relative data paths of a key may mean: of the benchmark file, and of the file the key is in. */
  foldersOf(key: string): string[] {
    const origin = this.origin.get(key);
    return [...new Set([dirname(this.file), ...(origin ? [dirname(origin.file)] : [])])];
  }

  /**
   * Where a value stands. `within`: a text inside of the value to point at. `key`: the key's name in place of its value.
   * The whole file's first line where the path is not there.
   */
  range(path: Path, options: { within?: RegExp; key?: boolean } = {}): Range {
    for (let length = path.length; length > 0; length--) {
      const found = this.exactRange(path.slice(0, length), length === path.length ? options : {});
      if (found) return found;
    }
    return { place: { file: this.file, line: 1, column: 1 }, end: { line: 1, column: 1 } };
  }

  private exactRange(path: Path, options: { within?: RegExp; key?: boolean }): Range | null {
    const origin = this.origin.get(String(path[0]));
    if (!origin) return null;
    const node = options.key ? keyNode(origin.document, path) : origin.document.getIn(path, true);
    if (!isNode(node) || !node.range) return null;
    let [from, to] = [node.range[0], node.range[1]];
    const inside = options.within?.exec(origin.text.slice(from, to));
    if (inside) [from, to] = [from + inside.index, from + inside.index + inside[0].length];
    return rangeOf(origin, from, to);
  }

  add(
    severity: Problem['severity'],
    code: string,
    message: string,
    path: Path,
    options: { within?: RegExp; key?: boolean } = {},
  ): void {
    const { place, end } = this.range(path, options);
    this.problems.push({ severity, code, message, place, end });
  }

  /** How a string scalar is written, e.g. `QUOTE_SINGLE`. */
  scalarStyle(path: Path): string | undefined {
    const node = this.origin.get(String(path[0]))?.document.getIn(path, true);
    return isScalar(node) ? node.type : undefined;
  }

  /** Does a key have its value from the file that the function stands in? */
  holds(key: string, { file }: PythonFunction): boolean {
    return this.origin.get(key)?.file === file;
  }

  /** Takes over a value that a group's file gives its task; what is wrong with it is shown at the group's list of tasks. */
  adoptFrom(group: Configuration, key: string, value: unknown): void {
    this.values[key] = value;
    const origin = group.origin.get('task');
    if (origin) this.origin.set(key, origin);
  }

  adopt(key: string, value: unknown, source: YamlFile): void {
    this.values[key] = value;
    this.origin.set(key, source);
  }
}

function rangeOf({ file, lines, text }: YamlFile, from: number, to: number): Range {
  // A block's range may include the line break behind it.
  let last = to;
  while (last > from && /\s/.test(text[last - 1] ?? '')) last--;
  const [start, end] = [lines.linePos(from), lines.linePos(Math.max(from, last))];
  return { place: { file, line: start.line, column: start.col }, end: { line: end.line, column: end.col } };
}

function keyNode(document: Document, path: Path): Node | null {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return null;
  const pair = parent.items.find((entry) => isScalar(entry.key) && String(entry.key.value) === String(path.at(-1)));
  return pair && isNode(pair.key) ? pair.key : null;
}

/** With the keys of every mapping in order: the order in a file means nothing. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sortKeys(entry)]),
  );
}

/**
 * Reads `file` (or `text` in its place) and its includes. Everything that is wrong is in `problems`; with an error the
 * values are those that could be read.
 */
export async function readConfiguration(file: string, text?: string): Promise<Configuration> {
  const path = resolve(file);
  const configuration = new Configuration(path);
  const read = await load(configuration, path, text ?? null, null);
  if (read) await merge(configuration, read, [await identityOf(path)]);
  settleFunctions(configuration, configuration.functions);
  await readAnswerSchema(configuration);
  return configuration;
}

/** The same file by whatever path it is reached: a cycle may go through links. */
const identityOf = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Where the user is sent when a file cannot be read: the `include` that names it. */
type Blame = { from: YamlFile; node: Node | null } | null;

async function load(
  configuration: Configuration,
  path: string,
  given: string | null,
  blame: Blame,
): Promise<YamlFile | null> {
  let text = given;
  if (text === null) {
    const source = await readSource(path);
    if (source.text === null) {
      const where = blame?.node?.range
        ? rangeOf(blame.from, blame.node.range[0], blame.node.range[1])
        : { place: { file: path }, end: undefined };
      configuration.problems.push({
        severity: 'error',
        code: blame ? 'missing-include' : 'missing-file',
        message: source.reason,
        ...where,
      });
      return null;
    }
    if (source.notUtf8) configuration.problems.push(source.notUtf8);
    text = source.text;
  }
  configuration.files.push(path);
  const lines = new LineCounter();
  let document = parse(text, lines);
  const joined = document.errors.length > 0 ? joinQuotedLines(text) : text;
  if (joined !== text) {
    const again = parse(joined, new LineCounter());
    if (again.errors.length === 0) {
      document = again;
      // Lines are those of the file, not of the joined text.
      lines.lineStarts = [0];
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
    }
  }
  const source: YamlFile = { file: path, text, document, lines, joined: joined !== text };
  for (const error of document.errors)
    configuration.problems.push({
      severity: 'error',
      code: 'broken-yaml',
      message:
        error.code === 'MULTIPLE_DOCS'
          ? 'A benchmark file is one YAML document; a second one begins here.'
          : `This is not valid YAML: ${error.message.replace(/\.?$/, '.')}`,
      ...rangeOf(source, error.pos[0], Math.max(error.pos[0] + 1, error.pos[1])),
    });
  if (document.contents !== null && !isMap(document.contents)) {
    if (document.errors.length === 0)
      configuration.problems.push({
        severity: 'error',
        code: 'not-a-benchmark',
        message: 'A benchmark file is a YAML mapping with keys such as `task`, `dataset_path` and `doc_to_text`.',
        ...rangeOf(source, 0, 1),
      });
    return null;
  }
  inspect(configuration, source);
  return source;
}

const parse = (text: string, lineCounter: LineCounter): Document =>
  parseDocument(text, {
    // PyYAML reads YAML 1.1: `yes` is true, `<<` merges.
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    lineCounter,
    prettyErrors: false,
    // Not 'silent': that also hides a second document in the file.
    logLevel: 'error',
  });

/** Stands for what a joined line leaves out, so that every character keeps its place. Of the private use area. */
const filler = '\uE000';

/**
 * PyYAML lets the lines of a quoted text begin further left than YAML allows. Such a line break becomes the space that it
 * stands for, and the indentation behind it filler, which {@link inspect} takes out again.
 */
function joinQuotedLines(text: string): string {
  return text.replace(/(?<=[:\-,[{]\s+)(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*')/g, (quoted) =>
    quoted.replace(/(?<=[^\s\\])[ \t]*\r?\n[ \t]*(?=\S)/g, (end) => ` ${filler.repeat(end.length - 1)}`),
  );
}

/** Python functions, aliases without end, repeated keys and the one-letter words that YAML 1.1 takes for booleans but PyYAML does not. */
function inspect(configuration: Configuration, source: YamlFile): void {
  const { document } = source;
  visit(document, {
    Map(_, node) {
      const seen = new Set<string>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name) && name !== '<<' && key.range)
          configuration.problems.push({
            severity: 'warning',
            code: 'repeated-key',
            message: `\`${name}\` is given twice; the last one counts.`,
            ...rangeOf(source, key.range[0], key.range[1]),
          });
        seen.add(name);
      }
    },
    Alias(_, node, path) {
      const target = node.resolve(document);
      if ((target && !path.includes(target)) || !node.range) return;
      configuration.problems.push({
        severity: 'error',
        code: 'broken-yaml',
        message: target
          ? `The alias \`*${node.source}\` stands within what it repeats.`
          : `There is no \`&${node.source}\` before the alias \`*${node.source}\`.`,
        ...rangeOf(source, node.range[0], node.range[1]),
      });
      // Read as nothing, so that the rest of the file can be.
      return new Scalar(null);
    },
    Scalar(_, node, path) {
      if (source.joined && typeof node.value === 'string') node.value = node.value.replaceAll(filler, '');
      if (node.type === 'PLAIN' && node.source !== undefined && /^[yYnN]$/.test(node.source)) node.value = node.source;
      if (node.tag !== '!function' || !node.range || isRepeated(path)) return;
      const keys = path.filter(isPair).map((pair) => (isScalar(pair.key) ? String(pair.key.value) : '?'));
      const name = node.source ?? String(node.value);
      configuration.functions.push({
        keys,
        source: name,
        file: source.file,
        problem: {
          severity: 'error',
          code: 'python-function',
          message: `\`${keys.join('.') || 'this value'}\` is the Python function \`${name}\`, which Softbench cannot run.`,
          ...rangeOf(source, source.text.lastIndexOf(node.tag, node.range[0]), node.range[1]),
        },
      });
    },
  });
}

/** Does a key on the way to a value come again in its mapping? Then the last value counts, and this one is not read. */
function isRepeated(path: readonly unknown[]): boolean {
  return path.some((pair, at) => {
    const map = path[at - 1];
    if (!isPair(pair) || !isMap(map)) return false;
    const later = map.items.slice(map.items.indexOf(pair) + 1);
    return later.some(({ key }) => isScalar(key) && isScalar(pair.key) && String(key.value) === String(pair.key.value));
  });
}

async function merge(configuration: Configuration, source: YamlFile, chain: string[]): Promise<void> {
  let own: Record<string, unknown>;
  try {
    own = (source.document.toJS({ maxAliasCount: 10_000 }) ?? {}) as Record<string, unknown>;
  } catch (thrown) {
    if (!(thrown instanceof ReferenceError)) throw thrown;
    configuration.problems.push({
      severity: 'error',
      code: 'broken-yaml',
      message: 'The aliases of this file repeat each other too often to be read. Write the values out.',
      ...rangeOf(source, 0, 1),
    });
    return;
  }
  for (const [position, name] of includesOf(own).entries()) {
    const target = Array.isArray(own.include) ? ['include', position] : ['include'];
    const node = source.document.getIn(target, true);
    const where = isNode(node) && node.range ? rangeOf(source, node.range[0], node.range[1]) : rangeOf(source, 0, 1);
    if (typeof name !== 'string') {
      configuration.problems.push({
        severity: 'error',
        code: 'wrong-type',
        message: '`include` is a file name or a list of file names.',
        ...where,
      });
      continue;
    }
    const path = isAbsolute(name) ? name : resolve(dirname(source.file), name);
    const identity = await identityOf(path);
    if (chain.includes(identity)) {
      configuration.problems.push({
        severity: 'error',
        code: 'include-cycle',
        message: `The files include each other: ${[...chain.slice(chain.indexOf(identity)), identity].join(' → ')}.`,
        ...where,
      });
      continue;
    }
    const included = await load(configuration, path, null, { from: source, node: isNode(node) ? node : null });
    if (included) await merge(configuration, included, [...chain, identity]);
  }
  for (const [key, value] of Object.entries(own)) if (key !== 'include') configuration.adopt(key, value, source);
}

function includesOf(own: Record<string, unknown>): unknown[] {
  const { include } = own;
  if (include === undefined || include === null) return [];
  return Array.isArray(include) ? include : [include];
}
