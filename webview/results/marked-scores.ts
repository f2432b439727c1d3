/** The scores of every column with all items, and without those that people have marked, beside each other. */
import {
  type Both,
  compareWithout,
  pairedInWords,
  type RunComparison,
  scoresWithout,
  together,
  type VerdictCodes,
  verdictCodes,
} from '../../src/metrics/index.ts';
import { isLikelihoodsOnly } from '../../src/shared/likelihood-words.ts';
import { type MarkKind, markKinds } from '../../src/shared/marks.ts';
import type { ResultsView } from '../../src/shared/protocol.ts';
import type { Scores, Share } from '../../src/shared/results.ts';
import { type Child, h, render } from '../dom.ts';
import { bounds, count, percent, shareInWords } from '../format.ts';
import { type MetricName, metricNames, metrics, shareOf } from '../terms.ts';
import { visible } from '../text.ts';
import { button } from '../ui.ts';
import { columnName, columnsOf, isByMode, type MarkedColumn } from './columns.ts';
import { changeWords, type ItemMarks } from './item-marks.ts';
import { markGlyph } from './mark-glyph.ts';
import type { RowTable } from './rows.ts';

interface Counted {
  column: MarkedColumn;
  scores: Both<Scores>;
  codes: VerdictCodes;
}

export class MarkedScoresSection {
  readonly element: HTMLElement;
  readonly #content = h('div', {});
  readonly #problems = h('div', {});
  /** Kinds of marks whose items are left out. */
  readonly #kinds = new Set<MarkKind>(markKinds.map(({ kind }) => kind));
  #view: ResultsView | null = null;

  constructor(
    private readonly table: RowTable,
    private readonly marks: ItemMarks,
    private readonly on: { live: boolean; show(filter: string): void; undo(): void },
  ) {
    this.element = h(
      'section',
      { class: 'marked-scores', 'aria-labelledby': 'marked-heading', hidden: true },
      h('h2', { id: 'marked-heading' }, 'With and without marked items'),
      this.#problems,
      this.#content,
    );
  }

