/**
 * The jobs of this window: one runs at a time (there is one worker), the others wait in order. Plain TypeScript: what
 * runs a job is handed in, and whoever shows jobs listens.
 */
import { randomUUID } from 'node:crypto';
import { formatTimeLeft } from '../metrics/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { JobProgress, JobRequest } from '../shared/protocol.ts';
import type { ProviderReport, RunSummary } from '../shared/results.ts';
import type { CallOptions } from '../shared/rpc.ts';
import { Emitter } from './emitter.ts';

export type JobKind = 'evaluate' | 'tune' | 'compare' | 'resume';
export type JobState = 'queued' | 'running' | 'stopping' | 'finished' | 'stopped' | 'failed';

export type JobRunner = (request: JobRequest, options: CallOptions<JobProgress>) => Promise<RunSummary[]>;

/** One job with what is known of its progress. Only the queue changes it. */
export interface Job {
  readonly kind: JobKind;
  readonly request: JobRequest;
  readonly task: string;
  readonly modelName: string;
  state: JobState;
  mode: PromptMode | null;
  phase: string;
  /** What it is doing: `tuning, step 34 of 80`. */
  activity: string;
  /** Of the mode under way, 0 to 1; null where nothing can be counted. */
  fraction: number | null;
  secondsLeft: number | null;
  provider: ProviderReport | null;
  /** Ids of the runs it has opened so far. */
  runs: string[];
  summaries: RunSummary[];
  error: Error | null;
}

export const isOver = (job: Job): boolean =>
  job.state === 'finished' || job.state === 'stopped' || job.state === 'failed';

/** Benchmark × model: what a results panel shows, and what two jobs must not run twice at once. */
export const subjectOf = (benchmarkFile: string, modelFolder: string): string => `${benchmarkFile}\n${modelFolder}`;
export const jobSubject = ({ request }: Job): string => subjectOf(request.benchmarkFile, request.modelFolder);

export const newGroup = (): string => randomUUID();

/** `soft-prompt: tuning, step 34 of 80` */
export function jobActivity(job: Job): string {
  if (job.state === 'queued') return 'waiting for the job before it';
  const text = `${job.mode ? `${job.mode}: ` : ''}${job.activity || 'starting'}`;
  return job.state === 'stopping' ? `stopping (${text})` : text;
}

/** `soft-prompt: tuning, step 34 of 80, about 20 s left` */
export function jobWords(job: Job): string {
  const left = job.state === 'running' && job.secondsLeft !== null ? `, ${formatTimeLeft(job.secondsLeft)}` : '';
  return `${jobActivity(job)}${left}`;
}

export class JobQueue {
  readonly #runner: JobRunner;
  readonly #waiting: Job[] = [];
  readonly #stops = new Map<Job, AbortController>();
  #running: Job | null = null;

  readonly #changed = new Emitter<Job>();
  readonly #progressed = new Emitter<{ job: Job; progress: JobProgress }>();
  readonly #ended = new Emitter<Job>();
  /** A job was added, went on, or ended. Fires often: throttle what is costly. */
  readonly onChange = this.#changed.event;
  readonly onProgress = this.#progressed.event;
  readonly onEnd = this.#ended.event;

  constructor(runner: JobRunner) {
    this.#runner = runner;
  }

  /** The running job first, then those that wait. */
  get jobs(): readonly Job[] {
    return this.#running ? [this.#running, ...this.#waiting] : [...this.#waiting];
  }

  get running(): Job | null {
    return this.#running;
  }

  /** The job on this benchmark file, or on this benchmark and model. */
  find(benchmarkFile: string, modelFolder?: string): Job | null {
    return (
      this.jobs.find(
        ({ request }) =>
          request.benchmarkFile === benchmarkFile && (modelFolder === undefined || request.modelFolder === modelFolder),
      ) ?? null
    );
  }

  /** Throws HumanError where the same benchmark and model already run or wait. */
  add(kind: JobKind, request: JobRequest, names: { task: string; modelName: string }): Job {
    const twin = this.find(request.benchmarkFile, request.modelFolder);
    if (twin)
      throw new HumanError(
        'bad-input',
        `${names.task} on ${names.modelName} is already ${twin.state === 'queued' ? 'waiting' : 'running'}.`,
        { todo: 'Stop it first, or wait until it is done.' },
      );
    const job: Job = {
      kind,
      request,
      ...names,
      state: 'queued',
      mode: null,
      phase: 'loading',
      activity: '',
      fraction: null,
      secondsLeft: null,
      provider: null,
      runs: [],
      summaries: [],
      error: null,
    };
    this.#waiting.push(job);
    this.#changed.fire(job);
    void this.#next();
    return job;
  }

  stop(job: Job): void {
    const waiting = this.#waiting.indexOf(job);
    if (waiting >= 0) {
      this.#waiting.splice(waiting, 1);
      this.#end(job, 'stopped', null);
    } else if (job === this.#running && job.state === 'running') {
      job.state = 'stopping';
      this.#changed.fire(job);
      this.#stops.get(job)?.abort();
    }
  }

  async #next(): Promise<void> {
    if (this.#running) return;
    const job = this.#waiting.shift();
    if (!job) return;
    this.#running = job;
    job.state = 'running';
    const controller = new AbortController();
    this.#stops.set(job, controller);
    this.#changed.fire(job);
    let state: JobState = 'finished';
    let error: Error | null = null;
    try {
      job.summaries = await this.#runner(job.request, {
        signal: controller.signal,
        onProgress: (progress) => this.#follow(job, progress),
      });
    } catch (thrown) {
      error = asError(thrown);
      const stopped = controller.signal.aborted || (error instanceof HumanError && error.kind === 'cancelled');
      state = stopped ? 'stopped' : 'failed';
      if (stopped) error = null;
    }
    this.#stops.delete(job);
    this.#running = null;
    this.#end(job, state, error);
    void this.#next();
  }

  #end(job: Job, state: JobState, error: Error | null): void {
    job.state = state;
    job.error = error;
    job.fraction = null;
    job.secondsLeft = null;
    this.#changed.fire(job);
    this.#ended.fire(job);
  }

  #follow(job: Job, progress: JobProgress): void {
    if (isOver(job)) return;
    follow(job, progress);
    this.#progressed.fire({ job, progress });
    this.#changed.fire(job);
  }
}

/** Takes one report of progress into the job. */
function follow(job: Job, progress: JobProgress): void {
  switch (progress.kind) {
    case 'phase':
      job.mode = progress.mode;
      job.phase = progress.phase;
      job.activity = progress.message;
      job.fraction = null;
      job.secondsLeft = null;
      break;
    case 'run':
      job.mode = progress.run.mode;
      job.provider = progress.run.provider;
      if (!job.runs.includes(progress.run.id)) job.runs.push(progress.run.id);
      break;
    case 'tuning':
      // Between trials the phase says which one is on.
      if (progress.record.kind === 'trial') break;
      job.activity = `tuning, step ${progress.record.step} of ${progress.steps}`;
      job.fraction = progress.steps > 0 ? progress.record.step / progress.steps : null;
      job.secondsLeft = progress.secondsLeft;
      break;
    case 'items':
      job.mode = progress.mode;
      job.activity = `item ${progress.done} of ${progress.total}`;
      job.fraction = progress.total > 0 ? progress.done / progress.total : null;
      job.secondsLeft = progress.secondsLeft;
      break;
    case 'summary':
      job.summaries = [...job.summaries.filter(({ mode }) => mode !== progress.summary.mode), progress.summary];
      break;
  }
}
