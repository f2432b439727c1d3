/** Work that a notification shows and can cancel. */
import * as vscode from 'vscode';

type ShowProgress = vscode.Progress<{ message?: string; increment?: number }>;

/** Runs with a notification; its Cancel aborts the signal. */
export const cancellable = <T>(
  title: string,
  run: (signal: AbortSignal, progress: ShowProgress) => Promise<T>,
): Promise<T> =>
  Promise.resolve(
    vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      (progress, token) => {
        const stop = new AbortController();
        token.onCancellationRequested(() => stop.abort());
        return run(stop.signal, progress);
      },
    ),
  );
