/** Runs of this window's jobs as the leaderboard shows them: items done, and S so far. Plain TypeScript. */
import { share } from '../metrics/index.ts';
import type { JobProgress } from '../shared/protocol.ts';
import type { RunFile } from '../shared/results.ts';
import type { RunningRun } from '../study/index.ts';

interface Followed {
  run: RunFile;
  done: number;
  total: number | null;
  /** Items whose records came by, and how many of them are in the format and right. */
  seen: number;
  right: number;
  /** Outputs that are judged: where there are none (likelihoods only, outputs only) there is no S. */
  judged: number;
}

export class RunningCells {
  readonly #runs = new Map<string, Followed>();

  follow(progress: JobProgress): void {
    if (progress.kind === 'run') {
      const { run } = progress;
      if (run.status === 'running' && !this.#runs.has(run.id))
        this.#runs.set(run.id, { run, done: 0, total: null, seen: 0, right: 0, judged: 0 });
      else if (run.status !== 'running') this.#runs.delete(run.id);
    } else if (progress.kind === 'items') {
      const followed = this.#runs.get(progress.run);
      if (!followed) return;
      followed.done = progress.done;
      followed.total = progress.total;
      for (const { inFormat, right, generated, scored } of progress.records) {
        followed.seen++;
        if (generated === false || scored === false) continue;
        followed.judged++;
        if (inFormat && right) followed.right++;
      }
    } else if (progress.kind === 'summary') this.#runs.delete(progress.summary.run);
  }

  /** The job has ended, in whatever way. */
  end(group: string): void {
    for (const [id, { run }] of this.#runs) if (run.group === group) this.#runs.delete(id);
  }

  get list(): RunningRun[] {
    return [...this.#runs.values()].map(({ run, done, total, seen, right, judged }) => ({
      run,
      done,
      total,
      // A resumed run begins with items that were not seen here: the rest alone would be another sample.
      S: judged > 0 && seen === done ? share(right, judged) : null,
    }));
  }
}
