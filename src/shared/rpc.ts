/**
 * Remote calls between two sides of a message channel (host ↔ worker, host ↔ page), typed by one interface of
 * async methods: a Proxy makes the client, so there is no hand-written list of messages.
 * A call carries an id; it can be cancelled, it can report progress, and an error of the callee comes back as an error.
 */
import { asError, type ErrorKind, HumanError, type Place } from './errors.ts';

/** The two ends of any channel: a MessagePort, a Worker, a webview. */
export interface Channel {
  post(message: unknown): void;
  /** Calls back for each message; returns a function that stops it. */
  onMessage(listener: (message: unknown) => void): () => void;
}

export interface CallContext<Progress = unknown> {
  signal: AbortSignal;
  progress(value: Progress): void;
}

/** Each method takes one argument and a context on the serving side. `progress` types what it may report. */
export type Method<Argument, Result, Progress = never> = {
  argument: Argument;
  result: Result;
  progress: Progress;
};

// biome-ignore lint/suspicious/noExplicitAny: the constraint must accept every method
export type Api = Record<string, Method<any, any, any>>;

export type Handlers<A extends Api> = {
  [K in keyof A]: (
    argument: A[K]['argument'],
    context: CallContext<A[K]['progress']>,
  ) => Promise<A[K]['result']> | A[K]['result'];
};

export interface CallOptions<Progress> {
  signal?: AbortSignal;
  onProgress?(value: Progress): void;
}

export type Client<A extends Api> = {
  [K in keyof A]: (argument: A[K]['argument'], options?: CallOptions<A[K]['progress']>) => Promise<A[K]['result']>;
};

interface WireError {
  kind?: ErrorKind;
  message: string;
  place?: Place;
  todo?: string;
  stack?: string;
}

type Wire =
  | { rpc: 'call'; id: number; method: string; argument: unknown }
  | { rpc: 'cancel'; id: number }
  | { rpc: 'progress'; id: number; value: unknown }
  | { rpc: 'result'; id: number; value: unknown }
  | { rpc: 'error'; id: number; error: WireError };

function isWire(message: unknown): message is Wire {
  return (
    typeof message === 'object' &&
    message !== null &&
    'rpc' in message &&
    typeof (message as { id?: unknown }).id === 'number'
  );
}

function toWire(thrown: unknown): WireError {
  const error = asError(thrown);
  return thrown instanceof HumanError
    ? {
        kind: thrown.kind,
        message: thrown.message,
        place: thrown.details.place,
        todo: thrown.details.todo,
        stack: error.stack,
      }
    : { message: error.message, stack: error.stack };
}

function fromWire(wire: WireError): Error {
  const error = wire.kind
    ? new HumanError(wire.kind, wire.message, { place: wire.place, todo: wire.todo })
    : new Error(wire.message);
  if (wire.stack) error.stack = wire.stack;
  return error;
}

/** Answers calls that arrive on the channel. Returns a function that stops serving and cancels what is under way. */
export function serve<A extends Api>(channel: Channel, handlers: Handlers<A>): () => void {
  const running = new Map<number, AbortController>();
  const stop = channel.onMessage(async (message) => {
    if (!isWire(message)) return;
    if (message.rpc === 'cancel') {
      running.get(message.id)?.abort();
      return;
    }
    if (message.rpc !== 'call') return;
    const { id, method, argument } = message;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      if (!Object.hasOwn(handlers, method)) throw new Error(`There is no method "${method}" on this side.`);
      const handler = handlers[method] as (argument: unknown, context: CallContext) => unknown;
      const value = await handler(argument, {
        signal: controller.signal,
        progress: (value) => channel.post({ rpc: 'progress', id, value } satisfies Wire),
      });
      channel.post({ rpc: 'result', id, value } satisfies Wire);
    } catch (thrown) {
      channel.post({ rpc: 'error', id, error: toWire(thrown) } satisfies Wire);
    } finally {
      running.delete(id);
    }
  });
  return () => {
    stop();
    for (const controller of running.values()) controller.abort();
  };
}

/**
 * A client for the other side's methods. `fail` rejects every pending call and all later ones: use it when the other
 * side has gone (a dead worker would otherwise leave its callers hanging).
 */
export function connect<A extends Api>(
  channel: Channel,
): { call: Client<A>; fail(error: Error): void; dispose(): void } {
  let next = 1;
  let dead: Error | null = null;
  const pending = new Map<
    number,
    { resolve(value: unknown): void; reject(error: Error): void; onProgress?(value: unknown): void }
  >();
  const stop = channel.onMessage((message) => {
    if (!isWire(message)) return;
    const call = pending.get(message.id);
    if (!call) return;
    if (message.rpc === 'progress') call.onProgress?.(message.value);
    else if (message.rpc === 'result') {
      pending.delete(message.id);
      call.resolve(message.value);
    } else if (message.rpc === 'error') {
      pending.delete(message.id);
      call.reject(fromWire(message.error));
    }
  });
  const fail = (error: Error): void => {
    dead = error;
    for (const call of pending.values()) call.reject(error);
    pending.clear();
  };
  const invoke = (method: string, argument: unknown, options: CallOptions<unknown> = {}): Promise<unknown> => {
    if (dead) return Promise.reject(dead);
    const id = next++;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => channel.post({ rpc: 'cancel', id } satisfies Wire);
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          options.signal?.removeEventListener('abort', onAbort);
          then(value);
        };
      pending.set(id, { resolve: settle(resolve), reject: settle(reject), onProgress: options.onProgress });
      channel.post({ rpc: 'call', id, method, argument } satisfies Wire);
      if (options.signal?.aborted) onAbort();
      else options.signal?.addEventListener('abort', onAbort, { once: true });
    });
  };
  const call = new Proxy({} as Client<A>, {
    get: (_, method) =>
      typeof method === 'string' && method !== 'then'
        ? (argument: unknown, options?: CallOptions<unknown>) => invoke(method, argument, options)
        : undefined,
  });
  return { call, fail, dispose: stop };
}
