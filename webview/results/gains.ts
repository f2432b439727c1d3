/** The split of a score gain between two runs into format and knowledge, the paired tests, and what the format still takes. */

import {
  type Among,
  compareRuns,
  comparisonFigures,
  formatPoints,
  type GainSplit,
  gainInWords,
  lostToFormat,
  pairedInWords,
  type RunComparison,
  splitGain,
  together,
  verdictCodes,
} from '../../src/metrics/index.ts';
import { isLikelihoodsOnly, likelihoodsOnlyNote } from '../../src/shared/likelihood-words.ts';
import type { ResultsView } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { dropdown } from '../ui.ts';
import { columnName, columnsOf, isByMode, type MarkedColumn } from './columns.ts';
import type { RowTable } from './rows.ts';

/** A column beside the base. */
interface Compared {
  column: MarkedColumn;
  /** Null where no item is in both. */
  comparison: RunComparison | null;
  gain: GainSplit | null;
  among: Among;
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
    this.stateChanged();
  });
  #columns: MarkedColumn[] = [];
  /** Label of the column to compare with: it stays the same where a run is made again. */
  #chosen: string | null = null;

  constructor(
    private readonly table: RowTable,
    private readonly stateChanged: () => void = () => {},
  ) {
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

  /** Label of the column that the others are compared with, where one was chosen; null: the first. */
  get base(): string | null {
    return this.#chosen;
  }
  set base(label: string | null) {
    this.#chosen = label;
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
      [base.mark, this.table.length, columns.map(({ mark, summary }) => [mark, summary?.scores])],
      () => this.#content(columns, base),
    );
  }

  #content(columns: readonly MarkedColumn[], base: MarkedColumn): Child[] {
    // Where nothing was generated there is no format to split off: the likelihoods of the right answers are compared.
    const by = columns.some(({ run }) => isLikelihoodsOnly(run)) ? 'LL' : 'S';
    const codes = new Map(columns.map(({ mark: { run } }) => [run, verdictCodes(this.table.judgedOf(run))]));
    const compare = ({ mark }: MarkedColumn): RunComparison | null => {
      const [mine, theirs] = [codes.get(base.mark.run), codes.get(mark.run)];
      return mine && theirs ? compareRuns(mine, theirs, by) : null;
    };
    const compared: Compared[] = together(
      columns
        .filter((column) => column !== base)
        .map((column) => {
          const comparison = compare(column);
          return { column, comparison, gain: comparison ? comparison.gain : gainOfSummaries(base, column, by) };
        }),
    );
    return [
      h('ul', { class: 'sentences' }, ...compared.map((each) => sentences(base.mark.label, by, each))),
      ...(by === 'LL' ? [] : [gainTable(columns, base, compared)]),
      figuresTable(base, compared),
      h(
        'p',
        { class: 'note' },
        by === 'LL'
          ? likelihoodsOnlyNote
          : 'Points of S, over the items that both runs have. The split is exact: ΔS = K̄·ΔF + F̄·ΔK. L − S is what the format still takes from answers that are right.',
      ),
    ];
  }
}

/** Where runs have no items here (means that were imported), their summaries are all there is. */
function gainOfSummaries(base: MarkedColumn, other: MarkedColumn, by: 'S' | 'LL'): GainSplit | null {
  const hasItems = base.done > 0 && other.done > 0;
  return by === 'S' && !hasItems && base.summary && other.summary
    ? splitGain(base.summary.scores, other.summary.scores)
    : null;
}

function sentences(base: string, by: 'S' | 'LL', { column, comparison, gain, among }: Compared): HTMLElement {
  const { label } = column.mark;
  const paired = comparison && pairedInWords(base, label, comparison.paired, among);
  if (gain)
    return h('li', {}, h('span', {}, gainInWords(base, label, gain)), paired && h('span', { class: 'sub' }, paired));
  return h(
    'li',
    {},
    paired
      ? `${by}. ${paired}`
      : `${label} and ${base} have no item in common that is judged in both: nothing can be paired.`,
  );
}

function gainTable(columns: readonly MarkedColumn[], base: MarkedColumn, compared: readonly Compared[]): HTMLElement {
  const gains = compared.flatMap(({ gain }) => gain ?? []);
  const largest = Math.max(0.01, ...gains.flatMap(({ format, knowledge }) => [format, knowledge].map(Math.abs)));
  return h(
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
        h('th', { scope: 'col', title: 'F̄ · ΔK, with F̄ the mean format-following of the two runs' }, 'from knowledge'),
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
      ...columns.map((column) => {
        const gain = compared.find((each) => each.column === column)?.gain ?? null;
        const lost = column.summary && lostToFormat(column.summary.scores);
        return h(
          'tr',
          {},
          h('th', { scope: 'row' }, columnName(column.mark)),
          h('td', { class: 'number' }, gain ? formatPoints(gain.total) : '–'),
          h(
            'td',
            {},
            gain ? part(gain.format, largest, 'format') : column === base && h('span', { class: 'muted' }, 'base'),
          ),
          h('td', {}, gain && (gain.knowledgeMeasured ? part(gain.knowledge, largest, 'knowledge') : 'unknown')),
          h('td', { class: 'number' }, lost === null ? '–' : formatPoints(lost)),
        );
      }),
    ),
  );
}

/** The paired comparisons as figures, for those who want to check the sentences. */
function figuresTable(base: MarkedColumn, compared: readonly Compared[]): HTMLElement | null {
  const rows = compared.flatMap(({ column, comparison, among }) => (comparison ? [{ column, comparison, among }] : []));
  if (rows.length === 0) return null;
  return h(
    'details',
    { 'data-key': 'comparison-figures' },
    h('summary', {}, 'Figures of the paired comparison'),
    h(
      'div',
      { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Figures of the paired comparison, table' },
      h(
        'table',
        { class: 'comparison' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, `against ${base.mark.label}`),
            ...rows.map(({ column }) => h('th', { scope: 'col', class: 'number' }, columnName(column.mark))),
          ),
        ),
        h(
          'tbody',
          {},
          ...comparisonFigures.map(({ label, title, of }) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, label, h('span', { class: 'sub comparison-figure' }, title)),
              ...rows.map((each) => h('td', { class: 'number' }, of(each))),
            ),
          ),
        ),
      ),
    ),
  );
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
