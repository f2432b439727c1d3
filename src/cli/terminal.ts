/** Where the command line writes: results to standard output, everything else to standard error. */
import type { WorkerClient } from '../worker/index.ts';

export interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface Surroundings {
  stdout: Stream;
  stderr: Stream;
  /** Asks the user; absent where nobody can answer. */
  ask?(question: string): Promise<string>;
  /** Starts nothing by itself: the worker begins with its first call. */
  worker: WorkerClient;
  /** Fires when the user asks to stop (Ctrl-C). */
  signal: AbortSignal;
  version: string;
  /** Folder of the bundled pages, for reports. */
  pages: string;
}

export class Terminal {
  readonly json: boolean;
  readonly quiet: boolean;
  constructor(
    readonly surroundings: Surroundings,
    given: { json?: boolean; quiet?: boolean } = {},
  ) {
    this.json = given.json ?? false;
    this.quiet = given.quiet ?? false;
  }

  /** A line of the result. */
  print(line = ''): void {
    this.surroundings.stdout.write(`${printable(line)}\n`);
  }

  /** The result as one line of JSON: always the last line. */
  printJson(value: unknown): void {
    this.surroundings.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** A line beside the result; silent with --quiet. */
  note(line: string): void {
    if (!this.quiet) this.surroundings.stderr.write(`${printable(line)}\n`);
  }
}

/**
 * Names and outputs come out of files of others and out of models: their control characters are shown, not obeyed, so that
 * none moves the cursor, colours the screen or types for the user. Line breaks and tabs stay.
 */
export const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');

/** A cell stands on one line. */
const inOneLine = (cell: string): string => cell.replace(/\p{Cc}/gu, '\uFFFD');

/** Columns of text; every column but the first may be aligned to the right. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const cells = rows.map((row) => row.map(inOneLine));
  const widths: number[] = [];
  for (const row of cells)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  return cells.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
