/** Tasks and families whose scores are predicted worst. */
import type { FitQuality, GroupError, PredictorView, SplitFit } from '../../src/shared/predictions.ts';
import { type Child, h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { button, dropdown } from '../ui.ts';
import { shownSplit } from './split-choice.ts';
import { barCell, table } from './table.ts';
import { counted, pointsText, scoreText, signedPoints } from './words.ts';

export interface HardestState {
  split: string;
  by: 'tasks' | 'families';
}

const rowsShown = 12;

export class HardestSection {
  readonly element: HTMLElement;
  readonly #split = dropdown<string>('Split of the hardest', (split) => this.#choose({ split }));
  readonly #by = dropdown<HardestState['by']>('Grouped by', (by) => this.#choose({ by }));
  readonly #table = h('div', {});
  readonly #changed: () => void;
  #state: HardestState = { split: '', by: 'tasks' };
  #all = false;
  #fit: FitQuality | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.element = h(
      'section',
      { id: 'hardest', 'aria-labelledby': 'hardest-heading' },
      h(
        'div',
        { class: 'heading-row' },
        h('h2', { id: 'hardest-heading' }, 'Hardest to predict'),
        this.#by.element,
        this.#split.element,
      ),
      this.#table,
    );
  }

  get state(): HardestState {
    return this.#state;
  }

  restore(saved: Partial<HardestState>): void {
    if (typeof saved.split === 'string') this.#state.split = saved.split;
    if (saved.by === 'tasks' || saved.by === 'families') this.#state.by = saved.by;
  }

  update({ fit }: PredictorView): void {
    this.#fit = fit;
    this.#refresh();
  }

  #choose(change: Partial<HardestState>): void {
    this.#state = { ...this.#state, ...change };
    this.#changed();
    this.#refresh();
  }

  #refresh(): void {
    const splits = this.#fit?.splits.filter(({ tasks }) => tasks.length > 0) ?? [];
    const shown = shownSplit(this.#split, splits, this.#state.split);
    this.element.hidden = !shown;
    if (!shown) return;
    this.#by.set(
      [
        { value: 'tasks', label: 'Tasks' },
        { value: 'families', label: 'Families' },
      ],
      this.#state.by,
    );
    const groups = shown[this.#state.by];
    render(this.#table, [this.#state.by, shown.split, groups, this.#all], () => this.#content(shown, groups));
  }

  #content(split: SplitFit, groups: readonly GroupError[]): Child[] {
    const listed = this.#all ? groups : groups.slice(0, rowsShown);
    const largest = Math.max(...groups.map(({ rmse }) => rmse), 1e-9);
    const isTasks = this.#state.by === 'tasks';
    return [
      table(
        `${isTasks ? 'Tasks' : 'Families'} that are predicted worst, ${split.split}`,
        [
          { title: isTasks ? 'Task' : 'Family' },
          { title: 'RMSE, points', words: 'Root of the mean squared error of held-out scores' },
          {
            title: 'Bias',
            number: true,
            words: 'Mean of predicted − actual, in points: positive where scores are overestimated',
          },
          { title: 'Mean score', number: true },
          { title: 'Records', number: true },
        ],
        listed.map((group) => [
          h(
            'span',
            {},
            visible(group.name),
            h(
              'span',
              { class: 'sub' },
              `furthest off: ${visible(group.worst.model)}, ${scoreText(group.worst.actual)}, predicted ${scoreText(group.worst.predicted)}`,
            ),
          ),
          barCell(pointsText(group.rmse), group.rmse / largest),
          signedPoints(group.bias),
          scoreText(group.mean),
          group.n.toLocaleString('en-US'),
        ]),
        'hardest-table',
      ),
      groups.length > rowsShown &&
        h(
          'p',
          { class: 'note' },
          button({
            label: this.#all
              ? 'Show the worst only'
              : `Show all ${counted(groups.length, isTasks ? 'task' : 'family', isTasks ? 'tasks' : 'families')}`,
            key: 'hardest all',
            onClick: () => {
              this.#all = !this.#all;
              this.#refresh();
            },
          }),
        ),
    ];
  }
}
