/** Whether runs can be compared: in what they differ that their scores hang on, and what that means. */
import { importedWords } from '../shared/imported.ts';
import { isLikelihoodsOnly } from '../shared/likelihood-words.ts';
import { usesExamples } from '../shared/modes.ts';
import type { ComparisonWarning } from '../shared/protocol.ts';
import type { RunFile, RunSummary } from '../shared/results.ts';

/** What is looked at of a run. */
export interface ComparedRun {
  run: RunFile;
  summary: RunSummary | null;
  /** Items finished so far. */
  done?: number;
}

interface Setting {
  what: string;
  severity: ComparisonWarning['severity'];
  sentence: string;
  /**
   * What it is in a run, in words; null where it does not apply or is not known: such a run is not compared in this.
   * @param all the runs that are compared
   */
  of(compared: ComparedRun, all: readonly ComparedRun[]): string | null;
  /** What tells runs apart, where the words do not. */
  key?(compared: ComparedRun): string;
}

const short = (digest: string): string => digest.slice(0, 8);
/** Of what was imported only the words of its files are known. */
const measured = <T>({ source }: RunFile, value: T): T | null => (source ? null : value);
const quoted = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(' ') || 'nothing';
const count = (n: number): string => n.toLocaleString('en-US');

/** Runs of earlier versions have one digest of the whole configuration. */
const haveParts = (all: readonly ComparedRun[]): boolean =>
  all.every(({ run }) => run.source || (run.benchmark.digests.requests && run.benchmark.digests.scoring));

/** Figures of the benchmark file that count tokens of the model's own vocabulary. */
const countsTokens = ({ summary }: ComparedRun): boolean =>
  (summary?.measures ?? []).some(({ metric }) => /perplexity|^bits_per|nll|loglik/i.test(metric)) ||
  summary?.scores.LL != null;

