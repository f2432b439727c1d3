/** Results as tables and sentences on a terminal. */
import {
  compareRuns,
  costWords,
  formatMetric,
  formatPoints,
  formatSeconds,
  formatShare,
  formatShareAndInterval,
  knownCosts,
  metricResults,
  metricRows,
  together,
  verdictCodes,
} from '../metrics/index.ts';
import { importedWords } from '../shared/imported.ts';
import { learningRateInWords } from '../shared/learning-rate-words.ts';
import { isLikelihoodsOnly, likelihoodsOnlyNote } from '../shared/likelihood-words.ts';
import { placementWords, providerTitle } from '../shared/provider-words.ts';
import { timeMark } from '../shared/response-words.ts';
import type { ItemRecord, RunFile, RunSummary, Scores, Share } from '../shared/results.ts';
import { modeTitle } from '../shared/soft-prompt-words.ts';
import { table } from './terminal.ts';

export interface ModeOutcome {
  /** What the run is called among the others, where that is not its mode. */
  label?: string;
  run: RunFile;
  summary: RunSummary;
  items: readonly ItemRecord[];
}

/** The columns of the score table. One row each; LL only where candidates exist. */
const columns: { title: string; of(scores: Scores): Share | null; mark?(scores: Scores): string }[] = [
  { title: 'F in format', of: ({ F }) => F },
  { title: 'S score', of: ({ S }) => S },
  { title: 'K given format', of: ({ K }) => K, mark: ({ K }) => (K.value !== null && K.unreliable ? ' *' : '') },
  { title: 'L lenient', of: ({ L }) => L },
  { title: 'LL likelihood', of: ({ LL }) => LL },
];

/** A share of no items is no column; but where outputs are not scored yet, the columns stand. */
const isShown = (run: RunFile, share: Share | null): boolean =>
  share !== null && (share.n > 0 || !isLikelihoodsOnly(run));

const madeBy = ({ source, provider }: RunFile): string =>
  source ? importedWords(source) : `${providerTitle(provider.running)}, ${provider.threads} threads`;

const nameOf = ({ label, run }: Pick<ModeOutcome, 'label' | 'run'>): string => label ?? modeTitle(run);

/** A heading, then scores, metrics of the file and costs of each run. */
export function scoreLines(outcomes: readonly ModeOutcome[], heading: string): string[] {
  const shown = columns.filter(({ of }) => outcomes.some(({ run, summary }) => isShown(run, of(summary.scores))));
  const rows = outcomes.map((outcome) => [
    nameOf(outcome),
    ...shown.map(({ of, mark }, column) =>
      outcome.run.predictOnly
        ? (['not scored'][column] ?? '–')
        : formatShareAndInterval(of(outcome.summary.scores)) + (mark?.(outcome.summary.scores) ?? ''),
    ),
    timeWords(outcome.run, outcome.summary),
  ]);
  const unreliable = outcomes.some(({ summary: { scores } }) => scores.K.value !== null && scores.K.unreliable);
  return [
    heading,
    '',
    ...table([
      [outcomes.some(({ label }) => label) ? 'run' : 'mode', ...shown.map(({ title }) => title), 'time'],
      ...rows,
    ]),
    ...(outcomes.some(({ run }) => isLikelihoodsOnly(run)) ? [likelihoodsOnlyNote] : []),
    ...(unreliable ? ['* K is unreliable: its interval is wider than ±5 points.'] : []),
    '',
    ...measureLines(outcomes),
    ...costLines(outcomes),
  ];
}

/** Lines of the table of one benchmark × one model and what stands below it. */
export function resultLines(outcomes: readonly ModeOutcome[]): string[] {
  const first = outcomes[0];
  if (!first) return ['No results.'];
  const { run, summary } = first;
  return [
    ...scoreLines(
      outcomes,
      `${run.benchmark.task} · ${run.model.name} · ${run.predictOnly ? run.benchmark.items : summary.scores.n} items · ${madeBy(run)}`,
    ),
    ...placementLines(outcomes),
    ...constantLines(outcomes),
    // Runs of earlier versions have BIG-bench's scores only so.
    ...outcomes.flatMap(({ summary }) => (summary.measures ? [] : metricLine(summary))),
    ...outcomes.flatMap(({ summary: { mode, scores } }) =>
      scores.commonest
        ? [
            `Commonest answer, ${mode}: "${shorten(scores.commonest.answer)}" in ${formatShare(scores.commonest.share)} of the outputs.`,
          ]
        : [],
    ),
    ...outcomes.flatMap(({ summary }) => causeLine(summary)),
    ...outcomes.flatMap(({ run: { mode, learningRate } }) =>
      learningRate ? [`Learning rate, ${mode}: ${learningRateInWords(learningRate)}.`] : [],
    ),
    ...comparisonLines(outcomes),
  ];
}

