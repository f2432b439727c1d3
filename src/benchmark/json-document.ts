/** A JSON file whose values know their place, as a configuration that problems are reported in. */
import { Configuration, type Path } from './configuration.ts';
import type { JsonNode } from './json.ts';
import { isFloat, PythonFloat, repr } from './python.ts';

type Range = ReturnType<Configuration['range']>;

/** The values of an object by key: a repeated key stands at its first place with its last value, as in Python. */
export function fieldsOf(node: JsonNode | undefined): Map<string, JsonNode> {
  return new Map(node?.kind === 'object' ? node.entries.map(({ key, value }) => [key, value]) : []);
}

/** The plain value of a node. Objects lose the order of keys that are whole numbers, as JavaScript's do. */
export function plainValue(node: JsonNode): unknown {
  if (node.kind === 'list') return node.items.map(plainValue);
  if (node.kind !== 'object') return node.value;
  return Object.fromEntries([...fieldsOf(node)].map(([key, value]) => [key, plainValue(value)]));
}

/** A number as JavaScript has it; null for anything else. */
export function numberOf(node: JsonNode | undefined): number | null {
  if (node?.kind !== 'number') return null;
  return Number(node.value instanceof PythonFloat ? node.value.value : node.value);
}

/**
 * The node as text, in the order of its keys: the same for nodes that Python's `json.dumps` writes alike (`1` and `1.0`
 * are not), or with `byValue` for nodes that are equal in Python (`1`, `1.0` and `true` are).
 */
export function dump(node: JsonNode, byValue = false): string {
  switch (node.kind) {
    case 'text':
      return JSON.stringify(node.value);
    case 'list':
      return `[${node.items.map((item) => dump(item, byValue)).join(',')}]`;
    case 'object':
      return `{${[...fieldsOf(node)].map(([key, value]) => `${JSON.stringify(key)}:${dump(value, byValue)}`).join(',')}}`;
    case 'word':
      return byValue && node.value !== null ? String(Number(node.value)) : String(node.value);
    case 'number':
      if (typeof node.value === 'string') return node.value;
      return byValue || !isFloat(node.value) ? String(numberOf(node)) : repr(node.value);
  }
}

/** Offsets of the first characters of the lines. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** A JSON file; the settings under its key `softbench` are read as those of `metadata.softbench` are. */
export class JsonDocument extends Configuration {
  private readonly starts: readonly number[];

  constructor(
    file: string,
    readonly text: string,
    readonly root: JsonNode | null,
  ) {
    super(file);
    this.files.push(file);
    this.starts = lineStarts(text);
    const softbench = fieldsOf(root ?? undefined).get('softbench');
    // Settings are JavaScript's numbers: 1.0 is 1.
    if (softbench) this.values.metadata = { softbench: JSON.parse(JSON.stringify(plainValue(softbench))) };
  }

  /** Line and column of an offset, from 1. */
  position(offset: number): { line: number; column: number } {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.starts[low] ?? 0) + 1 };
  }

  rangeAt(from: number, to: number): Range {
    return { place: { file: this.file, ...this.position(from) }, end: this.position(Math.max(from, to)) };
  }

  override range(path: Path, options: { key?: boolean } = {}): Range {
    let at = this.root ?? undefined;
    let range = this.rangeAt(0, 1);
    for (const [depth, step] of (path[0] === 'metadata' ? path.slice(1) : path).entries()) {
      const last = depth === path.length - (path[0] === 'metadata' ? 2 : 1);
      if (at?.kind === 'list' && typeof step === 'number') at = at.items[step];
      else if (at?.kind === 'object') {
        const entry = at.entries.findLast(({ key }) => key === String(step));
        if (last && options.key && entry) return this.rangeAt(entry.from, entry.to);
        at = entry?.value;
      } else at = undefined;
      if (!at) break;
      range = this.rangeAt(at.from, at.to);
    }
    return range;
  }

  /** Reports a problem at a node. */
  at(
    node: { from: number; to: number },
    severity: 'error' | 'warning' | 'information',
    code: string,
    message: string,
  ): void {
    this.problems.push({ severity, code, message, ...this.rangeAt(node.from, node.to) });
  }
}
