/** Predicted scores for the leaderboard's empty cells: computed when they are wished for, again when the runs change. */
import type { ExtensionContext, LogOutputChannel } from 'vscode';
import { CancelledError, sentenceOf } from '../shared/errors.ts';
import type { LeaderboardView, PredictedCell } from '../shared/protocol.ts';
import { Emitter, throttle } from './emitter.ts';
import type { LeaderboardPredictions } from './leaderboard-source.ts';
import type { Predictions } from './predictions.ts';

const wishKey = 'softbench.leaderboard.predictions';

interface Wish {
  shown: boolean;
  /** Metrics that were looked at: cells of these are predicted. */
  metric: string;
}

export class PredictedCells implements LeaderboardPredictions {
  readonly #context: ExtensionContext;
  readonly #predictions: Predictions;
  readonly #log: LogOutputChannel;
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;
  #wish: Wish;
  #cells: PredictedCell[] = [];
  #note: string | null = null;
  /** Of what is computed or being computed: the cells that there are, and the metric. */
  #of = '';
  #stop: AbortController | null = null;
  readonly #forget = throttle(500, () => {
    this.#of = '';
    if (this.#wish.shown) this.#changed.fire();
  });

  constructor(context: ExtensionContext, predictions: Predictions, log: LogOutputChannel) {
    this.#context = context;
    this.#predictions = predictions;
    this.#log = log;
    this.#wish = context.workspaceState.get<Wish>(wishKey) ?? { shown: false, metric: 'S' };
    context.subscriptions.push(predictions.onDidChangeRecords(this.#forget), this.#forget);
  }

  of(view: LeaderboardView): Pick<LeaderboardView, 'predicted' | 'predictions'> {
    if (!this.#wish.shown) return { predictions: { shown: false, busy: false, note: null } };
    const key = JSON.stringify([
      this.#wish.metric,
      view.cells.map(({ model, task, mode, cell }) => [model, task, mode, cell.run]),
      view.models.length,
      view.benchmarks.length,
    ]);
    if (this.#of !== key) void this.#compute(key, view);
    return {
      predicted: this.#cells,
      predictions: { shown: true, busy: this.#stop !== null, note: this.#note },
    };
  }

  async show({ shown, metric }: Wish): Promise<void> {
    if (shown === this.#wish.shown && metric === this.#wish.metric) return;
    this.#wish = { shown, metric };
    if (!shown) {
      this.#stop?.abort();
      this.#of = '';
      this.#cells = [];
    }
    await this.#context.workspaceState.update(wishKey, this.#wish);
    this.#changed.fire();
  }

  async #compute(key: string, view: LeaderboardView): Promise<void> {
    this.#stop?.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.#of = key;
    try {
      const [places, wanted] = await Promise.all([this.#predictions.places(), this.#predictions.settings()]);
      const { call } = await this.#predictions.process();
      const { models, benchmarks, cells } = view;
      const { cells: predicted, reason } = await call.predictCells(
        {
          places,
          predictor: wanted.predictor,
          metric: this.#wish.metric,
          seed: wanted.seed,
          view: { models, benchmarks, cells },
        },
        { signal: stop.signal },
      );
      if (this.#stop !== stop) return;
      this.#cells = predicted;
      this.#note = reason;
    } catch (thrown) {
      if (this.#stop !== stop) return;
      this.#cells = [];
      this.#note = thrown instanceof CancelledError ? null : sentenceOf(thrown);
      if (this.#note) this.#log.warn(this.#note);
    } finally {
      if (this.#stop === stop) {
        this.#stop = null;
        this.#changed.fire();
      }
    }
  }
}
