/** Rows of a JSON-lines file or of a JSON array, read as a stream: a file of many gigabytes takes the memory of its longest row. */
import type { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { parseJson } from '../benchmark/json.ts';
import { asError, HumanError, throwIfCancelled } from '../shared/errors.ts';

export interface Row {
  fields: Record<string, unknown>;
  /** Line on which the row begins, from 1. */
  line: number;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /** Bytes of the file read since the last call. */
  onBytes?(bytes: number): void;
  /** Takes every byte of the file, as it stands on the disk. */
  hash?: ReturnType<typeof createHash>;
}

/** A row longer than this is no row of results. */
const longestRow = 256 * 1024 * 1024;

const [newline, quote, comma, backslash] = [0x0a, 0x22, 0x2c, 0x5c];
const [open, close, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * The rows, some at a time.
 * @throws HumanError with file and line where a row is broken
 */
export async function* readRows(file: string, { signal, onBytes, hash }: ReadOptions = {}): AsyncGenerator<Row[]> {
  const stored = createReadStream(file, { highWaterMark: 1 << 20 });
  stored.on('data', (chunk) => {
    hash?.update(chunk);
    onBytes?.(chunk.length);
  });
  const bytes = file.endsWith('.gz') ? stored.pipe(createGunzip()) : stored;
  if (bytes !== stored) stored.on('error', (error) => bytes.destroy(error));
  let cutter: Cutter | null = null;
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      throwIfCancelled(signal);
      cutter ??= cutterFor(chunk, file);
      if (cutter) yield cutter.cut(chunk);
    }
    if (cutter) yield cutter.end();
  } catch (thrown) {
    if (thrown instanceof HumanError) throw thrown;
    const { code, message } = asError(thrown) as NodeJS.ErrnoException;
    throw new HumanError(
      code === 'ENOENT' ? 'missing' : 'bad-input',
      code === 'ENOENT' ? 'The file is not there.' : `The file cannot be read: ${message}.`,
      { place: { file }, cause: thrown },
    );
  } finally {
    stored.destroy();
  }
}

/** By the first character that is no space: a list, or one object a line. */
function cutterFor(chunk: Buffer, file: string): Cutter | null {
  const first = /[^\s\uFEFF]/.exec(chunk.toString('utf8', 0, 4096))?.[0];
  if (first === undefined) return chunk.length > 4096 ? new LineCutter(file) : null;
  return first === '[' ? new ListCutter(file) : new LineCutter(file);
}

abstract class Cutter {
  protected line = 1;
  #parts: Buffer[] = [];
  #size = 0;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });

  constructor(protected readonly file: string) {}

  abstract cut(chunk: Buffer): Row[];
  abstract end(): Row[];

  protected keep(part: Buffer, line: number): void {
    if (part.length === 0) return;
    this.#parts.push(Buffer.from(part));
    this.#size += part.length;
    if (this.#size > longestRow) throw this.fail('This row is longer than 256 MB.', line);
  }

  /** What was kept, with what comes last. */
  protected take(last: Buffer): Buffer {
    if (this.#parts.length === 0) return last;
    const whole = Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#size = 0;
    return whole;
  }

  protected get hasKept(): boolean {
    return this.#size > 0;
  }

  protected parse(bytes: Buffer, line: number): Row[] {
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      throw this.fail('This row is not UTF-8 text.', line);
    }
    if (text.trim() === '') return [];
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      try {
        // NaN and Infinity, which Python writes.
        value = parseJson(text);
      } catch (thrown) {
        throw this.fail(`This row is not valid JSON: ${asError(thrown).message}`, line);
      }
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw this.fail('A row must be an object.', line);
    return [{ fields: value as Record<string, unknown>, line }];
  }

  protected fail(message: string, line: number): HumanError {
    return new HumanError('bad-input', message, { place: { file: this.file, line } });
  }
}

class LineCutter extends Cutter {
  override cut(chunk: Buffer): Row[] {
    const rows: Row[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      rows.push(...this.parse(this.take(chunk.subarray(start, end)), this.line++));
      start = end + 1;
    }
    this.keep(chunk.subarray(start), this.line);
    return rows;
  }

  override end(): Row[] {
    return this.parse(this.take(Buffer.alloc(0)), this.line);
  }
}

/** Objects of a list, wherever the lines break. */
class ListCutter extends Cutter {
  #depth = 0;
  #inText = false;
  #escaped = false;
  #rowLine = 1;
  #begun = false;

  override cut(chunk: Buffer): Row[] {
    const rows: Row[] = [];
    let start = this.#depth > 1 ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === newline) this.line++;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#inText = false;
        continue;
      }
      if (this.#depth <= 1 && byte !== undefined && !this.#mayStand(byte))
        throw this.fail(
          this.#depth === 0 ? 'Something stands behind the end of the list.' : 'A row must be an object.',
          this.line,
        );
      if (byte === quote) this.#inText = true;
      else if (byte === open || byte === openList) {
        if (this.#depth === 1) {
          start = at;
          this.#rowLine = this.line;
        }
        this.#depth++;
        this.#begun = true;
      } else if (byte === close || byte === closeList) {
        this.#depth--;
        if (this.#depth === 1) {
          rows.push(...this.parse(this.take(chunk.subarray(start, at + 1)), this.#rowLine));
          start = -1;
        }
      }
    }
    if (start >= 0) this.keep(chunk.subarray(start), this.#rowLine);
    return rows;
  }

  /** Between the rows of the list, in front of it and behind it. */
  #mayStand(byte: number): boolean {
    // Spaces, and the mark of UTF-8 in front.
    if (byte <= 0x20) return true;
    if (this.#depth === 0) return !this.#begun && (byte === openList || byte >= 0x80);
    return byte === comma || byte === open || byte === closeList;
  }

  override end(): Row[] {
    if (this.#depth !== 0) throw this.fail('The list does not end: the file is cut off.', this.#rowLine);
    return [];
  }
}
