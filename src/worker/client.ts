/**
 * The host's end of the worker: starts it with the first call, ends it when it has been idle for a while, and turns its
 * death into an error that a person can act on. Loads neither ONNX Runtime nor a tokenizer.
 */
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { markOwnersDead } from '../runs/index.ts';
import { asError, CancelledError, HumanError } from '../shared/errors.ts';
import type { WorkerApi } from '../shared/protocol.ts';
import { type Api, type CallOptions, type Client, connect } from '../shared/rpc.ts';
import type { WorkerStart } from './start.ts';

export interface WorkerClientOptions {
  /** The bundled worker, `dist/worker.js`. */
  file: string | URL;
  /** The worker ends after this long without a call; its models' memory goes back to the system. */
  idleMilliseconds?: number;
  /** Limit of the worker's JavaScript heap; models are outside of it. */
  heapMegabytes?: number;
  /** Told of everything unexpected, for a log. */
  log?(message: string): void;
}

interface Running {
  worker: Worker;
  owner: string;
  call: Client<Api>;
  fail(error: Error): void;
  exited: Promise<void>;
}

const resumeAdvice = 'Finished items and steps are kept: run it again to resume.';

export class WorkerClient<A extends Api = WorkerApi> {
  /** The worker's methods. */
  readonly call: Client<A>;
  readonly #options: Required<Pick<WorkerClientOptions, 'idleMilliseconds'>> & WorkerClientOptions;
  #running: Running | null = null;
  /** Threads of this process that have ended: whoever comes next may take over what they had locked. */
  readonly #dead: string[] = [];
  readonly #calls = new Set<{ controller: AbortController; settled: Promise<unknown> }>();
  #idle: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(options: WorkerClientOptions) {
    this.#options = { idleMilliseconds: 10 * 60_000, ...options };
    this.call = new Proxy({} as Client<A>, {
      get: (_, method) =>
        typeof method === 'string' && method !== 'then'
          ? (argument: unknown, options?: CallOptions<unknown>) => this.#invoke(method, argument, options)
          : undefined,
    });
  }

  /** Whether calls are under way. */
  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  /** Whether the worker exists. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Names, in the locks of run folders, of workers that have ended: whoever reads the store in this process needs them. */
  get deadOwners(): readonly string[] {
    return this.#dead;
  }

  async #invoke(method: string, argument: unknown, options: CallOptions<unknown> = {}): Promise<unknown> {
    if (this.#disposed) throw new CancelledError('Softbench is shutting down.');
    clearTimeout(this.#idle);
    this.#running ??= this.#start();
    const running = this.#running;
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (options.signal?.aborted) abort();
    else options.signal?.addEventListener('abort', abort, { once: true });
    const settled = (running.call[method] as (argument: unknown, options: CallOptions<unknown>) => Promise<unknown>)(
      argument,
      { signal: controller.signal, onProgress: options.onProgress },
    );
    const entry = { controller, settled };
    this.#calls.add(entry);
    // A worker that has work keeps the process alive; one that waits for the next call does not.
    running.worker.ref();
    try {
      return await settled;
    } finally {
      options.signal?.removeEventListener('abort', abort);
      this.#calls.delete(entry);
      if (!this.isBusy) {
        this.#running?.worker.unref();
        this.#idle = setTimeout(() => this.#endIdle(), this.#options.idleMilliseconds);
        this.#idle.unref();
      }
    }
  }

  /** Ends a worker that has no work; a call that comes in the meantime gets a new one. */
  #endIdle(): void {
    if (this.isBusy) return;
    const running = this.#running;
    this.#running = null;
    void running?.worker.terminate();
  }

  #start(): Running {
    const owner = randomUUID();
    const { file, heapMegabytes, log } = this.#options;
    const worker = new Worker(file, {
      workerData: { owner, deadOwners: [...this.#dead] } satisfies WorkerStart,
      name: 'softbench',
      ...(heapMegabytes && { resourceLimits: { maxOldGenerationSizeMb: heapMegabytes } }),
    });
    const { call, fail } = connect<Api>({
      post: (message) => worker.postMessage(message),
      onMessage: (listener) => {
        worker.on('message', listener);
        return () => worker.off('message', listener);
      },
    });
    let reason: Error | null = null;
    worker.on('error', (thrown) => {
      reason = lostBecause(thrown);
      log?.(`The worker failed: ${asError(thrown).stack ?? thrown}`);
    });
    worker.on('messageerror', (thrown) =>
      log?.(`A message of the worker could not be read: ${asError(thrown).message}`),
    );
    const exited = new Promise<void>((resolve) => {
      worker.on('exit', (code) => {
        this.#dead.push(owner);
        markOwnersDead([owner]);
        if (this.#running?.worker === worker) this.#running = null;
        if (this.isBusy) log?.(`The worker ended with code ${code} while it had work.`);
        fail(
          reason ??
            new HumanError('worker-lost', `The worker ended unexpectedly (code ${code}).`, { todo: resumeAdvice }),
        );
        resolve();
      });
    });
    return { worker, owner, call, fail, exited };
  }

  /** Ends the worker at once, whatever it is doing; pending calls are rejected. For tests and a last resort. */
  async kill(): Promise<void> {
    const running = this.#running;
    await running?.worker.terminate();
    await running?.exited;
  }

  /** Stops what is under way, gives it a moment to close its files, and ends the worker. No calls after it. */
  async dispose(graceMilliseconds = 3000): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#idle);
    const settled = [...this.#calls].map(({ controller, settled }) => {
      controller.abort();
      return settled.catch(() => {});
    });
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMilliseconds);
    });
    await Promise.race([Promise.all(settled), grace]);
    clearTimeout(timer);
    await this.kill();
  }
}

/** What an error that ended the thread means to a person. */
function lostBecause(thrown: unknown): HumanError {
  const error = asError(thrown) as NodeJS.ErrnoException;
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new HumanError('worker-lost', 'The worker ran out of memory.', {
      todo: `Use a smaller batch size or a smaller model. ${resumeAdvice}`,
      cause: thrown,
    });
  if (error.code === 'ERR_DLOPEN_FAILED' || error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND')
    return new HumanError('engine', `A part of Softbench could not be loaded: ${error.message}.`, {
      todo: 'Install Softbench again for this platform.',
      cause: thrown,
    });
  return new HumanError('worker-lost', `The worker failed: ${error.message}.`, { todo: resumeAdvice, cause: thrown });
}
