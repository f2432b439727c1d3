/** A job's progress: one line that is updated on a terminal, plain lines now and then elsewhere. */
import { formatTimeLeft, likelihoodVerdict } from '../metrics/index.ts';
import { trialInWords } from '../shared/learning-rate-words.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { JobProgress } from '../shared/protocol.ts';
import type { ItemRecord, TuningRecord } from '../shared/results.ts';
import type { Terminal } from './terminal.ts';

const barWidth = 24;
/** Without a terminal: a line at least so many seconds apart, or after so large a part. */
const plainSeconds = 10;
const plainPart = 0.1;

interface Task {
  key: string;
  mode: PromptMode | null;
  doing: string;
  unit: string;
  startedAt: number;
  startedWith: number;
  shownAt: number;
  shownPart: number;
}

export class ProgressLine {
  #task: Task | null = null;
  #mode: PromptMode | null = null;
  #last = '';
  #counts = { right: 0, inFormat: 0, seen: 0, compared: 0, likeliest: 0 };

  constructor(
    private readonly terminal: Terminal,
    private readonly now: () => number = () => performance.now() / 1000,
  ) {}

  show(progress: JobProgress): void {
    switch (progress.kind) {
      case 'phase':
        this.#mode = progress.mode;
        this.#phase(progress.mode ? `${progress.mode}: ${strip(progress.message, progress.mode)}` : progress.message);
        break;
      case 'run':
        this.#counts = { right: 0, inFormat: 0, seen: 0, compared: 0, likeliest: 0 };
        break;
      case 'tuning': {
        const { record, steps, secondsLeft } = progress;
        if (record.kind === 'validation') {
          this.#line(
            `  step ${record.step}: ${validationShares(record)}on ${record.n} held-out items, loss ${record.loss.toFixed(3)}${record.best ? ' (best so far)' : ''}`,
          );
        } else if (record.kind === 'trial') this.#line(`  learning rate ${trialInWords(record)}`);
        else this.#advance('tuning', 'steps', record.step, steps, secondsLeft, `loss ${record.loss.toFixed(3)}`);
        break;
      }
      case 'items': {
        const { done, total, secondsLeft, records, mode } = progress;
        this.#mode = mode;
        for (const record of records) this.#count(record);
        const { seen, inFormat, right, compared, likeliest } = this.#counts;
        const shares = seen
          ? `F ${percent(inFormat / seen)}  S ${percent(right / seen)}`
          : compared
            ? `LL ${percent(likeliest / compared)}`
            : '';
        const { cached = 0 } = progress;
        const figures = [shares, cached > 0 ? `${cached} from the cache` : ''].filter(Boolean).join(', ');
        this.#advance('evaluating', 'items', done, total, secondsLeft, figures, cached);
        break;
      }
      case 'summary':
        this.clear();
        break;
    }
  }

  #count(record: ItemRecord): void {
    if (record.scored === false) return;
    if (record.generated !== false) {
      this.#counts.seen++;
      if (record.inFormat) this.#counts.inFormat++;
      if (record.right && record.inFormat) this.#counts.right++;
      return;
    }
    const verdict = likelihoodVerdict(record);
    if (verdict === null) return;
    this.#counts.compared++;
    if (verdict) this.#counts.likeliest++;
  }

  #phase(message: string): void {
    if (message === this.#last) return;
    this.#last = message;
    if (this.#isLive) this.#draw(message);
    else this.terminal.note(message);
  }

  #advance(
    doing: string,
    unit: string,
    done: number,
    total: number,
    left: number | null,
    figures: string,
    free = 0,
  ): void {
    const key = `${this.#mode} ${doing}`;
    if (this.#task?.key !== key)
      this.#task = {
        key,
        mode: this.#mode,
        doing,
        unit,
        startedAt: this.now(),
        startedWith: done - free,
        shownAt: Number.NEGATIVE_INFINITY,
        shownPart: -1,
      };
    const task = this.#task;
    const seconds = this.now() - task.startedAt;
    const rate = seconds > 0 ? (done - free - task.startedWith) / seconds : 0;
    const part = total > 0 ? done / total : 1;
    const words = [
      `${done}/${total} ${unit}`,
      figures,
      rate > 0 ? `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} ${unit}/s` : '',
      left !== null && done < total ? formatTimeLeft(left) : '',
    ].filter((word) => word !== '');
    if (this.#isLive) {
      const full = Math.round(part * barWidth);
      this.#draw(
        `${this.#mode ?? ''} ${doing} ${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${words.join(' · ')}`.trim(),
      );
    } else if (done === total || this.now() - task.shownAt >= plainSeconds || part - task.shownPart >= plainPart) {
      task.shownAt = this.now();
      task.shownPart = part;
      this.terminal.note(`${this.#mode ?? ''} ${doing}: ${words.join(', ')}`.trim());
    }
  }

  /** A line that stays. */
  #line(text: string): void {
    this.clear();
    this.terminal.note(text);
  }

  get #isLive(): boolean {
    return Boolean(this.terminal.surroundings.stderr.isTTY) && !this.terminal.quiet;
  }

  #draw(text: string): void {
    const width = (this.terminal.surroundings.stderr.columns ?? 80) - 1;
    // Return to the first column, write, clear what is left of the old line.
    this.terminal.surroundings.stderr.write(`\r${text.slice(0, width)}\u001b[K`);
  }

  /** Removes the updated line. */
  clear(): void {
    if (this.#isLive) this.terminal.surroundings.stderr.write('\r\u001b[K');
  }
}

/** F and S; where nothing is generated, the share of items whose right answer is the likeliest, where there is one. */
function validationShares({ F, S, LL, generated }: Extract<TuningRecord, { kind: 'validation' }>): string {
  if (generated !== false) return `F ${percent(F)}  S ${percent(S)} `;
  return LL === undefined ? '' : `LL ${percent(LL)} `;
}

const percent = (value: number): string => `${Math.round(value * 100)} %`;
const strip = (message: string, mode: string): string =>
  message.startsWith(`${mode}: `) ? message.slice(mode.length + 2) : message;