/** One row a thing that scores hang on, the gravest first. Modes are what they are by nature: no row is about them. */
const comparedSettings: readonly Setting[] = [
  {
    what: 'Benchmark',
    severity: 'incomparable',
    sentence: 'The runs are of different benchmarks: their scores are of different tasks.',
    of: ({ run }) => run.benchmark.task,
  },
  {
    what: 'Data',
    severity: 'incomparable',
    sentence: 'The data of the split were not the same: an item of one number may be another question.',
    of: ({ run }) => measured(run, `data ${short(run.benchmark.digests.data)}`),
    key: ({ run }) => run.benchmark.digests.data,
  },
  {
    what: 'Split',
    severity: 'incomparable',
    sentence: 'The runs were made on different splits of the data.',
    of: ({ run }) => run.benchmark.split || null,
  },
  {
    what: 'Prompts',
    severity: 'incomparable',
    sentence:
      'The benchmark file has changed in what is asked of the model: templates, stop strings, candidates or the like.',
    of: ({ run }, all) =>
      haveParts(all) ? measured(run, `prompts ${short(run.benchmark.digests.requests ?? '')}`) : null,
    key: ({ run }) => run.benchmark.digests.requests ?? '',
  },
  {
    what: 'Scoring',
    severity: 'incomparable',
    sentence: 'Outputs were read and scored by different rules. Re-score the older run: that takes no model.',
    of: ({ run }, all) =>
      haveParts(all) ? measured(run, `scoring ${short(run.benchmark.digests.scoring ?? '')}`) : null,
    key: ({ run }) => run.benchmark.digests.scoring ?? '',
  },
  {
    what: 'Benchmark file',
    severity: 'incomparable',
    sentence:
      'The benchmark file has changed; runs of earlier versions do not say whether in its prompts or in its scoring.',
    of: ({ run }, all) => (haveParts(all) ? null : measured(run, `file ${short(run.benchmark.digests.config)}`)),
    key: ({ run }) => run.benchmark.digests.config,
  },
  {
    what: 'Scores',
    severity: 'incomparable',
    sentence: 'Some of the runs keep outputs only: nobody has scored them. Re-score them first.',
    of: ({ run }) => (run.predictOnly ? 'not scored' : 'scored'),
  },
  {
    what: 'What was measured',
    severity: 'incomparable',
    sentence: 'Some of the runs measured likelihoods only, others generated outputs: only LL is a figure of both.',
    of: ({ run }) => (isLikelihoodsOnly(run) ? 'likelihoods only' : 'outputs'),
  },
  {
    what: 'Chat template',
    severity: 'incomparable',
    sentence:
      'Some prompts were written as a conversation and others as plain text: the models were not asked the same, and answer the two in different forms.',
    of: ({ run }) => measured(run, run.settings.chat?.template ? 'a chat template' : 'plain text'),
  },
  {
    what: 'Items',
    severity: 'care',
    sentence:
      'The runs are of different numbers of items: the scores are over different items. Paired figures use the items that both have.',
    of: ({ run }) => `${count(run.benchmark.items)} items`,
  },
  {
    what: 'Finished items',
    severity: 'care',
    sentence: 'Not all runs are finished: scores are of the items so far. Paired figures use the items that both have.',
    // One that has no items yet (its prompt is being tuned) has no scores that could mislead.
    of: ({ run, done }) =>
      run.status === 'finished'
        ? 'finished'
        : done === 0
          ? null
          : `${run.status}${done === undefined ? '' : `, ${count(done)} items`}`,
  },
  {
    what: 'Origin',
    severity: 'care',
    sentence: 'Some of the runs were imported: whether their prompts and data are the same is not known here.',
    of: ({ run }) => (run.source ? importedWords(run.source) : 'measured here'),
  },
  {
    what: 'Few-shot examples',
    severity: 'care',
    sentence: 'Prompts have different numbers of examples: the form of the answer is shown more often in some.',
    of: ({ run }) => (usesExamples(run.mode) ? count(run.settings.shots) : null),
  },
  {
    what: 'Seed of the examples',
    severity: 'care',
    sentence: 'The examples were drawn by different seeds: they are not the same ones.',
    of: ({ run }) =>
      usesExamples(run.mode) && run.settings.shots > 0 ? measured(run, `seed ${run.settings.fewShotSeed}`) : null,
  },
  {
    what: 'Training data',
    severity: 'care',
    sentence: 'The split that examples and tuning take from has changed.',
    of: ({ run }) => {
      const { training } = run.benchmark.digests;
      return training === undefined ? null : `data ${short(training)}`;
    },
  },
  {
    what: 'Which chat template',
    severity: 'care',
    sentence:
      'The chat templates differ. Between models that is their nature; for one model it is a difference of prompts.',
    of: ({ run }) => {
      const template = run.settings.chat?.template;
      return template ? `${template.name} (${short(template.digest)})` : null;
    },
  },
  {
    what: 'System instruction',
    severity: 'care',
    sentence: 'The system instructions differ.',
    of: ({ run }) =>
      measured(
        run,
        run.settings.chat?.systemInstruction ? JSON.stringify(run.settings.chat.systemInstruction) : 'none',
      ),
  },
  {
    what: 'Examples as turns',
    severity: 'care',
    sentence: 'Some prompts give examples as turns of the conversation, others in one message.',
    of: ({ run }) =>
      run.settings.chat?.template && usesExamples(run.mode)
        ? run.settings.chat.fewshotAsMultiturn
          ? 'as turns'
          : 'in one message'
        : null,
  },
  {
    what: 'Sampling',
    severity: 'care',
    sentence: 'Outputs were chosen in different ways: sampled ones change from seed to seed.',
    of: ({ run }) => {
      const { temperature, topP, seed } = run.settings.generation;
      if (isLikelihoodsOnly(run)) return null;
      return temperature === 0 ? 'greedy' : `temperature ${temperature}, top-p ${topP}, seed ${seed}`;
    },
  },
  {
    what: 'Length of outputs',
    severity: 'care',
    sentence: 'Outputs may have different lengths: the shorter limit cuts answers off sooner.',
    of: ({ run }) =>
      isLikelihoodsOnly(run) || run.settings.generation.maxNewTokens <= 0
        ? null
        : `at most ${count(run.settings.generation.maxNewTokens)} tokens`,
  },
  {
    what: 'Stop strings',
    severity: 'care',
    sentence: 'Outputs end at different strings.',
    of: ({ run }) => (isLikelihoodsOnly(run) ? null : measured(run, quoted(run.settings.generation.until))),
  },
  {
    what: 'Outputs an item',
    severity: 'care',
    sentence: 'The runs ask for different numbers of outputs an item.',
    of: ({ run }) => count(run.settings.repeats ?? 1),
  },
  {
    what: 'Tokenizer',
    severity: 'care',
    sentence:
      'The tokenizers differ. Likelihoods are of different tokens: figures per token cannot be compared, those per byte or word can.',
    of: (compared) =>
      countsTokens(compared)
        ? measured(compared.run, `tokenizer ${short(compared.run.model.digests.tokenizer)}`)
        : null,
  },
  {
    what: 'Cut prompts',
    severity: 'care',
    sentence: 'Prompts were longer than the context of some of the models and lost their beginning.',
    of: ({ summary }) => (summary ? (summary.truncated ? `${count(summary.truncated)} cut` : 'none cut') : null),
  },
  {
    what: 'Execution provider',
    severity: 'care',
    sentence:
      'The runs were computed by different execution providers: rounding may turn an answer where two are nearly alike.',
    of: ({ run }) => measured(run, run.provider.running),
  },
  {
    what: 'Version',
    severity: 'care',
    sentence: 'The runs were made by different versions of Softbench.',
    of: ({ run }) => measured(run, run.softbench),
  },
];

/** The settings in which runs differ that their scores hang on, the gravest first. Empty where there are none. */
export function comparisonWarnings(all: readonly ComparedRun[]): ComparisonWarning[] {
  return comparedSettings
    .flatMap(({ what, severity, sentence, of, key }): ComparisonWarning[] => {
      const known = all.flatMap((compared) => {
        const value = of(compared, all);
        return value === null ? [] : [{ run: compared.run.id, value, key: key?.(compared) ?? value }];
      });
      return new Set(known.map((each) => each.key)).size > 1
        ? [{ severity, what, sentence, values: known.map(({ run, value }) => ({ run, value })) }]
        : [];
    })
    .sort((a, b) => Number(a.severity === 'care') - Number(b.severity === 'care'));
}
