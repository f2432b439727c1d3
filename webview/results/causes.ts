/** How the outputs split by verdict, and why the strict reading rejected them; a click filters the item table. */
import { share } from '../../src/metrics/index.ts';
import { causeSentences, type FailureCause, failureCauses } from '../../src/shared/failure-causes.ts';
import { likelihoodsOnlyNote } from '../../src/shared/likelihood-words.ts';
import type { ResultsView } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { count, percent } from '../format.ts';
import { verdictIcon } from '../icons.ts';
import { shownVerdicts, type Verdict, verdictNames, verdicts } from '../terms.ts';
import { type ColumnMark, columnName, columnsOf } from './columns.ts';
import type { RowTable } from './rows.ts';

export interface CauseFilter {
  mark: ColumnMark;
  verdict?: Verdict;
  cause?: FailureCause;
}

/** For screen readers: what the place in the table or the bar says to the eye. */
const unseen = (text: string): HTMLElement => h('span', { class: 'visually-hidden' }, text);

/** Fills that figures.css has for causes; the letter tells more of them apart, and those that no colour reaches. */
const patterns = 8;
const letterOf = (at: number): string => String.fromCharCode(65 + at);

/** The sign of a cause in the legend and in front of its row: its fill and its letter, as in the bars. */
const causeMark = (at: number): HTMLElement =>
  h('span', { class: `cause-mark cause-${at % patterns}`, 'aria-hidden': 'true' }, letterOf(at));

interface Tally {
  id: string;
  mark: ColumnMark;
  n: number;
  verdicts: Record<Verdict, number>;
  causes: Partial<Record<FailureCause, number>>;
}

const occurring = (tallies: readonly Tally[]): Set<Verdict> =>
  new Set(verdictNames.filter((name) => tallies.some(({ verdicts: counts }) => counts[name] > 0)));

export class CausesSection {
  readonly element: HTMLElement;
  readonly #body = h('div', {});

  constructor(private readonly onFilter: (filter: CauseFilter) => void) {
    this.element = h(
      'section',
      { 'aria-labelledby': 'causes-heading' },
      h('h2', { id: 'causes-heading' }, 'What became of the outputs'),
      this.#body,
    );
  }

  update(view: ResultsView, table: RowTable): void {
    const tallies = columnsOf(view).map(
      ({ run, mark }): Tally => ({
        id: run.id,
        mark,
        n: 0,
        verdicts: { right: 0, unformatted: 0, wrong: 0, neither: 0, likely: 0, unlikely: 0, measured: 0, unscored: 0 },
        causes: {},
      }),
    );
    const byOrder = table.marks.map((mark) => tallies.find(({ id }) => id === mark?.run));
    for (let row = 0; row < table.length; row++) {
      const tally = byOrder[table.orders[row] ?? 0];
      if (!tally) continue;
      tally.n++;
      tally.verdicts[table.verdictOf(row)]++;
      const cause = failureCauses[(table.causeNumbers[row] ?? 0) - 1];
      if (cause) tally.causes[cause] = (tally.causes[cause] ?? 0) + 1;
    }
    const shown = tallies.filter(({ n }) => n > 0);
    this.element.hidden = shown.length === 0;
    render(this.#body, shown, () => [...this.#verdictBars(shown), ...this.#causeTable(shown)]);
  }

  #verdictBars(tallies: Tally[]): Child[] {
    return [
      h(
        'ul',
        { class: 'legend' },
        ...shownVerdicts(occurring(tallies)).map((name) =>
          h(
            'li',
            { title: verdicts[name].sentence },
            h('span', { class: 'mode-name' }, verdictIcon(name), verdicts[name].label),
          ),
        ),
      ),
      h(
        'div',
        { class: 'stacks' },
        ...tallies.flatMap((tally) => [
          columnName(tally.mark),
          h(
            'div',
            { class: 'stack' },
            ...verdictNames
              .filter((name) => tally.verdicts[name] > 0)
              .map((name) => {
                const n = tally.verdicts[name];
                const said = `${tally.mark.label}, ${verdicts[name].label}: ${n} of ${tally.n} items, ${percent(share(n, tally.n))}`;
                const segment = h(
                  'button',
                  {
                    type: 'button',
                    class: `segment verdict-${name}`,
                    title: `${said}. Click to show them.`,
                    'data-key': `${tally.id} ${name}`,
                    onclick: () => this.onFilter({ mark: tally.mark, verdict: name }),
                  },
                  unseen(`${tally.mark.label}, ${verdicts[name].label}: `),
                  verdictIcon(name),
                  h('span', { class: 'segment-count' }, count(n)),
                  unseen(` of ${tally.n} items`),
                );
                segment.style.flexGrow = String(n);
                return segment;
              }),
          ),
        ]),
      ),
    ];
  }

