/** Outputs without scores (`--predict_only` of lm-evaluation-harness): what a model says is kept, nobody judges it yet. */
import type { Benchmark } from '../benchmark/types.ts';
import { scores } from '../metrics/index.ts';
import { HumanError } from '../shared/errors.ts';
import { overlaid } from '../shared/overlaid.ts';
import type { RunSummary } from '../shared/results.ts';
import { notJudged } from './records.ts';

/** Said with such a run. */
export const predictOnlyNote = 'Outputs only: nothing was scored. Re-scoring makes a run with scores of it.';

/** The benchmark with its prompts and requests, but without readers, verdicts and metrics. */
export function withoutScoring(benchmark: Benchmark): Benchmark {
  const own: Partial<Benchmark> = {
    judge: () => notJudged,
    isRight: () => false,
    target: (item) => {
      try {
        return benchmark.target(item);
      } catch (thrown) {
        // Data without right answers: there is nothing to compare with yet.
        if (thrown instanceof HumanError && benchmark.outputType === 'generate_until')
          return { delimiter: '', text: '' };
        throw thrown;
      }
    },
    scored: false,
    metrics: undefined,
    measure: undefined,
  };
  return overlaid(benchmark, own);
}

/** A summary whose scores count no item. */
export function withoutScores(summary: RunSummary): RunSummary {
  const { metrics: _, measures: __, ...rest } = summary;
  return { ...rest, scores: scores([], { constantCandidates: [], isRight: () => false, chance: null }) };
}
