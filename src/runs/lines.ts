/** Append-only files of one JSON value a line: written so that a kill costs at most the line that was under way. */
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { asError, HumanError } from '../shared/errors.ts';
import { diskError } from './files.ts';

export interface BrokenLine {
  /** From 1. */
  line: number;
  reason: string;
}

export interface LinesRead<T> {
  records: T[];
  broken: BrokenLine[];
  /** Byte length of the whole lines; what follows is half a line. */
  wholeBytes: number;
  /** The start of the last line where that one is not even JSON, else {@link wholeBytes}. */
  soundBytes: number;
  lines: number;
}

const newline = 0x0a;

/** Reads whole lines from `bytes`; `parse` throws where a line is not what it should be. */
export function parseLines<T>(bytes: Buffer, parse: (text: string) => T, firstLine = 1): LinesRead<T> {
  const read: LinesRead<T> = { records: [], broken: [], wholeBytes: 0, soundBytes: 0, lines: 0 };
  for (let start = 0; ; ) {
    const end = bytes.indexOf(newline, start);
    if (end < 0) break;
    const text = bytes.toString('utf8', start, end);
    read.lines++;
    read.soundBytes = end + 1;
    if (text.trim() !== '') {
      try {
        read.records.push(parse(text));
      } catch (thrown) {
        read.broken.push({ line: firstLine + read.lines - 1, reason: asError(thrown).message });
        // Garbage at the end was never a record; a record of a newer version is left where it is.
        if (thrown instanceof SyntaxError) read.soundBytes = start;
      }
    }
    start = end + 1;
    read.wholeBytes = start;
  }
  return read;
}

/** The file's bytes; none where it does not exist. */
export async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw new HumanError('disk', `Cannot read ${path}: ${asError(thrown).message}.`, { cause: thrown });
  }
}

interface Waiting {
  line: Buffer;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Appends lines and flushes them to the disk before `append` resolves. Lines that arrive while a flush is under way
 * go out together with the next one, so that many small items do not cost one flush each.
 */
export class LineWriter {
  #waiting: Waiting[] = [];
  #pumping: Promise<void> | null = null;

  #handle: FileHandle | null = null;

  private constructor(
    readonly path: string,
    private size: number,
    private readonly beforeWrite: () => Promise<void>,
  ) {}

  /**
   * Opens a file whose first `size` bytes are whole lines; whatever stands behind them is cut off. A file that is not
   * there is made with the first line.
   * @param beforeWrite may throw to forbid the write.
   */
  static async open(path: string, size: number, beforeWrite: () => Promise<void>): Promise<LineWriter> {
    const writer = new LineWriter(path, size, beforeWrite);
    try {
      // 'r+' so that the position of a write is ours to choose; a file opened for append ignores it on Linux.
      writer.#handle = await open(path, 'r+').catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code === 'ENOENT') return null;
        throw thrown;
      });
      const length = (await writer.#handle?.stat())?.size ?? 0;
      if (length > size) await writer.#handle?.truncate(size);
    } catch (thrown) {
      await writer.#handle?.close();
      throw diskError(thrown, path);
    }
    return writer;
  }

  append(value: unknown): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#pumping ??= this.#pump();
    });
  }

  async #pump(): Promise<void> {
    while (this.#waiting.length) {
      const group = this.#waiting.splice(0);
      const { whole, error } = await this.#write(group);
      group.slice(0, whole).forEach((waiting) => {
        waiting.resolve();
      });
      group.slice(whole).forEach((waiting) => {
        waiting.reject(diskError(error, this.path));
      });
    }
    // In the same turn as the last look at the queue, or an append in between would wait for ever.
    this.#pumping = null;
  }

  /** Writes as many of the lines as the disk takes; on failure the file is cut back to the last whole one. */
  async #write(group: Waiting[]): Promise<{ whole: number; error?: unknown }> {
    const bytes = Buffer.concat(group.map(({ line }) => line));
    let written = 0;
    let error: unknown;
    try {
      await this.beforeWrite();
      this.#handle ??= await open(this.path, 'wx+');
      // A disk that runs full takes a part of a write first and refuses the next one.
      while (written < bytes.length) {
        const left = bytes.length - written;
        written += (await this.#handle.write(bytes, written, left, this.size + written)).bytesWritten;
      }
    } catch (thrown) {
      error = thrown;
    }
    let whole = 0;
    let kept = 0;
    for (const { line } of group) {
      if (kept + line.length > written) break;
      kept += line.length;
      whole++;
    }
    try {
      if (error !== undefined && written > kept) await this.#handle?.truncate(this.size + kept);
      await this.#handle?.datasync();
    } catch (thrown) {
      // Not known to be on the disk: the callers are told so. The next write goes over the same place.
      return { whole: 0, error: error ?? thrown };
    }
    this.size += kept;
    return { whole, error };
  }

  async close(): Promise<void> {
    while (this.#pumping) await this.#pumping;
    await this.#handle?.close();
  }
}