/** How long it took; where that is not what the model takes, so it says. */
function timeWords(run: RunFile, summary: RunSummary): string {
  const { seconds, tuningSeconds } = summary;
  const mark = timeMark(run, summary);
  return [
    formatSeconds(seconds) + (tuningSeconds > 0 ? ` + ${formatSeconds(tuningSeconds)} tuning` : ''),
    mark && `(${mark})`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** What a constant answer would score: once where it is the same for all modes. */
function constantLines(outcomes: readonly ModeOutcome[]): string[] {
  const lines = outcomes.map(({ summary: { scores } }) => {
    const constant = scores.constant
      ? `Always answering "${shorten(scores.constant.answer)}" would score ${formatShareAndInterval(scores.constant.share)}.`
      : '';
    const chance = scores.chance === null ? '' : `Chance level: ${(scores.chance * 100).toFixed(1)} %.`;
    return [constant, chance].filter(Boolean).join(' ');
  });
  if (new Set(lines).size === 1) return lines.slice(0, 1).filter(Boolean);
  return lines.flatMap((line, i) => (line ? [`${outcomes[i]?.run.mode}: ${line}`] : []));
}

/** The metrics of the benchmark file by filter, with their standard errors, mode by mode. */
function measureLines(outcomes: readonly ModeOutcome[]): string[] {
  const rows = metricRows(outcomes.map(({ summary }) => summary));
  if (rows.length === 0) return [];
  const head = ['metric of the file', '', ...outcomes.map(nameOf)];
  const lines = rows.map(({ title, higherIsBetter, scores }) => [
    title,
    higherIsBetter ? '↑' : '↓',
    ...scores.map((score) => (score ? formatMetric(score) : '–')),
  ]);
  return [...table([head, ...lines]), ''];
}

/** Scores that the benchmark file names itself. */
function metricLine({ mode, metrics }: RunSummary): string[] {
  const entries = Object.entries(metrics ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${value.toFixed(4)}`],
  );
  return entries.length > 0 ? [`${mode}: ${entries.join(', ')}.`] : [];
}

function causeLine({ mode, scores: { causes } }: RunSummary): string[] {
  const entries = Object.entries(causes).sort(([, a], [, b]) => b - a);
  return entries.length
    ? [`Format failures, ${mode}: ${entries.map(([cause, count]) => `${cause} ${count}`).join(', ')}.`]
    : [];
}

/** What each mode cost. */
function costLines(outcomes: readonly ModeOutcome[]): string[] {
  const shown = knownCosts(outcomes);
  if (shown.length === 0) return [];
  const head = ['cost', ...shown.map(({ label }) => label.toLowerCase())];
  const rows = outcomes.map((outcome) => [nameOf(outcome), ...shown.map((cost) => costWords(cost, outcome))]);
  return [...table([head, ...rows]), ''];
}

/** The soft prompt (else the last mode) against each other mode: paired on the same items. */
function comparisonLines(outcomes: readonly ModeOutcome[]): string[] {
  const scored = outcomes.filter(({ run }) => !run.predictOnly);
  const subject = scored.find(({ run }) => run.mode === 'soft-prompt') ?? scored.at(-1);
  if (!subject || scored.length < 2) return [];
  // Where nothing was generated the right candidate's likelihood decides.
  const by = scored.some(({ run }) => isLikelihoodsOnly(run)) ? 'LL' : 'S';
  const mine = verdictCodes(subject.items);
  return together(
    scored
      .filter((other) => other !== subject)
      .map((other) => ({ other, comparison: compareRuns(verdictCodes(other.items), mine, by) })),
  ).flatMap(({ other, comparison, among }) => {
    if (!comparison) return [];
    const { paired, gain } = comparison;
    // Where one of the modes has nothing in the format, its K is unknown and there is nothing to split.
    const parts = gain?.knowledgeMeasured
      ? ` (format ${formatPoints(gain.format)}, knowledge ${formatPoints(gain.knowledge)})`
      : '';
    const p = (value: number): string => (value < 0.001 ? 'p < 0.001' : `p = ${value.toFixed(3)}`);
    const holm = among.comparisons > 1 ? `, ${p(among.corrected)} after Holm for ${among.comparisons} comparisons` : '';
    const [name, its] = [nameOf(subject), nameOf(other)];
    return [
      `${name} against ${its}: ${by} ${formatPoints(paired.difference)} points` +
        ` [${formatPoints(paired.low)}, ${formatPoints(paired.high)}]${parts}; only ${name} right on ${paired.onlyB} items,` +
        ` only ${its} on ${paired.onlyA} (exact McNemar ${p(paired.pValue)}${holm}).`,
    ];
  });
}

const shorten = (text: string): string => {
  const flat = text.replace(/\s+/g, ' ');
  return flat.length > 40 ? `${flat.slice(0, 39)}…` : flat;
};

/** A summary as the JSON of the command line has it. */
export function modeJson({ run, summary }: Pick<ModeOutcome, 'run' | 'summary'>): Record<string, unknown> {
  const { scores } = summary;
  return {
    mode: summary.mode,
    ...(run.predictOnly && { predictOnly: true }),
    ...(run.rescoredFrom && { rescoredFrom: run.rescoredFrom }),
    n: scores.n,
    F: scores.F,
    S: scores.S,
    K: scores.K,
    L: scores.L,
    LL: scores.LL,
    ...(summary.measures && { results: metricResults(summary) }),
    ...(summary.truncated && { truncated: summary.truncated }),
    ...(summary.metrics && { metrics: summary.metrics }),
    constant: scores.constant,
    commonest: scores.commonest,
    chance: scores.chance,
    causes: scores.causes,
    seconds: summary.seconds,
    // Where responses came from the cache, the seconds are not what the model takes.
    ...(summary.responses && { responses: summary.responses }),
    tuningSeconds: summary.tuningSeconds,
    bestStep: summary.bestStep,
    promptTokens: summary.promptTokens,
    outputTokens: summary.outputTokens,
    peakMemoryBytes: summary.peakMemoryBytes,
    run: run.id,
    provider: run.provider.running,
    ...(run.provider.nodes && { nodes: run.provider.nodes }),
    settings: run.settings,
    learningRate: run.learningRate ?? null,
    notes: run.notes,
  };
}

/** Nodes that a GPU's provider left to the CPU; the same for all modes, but for what only one of them ran. */
function placementLines(outcomes: readonly ModeOutcome[]): string[] {
  const words = outcomes.flatMap(({ run }) => (run.provider.nodes ?? []).map(placementWords));
  return [...new Set(words)].map((line) => `${line.charAt(0).toUpperCase()}${line.slice(1)}.`);
}
