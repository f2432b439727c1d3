/** Outputs without scores (`--predict_only` of lm-evaluation-harness): what a model says is kept, nobody judges it yet. */
import type { Benchmark, Judgement } from '../benchmark/types.ts';
import { scores } from '../metrics/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { RunSummary } from '../shared/results.ts';

/** Said with such a run. */
export const predictOnlyNote = 'Outputs only: nothing was scored. Re-scoring makes a run with scores of it.';

const unread = { answer: null, span: null };
/** What stands in a record that nobody has judged. */
const notJudged: Judgement = {
  strict: unread,
  lenient: unread,
  inFormat: false,
  right: false,
  lenientRight: false,
  cause: null,
};

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
  return new Proxy(benchmark, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Benchmark];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A summary whose scores count no item. */
export function withoutScores(summary: RunSummary): RunSummary {
  const { metrics: _, measures: __, ...rest } = summary;
  return { ...rest, scores: scores([], { constantCandidates: [], isRight: () => false, chance: null }) };
}
