/** What an item adds to the metrics of the benchmark file, its likelihoods and its further outputs, in the detail pane. */
import { formatFigure, metricTitle } from '../../src/metrics/index.ts';
import type { ItemRow } from '../../src/shared/protocol.ts';
import type { ItemRecord, MetricValue } from '../../src/shared/results.ts';
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { oneLine } from '../text.ts';
import { stopMark } from './detail-output.ts';
import { fillText } from './long-text.ts';
import { rightCandidates } from './margins.ts';
import { stopSentence } from './stop-words.ts';

/** A metric's value of one item: a number as such; what an aggregation takes is told by its parts. */
function valueText(value: MetricValue | undefined): string {
  if (value === undefined || value === null) return '–';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : formatFigure(value);
  if (Array.isArray(value)) return value.map((part) => valueText(part as MetricValue)).join(' · ');
  return oneLine(String(value), 60);
}

export function itemMeasures({ metrics = [] }: Pick<ItemRecord, 'metrics'>): Child[] {
  const rows = metrics.flatMap(({ filter, answer, values }) =>
    Object.entries(values).map(([metric, value], at) => ({ filter, metric, value, answer: at === 0 ? answer : null })),
  );
  if (rows.length === 0) return [];
  return [
    h('h4', {}, 'Metrics of the benchmark file'),
    h(
      'table',
      { class: 'readings' },
      h(
        'tbody',
        {},
        ...rows.map(({ filter, metric, value, answer }) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, metricTitle({ metric, filter })),
            h('td', { class: 'number' }, valueText(value)),
            h('td', { class: 'mono' }, answer === null || answer === undefined ? '' : h('bdi', {}, valueText(answer))),
          ),
        ),
      ),
    ),
  ];
}

/** Likelihoods without candidates: of a target behind its prompt, or of a whole text. */
export function itemLikelihoods({ choices, likelihoods = [], generated }: ItemRow): Child[] {
  if (choices || generated !== false || likelihoods.length === 0) return [];
  return [
    h('h4', {}, 'Log-likelihood'),
    ...likelihoods.map(({ sum, tokens, greedy }) =>
      h(
        'p',
        {},
        `${sum?.toFixed(4) ?? '−∞'} over ${count(tokens)} tokens`,
        greedy === undefined
          ? ''
          : greedy
            ? '; each token is the likeliest: the model would write this itself'
            : '; the model would write something else',
      ),
    ),
  ];
}

/** Outputs behind the first, where the benchmark asks for several; each unfolds to its whole text. */
export function furtherOutputs({ repeats = [] }: Pick<ItemRecord, 'repeats'>): Child[] {
  if (repeats.length === 0) return [];
  return [
    h('h5', {}, `Further outputs (${repeats.length})`),
    h(
      'ol',
      { class: 'repeats', start: 2 },
      ...repeats.map((repeat, number) => h('li', {}, furtherOutput(repeat, number))),
    ),
  ];
}

function furtherOutput(repeat: NonNullable<ItemRecord['repeats']>[number], number: number): HTMLElement {
  const { output, outputTokens } = repeat;
  const details = h(
    'details',
    { 'data-key': `repeat-${number}` },
    h('summary', {}, h('bdi', { class: 'mono', dir: 'auto' }, output === '' ? '(empty)' : oneLine(output, 120))),
  );
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    const text = h('pre', { class: 'text excerpt', dir: 'auto' });
    fillText(text, output, undefined, stopMark(repeat));
    details.append(text, h('p', { class: 'muted small' }, `${count(outputTokens)} tokens, ${stopSentence(repeat)}`));
  });
  return details;
}

/** The candidates with their likelihoods: which is the likeliest, which are right. */
export function candidates({ texts, logLikelihoods, gold, scores }: NonNullable<ItemRecord['choices']>): HTMLElement {
  const best = logLikelihoods.indexOf(Math.max(...logLikelihoods));
  const isRight = rightCandidates({ gold, scores });
  return h(
    'div',
    {},
    h('h4', {}, 'Candidates by log-likelihood'),
    h(
      'table',
      { class: 'choices' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Candidate'),
          h('th', { scope: 'col', class: 'number' }, 'log p'),
          h('th', { scope: 'col' }, 'Verdict'),
        ),
      ),
      h(
        'tbody',
        {},
        ...texts.map((text, position) =>
          h(
            'tr',
            {},
            h('td', {}, h('bdi', { class: 'mono' }, oneLine(text, 200))),
            h('td', { class: 'number' }, logLikelihoods[position]?.toFixed(2) ?? '–'),
            h('td', {}, [position === best && 'most likely', isRight(position) && 'gold'].filter(Boolean).join(', ')),
          ),
        ),
      ),
    ),
  );
}
