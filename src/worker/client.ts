/**
 * The host's end of the worker: starts it with the first call, ends it when it has been idle for a while, and turns its
 * death into an error that a person can act on. Loads neither ONNX Runtime nor a tokenizer.
 *
 * The worker is a process, not a thread: a thread that is ended while ONNX Runtime computes takes the whole process with
 * it (an exception in native code, measured with 1.30), and so does the system when memory runs out. The host may be the
 * extension host, with everybody's extensions in it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asError, CancelledError, HumanError } from '../shared/errors.ts';
import type { WorkerApi } from '../shared/protocol.ts';
import { type Api, type CallOptions, type Client, connect } from '../shared/rpc.ts';
import { allocatorSettings } from './allocator.ts';

export interface WorkerClientOptions {
  /** The bundled worker, `dist/worker.js`. */
  file: string | URL;
  /** The worker ends after this long without a call; its models' memory goes back to the system. */
  idleMilliseconds?: number;
  /** Limit of the worker's JavaScript heap; models are outside of it. For tests. */
  heapMegabytes?: number;
  /** More of the worker's environment, asked for each time one begins. */
  environment?(): NodeJS.ProcessEnv;
  /** Told of everything unexpected, for a log. */
  log?(message: string): void;
}

interface Running {
  child: ChildProcess;
  call: Client<Api>;
  exited: Promise<void>;
}

const resumeAdvice = 'Finished items and steps are kept: run it again to resume.';

export class WorkerClient<A extends Api = WorkerApi> {
  /** The worker's methods. */
  readonly call: Client<A>;
  readonly #options: Required<Pick<WorkerClientOptions, 'idleMilliseconds'>> & WorkerClientOptions;
  #running: Running | null = null;
  readonly #calls = new Set<{ controller: AbortController; settled: Promise<unknown> }>();
  #idle: NodeJS.Timeout | undefined;
  /** Workers that this client ended on purpose. */
  readonly #ended = new WeakSet<ChildProcess>();
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
    keepAlive(running.child, true);
    try {
      return await settled;
    } catch (thrown) {
      // A signal to the whole process group ends a worker that is just starting: that, too, is the stop that was asked for.
      const stopped = controller.signal.aborted && thrown instanceof HumanError && thrown.kind === 'worker-lost';
      throw stopped ? new CancelledError() : thrown;
    } finally {
      options.signal?.removeEventListener('abort', abort);
      this.#calls.delete(entry);
      if (!this.isBusy) {
        if (this.#running) keepAlive(this.#running.child, false);
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
    running?.child.kill('SIGKILL');
  }

  #start(): Running {
    const { file, heapMegabytes, environment, log } = this.#options;
    const path = file instanceof URL ? fileURLToPath(file) : file;
    const child = fork(path, [], {
      // Not the host's own flags: an inspector port, for one, can be used once only.
      execArgv: heapMegabytes ? [`--max-old-space-size=${heapMegabytes}`] : [],
      // In the editor the host's program is Electron, which then behaves as Node.
      env: { ...allocatorSettings, ...process.env, ...environment?.(), ELECTRON_RUN_AS_NODE: '1' },
      // Structured clone, as between threads: typed arrays arrive as such.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let lastWords = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-4000);
      log?.(text.trimEnd());
    });
    const { call, fail } = connect<Api>({
      post: (message) => {
        // A channel that is closed already is reported by 'close' below.
        if (child.connected) child.send(message as object, () => {});
      },
      onMessage: (listener) => {
        child.on('message', listener);
        return () => child.off('message', listener);
      },
    });
    const exited = new Promise<void>((resolve) => {
      const end = (reason: HumanError): void => {
        if (this.#running?.child === child) this.#running = null;
        fail(reason);
        resolve();
      };
      child.on('error', (thrown) => end(lost(`could not be started: ${asError(thrown).message}`)));
      // 'close' comes after the last of the error output, 'exit' may come before it.
      child.on('close', (code, signal) =>
        end(existsSync(path) ? lostBecause(code, signal, lastWords) : notThere(path)),
      );
    });
    return { child, call, exited };
  }

  /** Ends the worker at once, whatever it is doing; pending calls are rejected. For tests and a last resort. */
  async kill(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    this.#ended.add(running.child);
    running.child.kill('SIGKILL');
    await running.exited;
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

/** Whether the worker keeps the host's process from ending by itself. */
function keepAlive(child: ChildProcess, keep: boolean): void {
  // The error output is a socket, which its type does not say.
  const handles = [child, child.channel, child.stderr as unknown as { ref(): void; unref(): void } | null];
  for (const handle of handles) keep ? handle?.ref() : handle?.unref();
}

const lost = (how: string, todo = ''): HumanError =>
  new HumanError('worker-lost', `The worker ${how}.`, { todo: `${todo} ${resumeAdvice}`.trim() });

const notThere = (path: string): HumanError =>
  new HumanError('missing', `A part of Softbench is missing: ${path}.`, { todo: 'Build or install it again.' });

const memoryAdvice = 'Use a smaller batch size or a smaller model.';

/** What the end of the process means to a person. */
function lostBecause(code: number | null, signal: NodeJS.Signals | null, lastWords: string): HumanError {
  if (/heap out of memory|bad_alloc|Allocation failed/i.test(lastWords)) return lost('ran out of memory', memoryAdvice);
  // The system's out-of-memory killer sends SIGKILL; so does a person, who then knows.
  if (signal === 'SIGKILL') return lost('was killed, most often because memory ran out', memoryAdvice);
  const error = /^\w*Error: .*/m.exec(lastWords)?.[0];
  return lost(`ended unexpectedly (${signal ?? `code ${code}`})${error ? `: ${error.replace(/\.$/, '')}` : ''}`);
}