  #causeTable(tallies: Tally[]): Child[] {
    const total = (cause: FailureCause): number => tallies.reduce((sum, { causes }) => sum + (causes[cause] ?? 0), 0);
    const causes = failureCauses.filter((cause) => total(cause) > 0).sort((a, b) => total(b) - total(a));
    if (causes.length === 0) {
      const generated = shownVerdicts(occurring(tallies)).includes('right');
      return [h('p', { class: 'words' }, generated ? 'Every output is in the required format.' : likelihoodsOnlyNote)];
    }
    const largest = Math.max(
      ...tallies.flatMap(({ causes: each, n }) => causes.map((cause) => (each[cause] ?? 0) / n)),
    );
    return [
      h('h3', {}, 'Causes of format failures'),
      ...this.#causeBars(tallies, causes),
      h(
        'div',
        { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Causes of format failures, table' },
        h(
          'table',
          { class: 'causes' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              h('th', { scope: 'col' }, 'Cause'),
              ...tallies.map(({ mark }) => h('th', { scope: 'col' }, mark.label)),
            ),
          ),
          h(
            'tbody',
            {},
            ...causes.map((cause) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row', title: causeSentences[cause] }, causeMark(causes.indexOf(cause)), cause),
                ...tallies.map((tally) => h('td', {}, this.#causeCell(tally, cause, largest))),
              ),
            ),
          ),
        ),
      ),
    ];
  }

  /** A bar a run as long as its outputs, of which each cause takes its share; what is in the format stays blank. */
  #causeBars(tallies: readonly Tally[], causes: readonly FailureCause[]): Child[] {
    return [
      h(
        'ul',
        { class: 'legend' },
        ...causes.map((cause, at) =>
          h('li', { title: causeSentences[cause] }, h('span', { class: 'mode-name' }, causeMark(at), cause)),
        ),
      ),
      h(
        'div',
        { class: 'stacks cause-stacks' },
        ...tallies.flatMap((tally) => {
          const without = tally.n - causes.reduce((sum, cause) => sum + (tally.causes[cause] ?? 0), 0);
          const rest = h('span', { class: 'segment-rest' });
          rest.style.flexGrow = String(without);
          return [
            columnName(tally.mark),
            h(
              'div',
              { class: 'stack' },
              ...causes.flatMap((cause, at) => this.#causeSegment(tally, cause, at)),
              without > 0 && rest,
            ),
          ];
        }),
      ),
    ];
  }

  #causeSegment(tally: Tally, cause: FailureCause, at: number): HTMLElement[] {
    const n = tally.causes[cause] ?? 0;
    if (n === 0) return [];
    const said = `${tally.mark.label}, ${cause}: ${n} of ${tally.n} items, ${percent(share(n, tally.n))}`;
    const segment = h(
      'button',
      {
        type: 'button',
        class: `segment cause-segment cause-${at % patterns}`,
        title: `${said}. ${causeSentences[cause]} Click to show them.`,
        'data-key': `${tally.id} ${cause} bar`,
        onclick: () => this.onFilter({ mark: tally.mark, cause }),
      },
      unseen(`${said}, `),
      h('span', { class: 'cause-letter', 'aria-hidden': 'true' }, letterOf(at)),
    );
    segment.style.flexGrow = String(n);
    return [segment];
  }

  #causeCell(tally: Tally, cause: FailureCause, largest: number): Child {
    const n = tally.causes[cause] ?? 0;
    if (n === 0) return h('span', { class: 'muted none' }, '0');
    const bar = h('span', { class: 'cell-bar' });
    bar.style.inlineSize = `${(100 * n) / tally.n / largest}%`;
    return h(
      'button',
      {
        type: 'button',
        class: 'cell-button',
        title: `${causeSentences[cause]} ${n} of ${tally.n} items; click to show them.`,
        'data-key': `${tally.id} ${cause}`,
        onclick: () => this.onFilter({ mark: tally.mark, cause }),
      },
      unseen(`${tally.mark.label}, ${cause}: `),
      h('span', { class: 'cell-figure' }, count(n), h('span', { class: 'muted' }, ` ${percent(share(n, tally.n))}`)),
      h('span', { class: 'cell-track', 'aria-hidden': 'true' }, bar),
    );
  }
}
