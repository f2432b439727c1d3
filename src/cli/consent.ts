/** Asking before something is fetched, and the line that shows how far it is. */
import { CancelledError, HumanError } from '../shared/errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * Shows what is to be fetched and asks. @throws HumanError where nobody can be asked, CancelledError where the answer is no
 * @param how the option that agrees beforehand
 */
export async function agree(terminal: Terminal, lines: readonly string[], how: string): Promise<void> {
  const { surroundings } = terminal;
  // A question without what it is about is none: shown with --quiet too.
  for (const line of lines) surroundings.stderr.write(`${line}\n`);
  if (!surroundings.ask)
    throw new HumanError('bad-input', 'Nobody can be asked here whether to fetch this.', {
      todo: `Agree with ${how}.`,
    });
  const answer = await surroundings.ask('Fetch it? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) throw new CancelledError('Nothing was fetched.');
}

interface Bytes {
  bytes: number;
  total: number;
  path: string;
  file: number;
  files: number;
  waits?: number;
}

const size = (bytes: number, total: number): string =>
  total >= 1e9
    ? `${(bytes / 1e9).toFixed(2)} GB`
    : total >= 1e5
      ? `${(bytes / 1e6).toFixed(1)} MB`
      : `${Math.ceil(bytes / 1e3)} KB`;

/** One line that is written over on a terminal; elsewhere a line at every tenth. */
export class ByteProgress {
  readonly #terminal: Terminal;
  readonly #began = Date.now();
  #shown = '';
  #open = false;
  #first: number | null = null;
  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show({ bytes, total, path, file, files, waits }: Bytes): void {
    const { surroundings, quiet } = this.#terminal;
    if (quiet || total === 0) return;
    // What an earlier attempt brought says nothing about speed.
    this.#first ??= bytes;
    const live = surroundings.stderr.isTTY === true;
    const tenth = Math.floor((10 * bytes) / total) * 10;
    const seconds = (Date.now() - this.#began) / 1000;
    const speed = (bytes - this.#first) / Math.max(seconds, 0.001);
    const left = speed > 0 && seconds > 2 ? `, ${Math.ceil((total - bytes) / speed)} s left` : '';
    const line = waits
      ? `The server asks to wait ${Math.ceil(waits / 1000)} s`
      : live
        ? `${size(bytes, total)} of ${size(total, total)}${left} (${file}/${files} ${path})`
        : `${tenth} % of ${size(total, total)}`;
    if (line === this.#shown) return;
    this.#shown = line;
    this.#open = live;
    const width = (surroundings.stderr.columns ?? 80) - 1;
    surroundings.stderr.write(live ? `\r${line.slice(0, width).padEnd(width)}` : `${line}\n`);
  }

  end(): void {
    if (this.#open) this.#terminal.surroundings.stderr.write('\n');
    this.#open = false;
  }
}
