/** The split of a score gain between two runs into format and knowledge, and what the format still takes away. */

import {
  comparePaired,
  formatPoints,
  holm,
  likelihoodVerdict,
  type PairedComparison,
  splitGain,
} from '../../src/metrics/index.ts';
import { isLikelihoodsOnly, likelihoodsOnlyNote } from '../../src/shared/likelihood-words.ts';
import type { ItemRow, ResultsView } from '../../src/shared/protocol.ts';
import type { Scores } from '../../src/shared/results.ts';
import { type Child, h, render } from '../dom.ts';
import { dropdown } from '../ui.ts';
import { columnName, columnsOf, isByMode, type MarkedColumn } from './columns.ts';
import { gainInWords, pairedInWords } from './gains-words.ts';
import type { RowTable } from './rows.ts';

/** Pairs the verdicts of two runs over the items that both have finished. */
function pair(
  table: RowTable,
  base: string,
  other: string,
  verdict: (record: ItemRow) => boolean | null = ({ right }) => right,
): PairedComparison | null {
  const a: boolean[] = [];
  const b: boolean[] = [];
  for (const rows of table.byItem.values()) {
    const first = rows.find(({ run }) => run === base);
    const second = rows.find(({ run }) => run === other);
    const [mine, theirs] = [first && verdict(first.record), second && verdict(second.record)];
    if (mine === undefined || mine === null || theirs === undefined || theirs === null) continue;
    a.push(mine);
    b.push(theirs);
  }
  return a.length > 0 ? comparePaired(a, b) : null;
}

/** The comparisons that stand side by side, each with what its p-value is worth among them. */
function together<T extends { paired: PairedComparison | null }>(
  entries: readonly T[],
): (T & { among: { comparisons: number; corrected: number } })[] {
  const compared = entries.filter(({ paired }) => paired !== null);
  const corrected = holm(compared.map(({ paired }) => paired?.pValue ?? 1));
  return entries.map((entry) => ({
    ...entry,
    among: { comparisons: compared.length, corrected: corrected[compared.indexOf(entry)] ?? 1 },
  }));
}

