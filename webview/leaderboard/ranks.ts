/** The ranks that models could have, for what is shown: asked of the host, which has the items; else drawn here. */
import { drawnScores, type RankIntervals, rankIntervalSteps } from '../../src/metrics/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { LeaderboardPageApi } from '../../src/shared/protocol.ts';
import type { Host } from '../host.ts';
import type { RankedMode, Table } from './table.ts';
import type { Likely } from './words.ts';

interface Known {
  ranked: RankedMode;
  key: string;
  likely: Map<string, Likely>;
  drawn: RankIntervals['drawn'] | null;
}

export class LikelyRanks {
  readonly #host: Host<LeaderboardPageApi>;
  readonly #changed: () => void;
  readonly #known = new Map<PromptMode, Known>();

  constructor(host: Host<LeaderboardPageApi>, changed: () => void) {
    this.#host = host;
    this.#changed = changed;
  }

  of(mode: PromptMode, model: string): Likely | undefined {
    return this.#known.get(mode)?.likely.get(model);
  }

  /** What was drawn for the mode; null while it is being computed. */
  drawn(mode: PromptMode): RankIntervals['drawn'] | null {
    return this.#known.get(mode)?.drawn ?? null;
  }

  /** Computes what is not known of the modes shown, one after another. */
  update({ ranked }: Table, metric: string): void {
    for (const mode of this.#known.keys()) if (!ranked.some((each) => each.mode === mode)) this.#known.delete(mode);
    for (const each of ranked) {
      if (this.#known.get(each.mode)?.ranked === each) continue;
      const models = each.order.filter(({ rank }) => rank !== null);
      // Scores as they stand in the runs: a run that is replaced has another id.
      const key = JSON.stringify([
        metric,
        each.tasks,
        models.map(({ model, parts }) => [model, parts.map(({ cell }) => cell.run)]),
      ]);
      const before = this.#known.get(each.mode);
      if (before?.key === key) {
        before.ranked = each;
        continue;
      }
      const known: Known = { ranked: each, key, likely: new Map(), drawn: null };
      this.#known.set(each.mode, known);
      if (models.length < 2) continue;
      void this.#compute(each, metric, () => this.#known.get(each.mode) === known).then(
        (found) => {
          if (!found || this.#known.get(each.mode) !== known) return;
          known.likely = new Map(models.map(({ model }, at) => [model, found.ranks[at] ?? { low: 0, high: 0 }]));
          known.drawn = found.drawn;
          this.#changed();
        },
        // Ranks without their intervals are still ranks.
        () => {},
      );
    }
  }

  async #compute(
    { mode, tasks, order }: RankedMode,
    metric: string,
    isWanted: () => boolean,
  ): Promise<RankIntervals | null> {
    const models = order.filter(({ rank }) => rank !== null);
    if (this.#host.live) return this.#host.api.ranks({ tasks, mode, metric, models: models.map(({ model }) => model) });
    const steps = rankIntervalSteps(drawnScores(models), {
      higherIsBetter: models[0]?.score?.higherIsBetter ?? true,
      // Half a million ranks at most between two frames.
      iterations: Math.max(200, Math.min(1000, Math.round(200_000 / models.length))),
    });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await new Promise((resolve) => setTimeout(resolve));
      if (!isWanted()) return null;
    }
  }
}