  update(view: ResultsView): void {
    this.#view = view;
    const { all } = this.marks;
    const problems = view.markProblems ?? [];
    this.element.hidden = all.length === 0 && problems.length === 0;
    if (this.element.hidden) return;
    render(this.#problems, problems, () =>
      problems.map((problem) => h('p', { class: 'banner error' }, visible(problem))),
    );
    const columns = columnsOf(view).filter(({ run }) => !run.predictOnly);
    const signature = [columns.map(({ mark }) => mark), this.table.length, all, [...this.#kinds], this.marks.last];
    render(this.#content, signature, () => (all.length > 0 ? this.#draw(columns) : []));
  }

  #draw(columns: readonly MarkedColumn[]): Child[] {
    const left = new Set(this.marks.all.filter(({ kind }) => this.#kinds.has(kind)).map(({ index }) => index));
    const counted = columns.flatMap((column): Counted[] => {
      const own = this.table.recordsOf(column.mark.run);
      if (own.length === 0) return [];
      return [{ column, scores: scoresWithout(own, left), codes: verdictCodes(own) }];
    });
    const generates = counted.some(({ column }) => !isLikelihoodsOnly(column.run));
    const shown = metricNames.filter((metric) =>
      metric === 'LL' ? counted.some(({ scores }) => scores.all.LL !== null) : generates,
    );
    const { last } = this.marks;
    return [
      h('div', { class: 'marked-tools' }, ...this.#choices(), this.#links(last)),
      counted.length > 0 &&
        h(
          'div',
          {
            class: 'scroll-x',
            tabindex: 0,
            role: 'region',
            'aria-label': 'Scores with and without marked items, table',
          },
          scoreTable(counted, shown),
        ),
      ...this.#pairs(counted, left),
    ];
  }

  /** Which kinds of marks leave an item out. */
  #choices(): Child[] {
    const { all } = this.marks;
    return markKinds.flatMap(({ kind, sentence }) => {
      const marked = all.filter((mark) => mark.kind === kind).length;
      if (marked === 0) return [];
      const box = h('input', { type: 'checkbox', 'data-key': `leave-out-${kind}` });
      box.checked = this.#kinds.has(kind);
      box.addEventListener('change', () => {
        if (box.checked) this.#kinds.add(kind);
        else this.#kinds.delete(kind);
        if (this.#view) this.update(this.#view);
      });
      return [
        h(
          'label',
          { class: 'control', title: sentence },
          box,
          h('span', { class: 'mark-glyph', 'aria-hidden': 'true' }, markGlyph(kind)),
          `${kind} (${count(marked)})`,
        ),
      ];
    });
  }

  #links(last: ItemMarks['last']): Child {
    return h(
      'span',
      { class: 'control' },
      button({ label: 'Show marked items', key: 'show-marked', onClick: () => this.on.show('mark:any') }),
      last && this.on.live && h('span', { class: 'muted small' }, changeWords(last)),
      last && this.on.live && button({ label: 'Undo', key: 'undo-mark', onClick: () => this.on.undo() }),
    );
  }

  /** The paired tests of the columns against the first, both ways. */
  #pairs(counted: readonly Counted[], left: ReadonlySet<number>): Child[] {
    const [base, ...others] = counted;
    if (!base || others.length === 0) return [];
    const by = counted.some(({ column }) => isLikelihoodsOnly(column.run)) ? 'LL' : 'S';
    const both = others.map(({ column, codes }) => ({ column, ...compareWithout(base.codes, codes, left, by) }));
    const words = (of: keyof Both<RunComparison>): string[] =>
      together(both.map((each) => ({ column: each.column, comparison: each[of] }))).map(
        ({ column, comparison, among }) =>
          comparison
            ? pairedInWords(base.column.mark.label, column.mark.label, comparison.paired, among)
            : 'no item in common that is judged in both.',
      );
    const [all, without] = [words('all'), words('without')];
    return [
      h(
        'details',
        { 'data-key': 'marked-pairs' },
        h('summary', {}, `Paired tests against ${base.column.mark.label}, with and without marked items`),
        h(
          'ul',
          { class: 'sentences' },
          ...both.map(({ column }, at) =>
            h(
              'li',
              {},
              columnName(column.mark),
              h('span', { class: 'sub' }, `All items: ${all[at]}`),
              h('span', { class: 'sub' }, `Without marked: ${without[at]}`),
            ),
          ),
        ),
      ),
    ];
  }
}

function scoreTable(counted: readonly Counted[], shown: readonly MetricName[]): HTMLElement {
  const heading = isByMode(counted.map(({ column }) => column.mark)) ? 'Mode' : 'Run';
  return h(
    'table',
    { class: 'scores' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, heading),
        h('th', { scope: 'col' }, 'Items'),
        h('th', { scope: 'col', class: 'number' }, 'n'),
        ...shown.map((metric) =>
          h(
            'th',
            { scope: 'col', class: 'number', title: `${metrics[metric].name}: ${metrics[metric].definition}` },
            metric,
          ),
        ),
      ),
    ),
    h(
      'tbody',
      {},
      ...counted.flatMap(({ column, scores: { all, without } }) => [
        h(
          'tr',
          {},
          h('th', { scope: 'rowgroup', rowspan: 2 }, columnName(column.mark)),
          h('td', {}, 'all'),
          h('td', { class: 'number' }, count(all.n)),
          ...shown.map((metric) => cell(shareOf(all, metric))),
        ),
        h(
          'tr',
          { class: 'without' },
          h('td', {}, 'without marked'),
          h('td', { class: 'number' }, count(without.n)),
          ...shown.map((metric) => cell(shareOf(without, metric))),
        ),
      ]),
    ),
  );
}

const cell = (share: Share | null): HTMLElement =>
  share
    ? h(
        'td',
        { class: 'number', title: shareInWords(share) },
        h('span', { class: 'value' }, percent(share)),
        h('span', { class: 'sub' }, bounds(share) || ' '),
      )
    : h('td', { class: 'number muted' }, '–');
