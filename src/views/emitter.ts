/** A minimal event without VS Code, so that what decides can be tested without it. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Shaped like a `vscode.Event`. */
  readonly event = (listener: (value: T) => void): { dispose(): void } => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}

/** Calls `action` at once and then at most once per `milliseconds`, the last call never lost. */
export function throttle(milliseconds: number, action: () => void): { (): void; dispose(): void } {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let again = false;
  const run = (): void => {
    if (timer) {
      again = true;
      return;
    }
    action();
    timer = setTimeout(() => {
      timer = null;
      if (again) {
        again = false;
        run();
      }
    }, milliseconds);
  };
  run.dispose = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    again = false;
  };
  return run;
}
