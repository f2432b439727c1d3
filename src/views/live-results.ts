/**
 * What a results page shows of one benchmark × model, kept current while a job runs: read from the store once, then
 * changed by the job's progress. Plain TypeScript.
 */
import type { RunFolder } from '../runs/index.ts';
import { rowOf } from '../shared/item-rows.ts';
import type { ItemRow, JobProgress, ResultsView } from '../shared/protocol.ts';
import type { ItemRecord, RunFile, RunSummary, TuningRecord } from '../shared/results.ts';
import { resultsView, shownRuns } from '../study/index.ts';
import { isOver, type Job, jobActivity } from './jobs.ts';

/** What it needs of a store; `DiskRunStore` has it. */
export interface ResultsReader {
  readItems(id: string, from?: number, part?: { limit?: number; bytes?: number }): Promise<ItemRecord[]>;
  readItem(id: string, index: number): Promise<ItemRecord | null>;
  countItems(id: string): Promise<number>;
  readTuning(id: string): Promise<TuningRecord[]>;
}

export interface Subject {
  task: string;
  benchmarkFile: string;
  modelName: string;
  modelFolder: string;
}

/** The benchmark × model that a run belongs to. */
export const subjectOfRun = ({ benchmark, model }: RunFile): Subject => ({
  task: benchmark.task,
  benchmarkFile: benchmark.file,
  modelName: model.name,
  modelFolder: model.folder,
});

/** Runs of one benchmark that are compared: these and no others, whatever is run later. */
export interface Comparison {
  task: string;
  /** Ids, in the order of the columns. */
  runs: string[];
}

/** What a results page is about. */
export type Shown = Subject | Comparison;

export const isComparison = (shown: Shown): shown is Comparison => 'runs' in shown;

interface LiveRun {
  run: RunFile;
  summary: RunSummary | null;
  tuning: TuningRecord[];
  done: number;
  total: number | null;
  /** It was seen in the store: when it is not there any more, it was deleted. */
  onDisk: boolean;
}

/** Items that a page has to add: they stand in the run's file from position `from` on. */
interface NewItems {
  run: string;
  from: number;
  items: ItemRow[];
}

export class LiveResults {
  readonly subject: Shown;
  #runs = new Map<string, LiveRun>();

  constructor(subject: Shown) {
    this.subject = subject;
  }

  /** Takes the runs as they stand on disk. Of a run that is under way, what the job has told is kept where it is ahead. */
  async load(runs: readonly RunFolder[], readerOf: (run: string) => ResultsReader | null): Promise<void> {
    const chosen = shownRuns(runs, this.subject);
    const next = new Map<string, LiveRun>();
    await Promise.all(
      chosen.map(async ({ run, summary }) => {
        const reader = readerOf(run.id);
        const tuning = (await reader?.readTuning(run.id)) ?? [];
        const finished = run.status === 'finished' && summary;
        const done = finished ? summary.scores.n : ((await reader?.countItems(run.id)) ?? 0);
        const told = this.#runs.get(run.id);
        next.set(run.id, {
          run,
          summary,
          tuning: told && told.tuning.length > tuning.length ? told.tuning : tuning,
          done: Math.max(done, told?.done ?? 0),
          total: told?.total ?? null,
          onDisk: true,
        });
      }),
    );
    // A run that began after the list was made is known from the job only.
    for (const [id, told] of this.#runs)
      if (!told.onDisk && !next.has(id) && !runs.some(({ run }) => run.id === id)) next.set(id, told);
    this.#runs = next;
  }

  /** @returns items to add to the page, where the progress brought some */
  follow(progress: JobProgress): NewItems | null {
    switch (progress.kind) {
      case 'run': {
        const { run } = progress;
        const told = this.#runs.get(run.id);
        if (isComparison(this.subject)) {
          if (!this.subject.runs.includes(run.id)) return null;
        } else
          for (const [id, other] of this.#runs) if (other.run.mode === run.mode && id !== run.id) this.#runs.delete(id);
        this.#runs.set(run.id, {
          run,
          summary: told?.summary ?? null,
          tuning: told?.tuning ?? [],
          done: told?.done ?? 0,
          total: told?.total ?? null,
          onDisk: told?.onDisk ?? false,
        });
        return null;
      }
      case 'tuning': {
        const told = this.#runs.get(progress.run);
        if (told) {
          // A resumed tuning goes on from its checkpoint: steps after it are done again.
          const { record } = progress;
          const isLater = (one: TuningRecord): boolean =>
            one.step > record.step ||
            (one.kind === 'trial' && record.kind === 'trial'
              ? one.rate === record.rate
              : one.step === record.step && one.kind === record.kind);
          told.tuning = [...told.tuning.filter((one) => !isLater(one)), record];
        }
        return null;
      }
      case 'items': {
        const told = this.#runs.get(progress.run);
        if (told) {
          told.done = progress.done;
          told.total = progress.total;
        }
        if (!told || progress.records.length === 0) return null;
        return { run: progress.run, from: progress.done - progress.records.length, items: progress.records.map(rowOf) };
      }
      case 'summary': {
        const told = this.#runs.get(progress.summary.run);
        if (told) {
          told.summary = progress.summary;
          told.run = { ...told.run, status: 'finished' };
          told.done = progress.summary.scores.n;
        }
        return null;
      }
      case 'phase':
        return null;
    }
  }

  #empty(): ResultsView {
    const nothing = { columns: [], warnings: [], job: null, problem: null };
    const { task } = this.subject;
    if (isComparison(this.subject)) {
      const problem = `None of the ${this.subject.runs.length} runs that are compared here is there any more.`;
      return { ...nothing, title: task, benchmark: { task, file: '' }, model: { name: '', folder: '' }, problem };
    }
    const { benchmarkFile, modelName, modelFolder } = this.subject;
    return {
      ...nothing,
      title: `${task} · ${modelName}`,
      benchmark: { task, file: benchmarkFile },
      model: { name: modelName, folder: modelFolder },
    };
  }

  view(job: Job | null, problem: string | null): ResultsView {
    const folders = [...this.#runs.values()]
      .map(({ run, summary }): RunFolder => ({ folder: '', run, summary }))
      .sort((a, b) => (a.run.created < b.run.created ? 1 : -1));
    const known = resultsView(folders, this.subject, {
      tuning: (run) => this.#runs.get(run)?.tuning ?? [],
      done: (run) => this.#runs.get(run)?.done ?? 0,
    });
    const view = known ?? this.#empty();
    const active = job && !isOver(job) ? job : null;
    return {
      ...view,
      columns: view.columns.map((column) => ({
        ...column,
        total: this.#runs.get(column.run.id)?.total ?? column.total,
      })),
      job: active && {
        phase: active.state === 'running' ? [active.mode, active.phase].filter(Boolean).join(' ') : active.state,
        message: jobActivity(active),
        fraction: active.fraction,
        secondsLeft: active.secondsLeft,
      },
      problem: active ? null : (problem ?? view.problem),
    };
  }
}