export class GainsSection {
  readonly element: HTMLElement;
  readonly #table = h('div', {
    class: 'scroll-x',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Where the gain comes from, table',
  });
  readonly #choice = dropdown<string>('Run to compare with', (label) => {
    this.#chosen = label;
    this.#refresh();
  });
  #columns: MarkedColumn[] = [];
  /** Label of the column to compare with: it stays the same where a run is made again. */
  #chosen: string | null = null;

  constructor(private readonly table: RowTable) {
    this.element = h(
      'section',
      { 'aria-labelledby': 'gains-heading' },
      h(
        'div',
        { class: 'heading-row' },
        h('h2', { id: 'gains-heading' }, 'Where the gain comes from'),
        h(
          'span',
          { class: 'control' },
          h('span', { class: 'muted', 'aria-hidden': 'true' }, 'compared with'),
          this.#choice.element,
        ),
      ),
      this.#table,
    );
  }

  update(view: ResultsView): void {
    this.#columns = columnsOf(view).filter(({ run, summary }) => summary !== null && !run.predictOnly);
    // Whole texts have no right and wrong: their metrics stand above.
    const comparable = this.#columns.filter(({ summary }) => summary?.scores.F.n || summary?.scores.LL);
    this.element.hidden = comparable.length < 2;
    if (!this.#columns.some(({ mark }) => mark.label === this.#chosen)) this.#chosen = null;
    this.#refresh();
  }

  #refresh(): void {
    const columns = this.#columns;
    const base = columns.find(({ mark }) => mark.label === this.#chosen) ?? columns[0];
    if (!base) return;
    this.#choice.set(
      columns.map(({ mark: { label } }) => ({ value: label, label })),
      base.mark.label,
    );
    render(
      this.#table,
      [base.mark, this.table.rows.length, columns.map(({ mark, summary }) => [mark, summary?.scores])],
      () => this.#content(columns, base),
    );
  }

  /** Where nothing was generated there is no format to split off: the likelihoods of the right answers are compared. */
  #byLikelihood(columns: MarkedColumn[], base: MarkedColumn): Child[] {
    return [
      h(
        'ul',
        { class: 'sentences' },
        ...together(
          columns.flatMap(({ run, mark }) => {
            const paired = run.id === base.run.id ? null : pair(this.table, base.run.id, run.id, likelihoodVerdict);
            return paired ? [{ label: mark.label, paired }] : [];
          }),
        ).map(({ label, paired, among }) =>
          h('li', {}, h('span', {}, `LL. ${pairedInWords(base.mark.label, label, paired, among)}`)),
        ),
      ),
      h('p', { class: 'note' }, likelihoodsOnlyNote),
    ];
  }

  #content(columns: MarkedColumn[], base: MarkedColumn): Child[] {
    const baseScores = base.summary?.scores;
    if (!baseScores) return [];
    if (columns.some(({ run }) => isLikelihoodsOnly(run))) return this.#byLikelihood(columns, base);
    const gains = together(
      columns.flatMap(({ run, summary, mark }) => {
        const gain = summary && run.id !== base.run.id ? splitGain(baseScores, summary.scores) : null;
        return gain ? [{ id: run.id, label: mark.label, gain, paired: pair(this.table, base.run.id, run.id) }] : [];
      }),
    );
    const largest = Math.max(0.01, ...gains.flatMap(({ gain }) => [gain.format, gain.knowledge].map(Math.abs)));
    const lost = (scores: Scores | undefined): string =>
      scores && scores.L.value !== null && scores.S.value !== null
        ? formatPoints(scores.L.value - scores.S.value)
        : '–';
    return [
      h(
        'ul',
        { class: 'sentences' },
        ...gains.map(({ label, gain, paired, among }) =>
          h(
            'li',
            {},
            h('span', {}, gainInWords(base.mark.label, label, gain)),
            paired && h('span', { class: 'sub' }, pairedInWords(base.mark.label, label, paired, among)),
          ),
        ),
      ),
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, isByMode(columns.map(({ mark }) => mark)) ? 'Mode' : 'Run'),
            h('th', { scope: 'col', class: 'number', title: 'Difference of S in points' }, 'ΔS'),
            h('th', { scope: 'col', title: 'K̄ · ΔF, with K̄ the mean knowledge of the two runs' }, 'from format'),
            h(
              'th',
              { scope: 'col', title: 'F̄ · ΔK, with F̄ the mean format-following of the two runs' },
              'from knowledge',
            ),
            h(
              'th',
              { scope: 'col', class: 'number', title: 'L − S: right by the lenient reading, but lost to the format' },
              'L − S',
            ),
          ),
        ),
        h(
          'tbody',
          {},
          ...columns.map(({ run, summary, mark }) => {
            const gain = gains.find(({ id }) => id === run.id)?.gain;
            return h(
              'tr',
              {},
              h('th', { scope: 'row' }, columnName(mark)),
              h('td', { class: 'number' }, gain ? formatPoints(gain.total) : '–'),
              h('td', {}, gain ? part(gain.format, largest, 'format') : h('span', { class: 'muted' }, 'base')),
              h('td', {}, gain && (gain.knowledgeMeasured ? part(gain.knowledge, largest, 'knowledge') : 'unknown')),
              h('td', { class: 'number' }, lost(summary?.scores)),
            );
          }),
        ),
      ),
      h(
        'p',
        { class: 'note' },
        'Points of S. The split is exact: ΔS = K̄·ΔF + F̄·ΔK. L − S is what the format still takes from answers that are right.',
      ),
    ];
  }
}

/** A signed bar from the middle, with its figure. */
function part(value: number, largest: number, kind: 'format' | 'knowledge'): HTMLElement {
  const bar = h('span', { class: `signed-bar ${kind} ${value < 0 ? 'negative' : 'positive'}` });
  bar.style.setProperty('--size', `${(50 * Math.abs(value)) / largest}%`);
  return h(
    'span',
    { class: 'signed' },
    h('span', { class: 'signed-track', 'aria-hidden': 'true' }, bar),
    h('span', { class: 'signed-value' }, formatPoints(value)),
  );
}
