/**
 * Errors that a person will read. Anything else that is thrown is a programming error and keeps its stack.
 * `kind` lets a caller choose an exit code or a button without parsing the message.
 */
export type ErrorKind =
  | 'bad-input' // a file, setting or argument of the user's is wrong
  | 'missing' // a file or folder is not there
  | 'unsupported' // understood, but Softbench cannot do it
  | 'cancelled' // the user stopped it
  | 'disk' // writing failed: full, read-only, no permission
  | 'engine' // ONNX Runtime refused or failed
  | 'worker-lost' // the worker thread ended without an answer
  | 'internal';

/** Where in a file something is wrong; line and column count from 1. */
export interface Place {
  file: string;
  line?: number;
  column?: number;
}

/** Says what is wrong, where, and what to do. */
export class HumanError extends Error {
  override readonly name = 'HumanError';
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly details: { place?: Place; todo?: string; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
  }

  /** The message with its place in front and the advice behind, for a terminal or a notification. */
  get sentence(): string {
    const { place, todo } = this.details;
    const where = place
      ? `${place.file}${place.line ? `:${place.line}${place.column ? `:${place.column}` : ''}` : ''}: `
      : '';
    return `${where}${this.message}${todo ? ` ${todo}` : ''}`;
  }
}

export class CancelledError extends HumanError {
  constructor(message = 'Stopped. Finished items and steps are kept; run it again to resume.') {
    super('cancelled', message);
  }
}

/** Any thrown value as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** What a person should read of any thrown value. */
export function sentenceOf(thrown: unknown): string {
  return thrown instanceof HumanError ? thrown.sentence : asError(thrown).message;
}

/** Throws {@link CancelledError} when the signal has fired. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CancelledError();
}
