/** What stands in the View menu: modes side by side, groups, intervals, which benchmarks, predicted scores. */
import type { LeaderboardView } from '../../src/shared/protocol.ts';
import { type Child, h } from '../dom.ts';
import { visible } from '../text.ts';
import { action, checkbox, radios } from './menu.ts';
import { type Grouping, modesOf, type PageState, type SavedState } from './state.ts';
import { benchmarkGroups } from './table.ts';

interface Choices {
  view: LeaderboardView;
  state: PageState;
  wide: boolean;
  live: boolean;
  choose(change: SavedState): void;
  showPredictions(shown: boolean): void;
  openTab(): void;
}

const groupingLabels: Record<Grouping, string> = {
  none: 'not at all',
  family: 'by family',
  'post-training': 'base and post-trained',
  origin: 'measured and imported',
};

export function viewChoices({ view, state, wide, live, choose, showPredictions, openTab }: Choices): Child[] {
  const others = modesOf(view).filter((mode) => mode !== state.mode);
  const tasks = view.benchmarks.map(({ task }) => task);
  const hidden = new Set(state.hiddenBenchmarks);
  const hide = (names: readonly string[]): void => choose({ hiddenBenchmarks: [...names] });
  return [
    live && !wide && action('Open as a tab: all benchmarks side by side', openTab, 'open tab'),
    view.predictions &&
      checkbox(view.predictions.busy ? 'Predicted scores (computing…)' : 'Predicted scores in empty cells', {
        key: 'predictions',
        checked: view.predictions.shown,
        onChange: showPredictions,
      }),
    wide &&
      others.length > 0 &&
      h(
        'fieldset',
        {},
        h('legend', {}, `Beside ${state.mode}`),
        ...others.map((mode) =>
          checkbox(mode, {
            key: `beside ${mode}`,
            checked: state.besides.includes(mode),
            onChange: (checked) =>
              choose({ besides: checked ? [...state.besides, mode] : state.besides.filter((each) => each !== mode) }),
          }),
        ),
      ),
    radios(
      'Group models',
      (Object.keys(groupingLabels) as Grouping[]).map((value) => ({ value, label: groupingLabels[value] })),
      { name: 'group', chosen: state.group, onChange: (group) => choose({ group }) },
    ),
    wide &&
      checkbox('Intervals', {
        key: 'intervals',
        checked: state.intervals,
        onChange: (intervals) => choose({ intervals }),
      }),
    wide &&
      benchmarkGroups(tasks).size > 0 &&
      checkbox('Group benchmarks by the first word of their names', {
        key: 'group benchmarks',
        checked: state.groupBenchmarks,
        onChange: (groupBenchmarks) => choose({ groupBenchmarks }),
      }),
    tasks.length > 1 &&
      h(
        'fieldset',
        { class: 'benchmark-choices' },
        h('legend', {}, 'Benchmarks'),
        h(
          'div',
          { class: 'menu-row' },
          action('All', () => hide([]), 'all benchmarks'),
          action('None', () => hide(tasks), 'no benchmarks'),
        ),
        ...tasks.map((task) =>
          checkbox(visible(task), {
            key: `benchmark ${task}`,
            checked: !hidden.has(task),
            onChange: (checked) =>
              hide(
                checked ? state.hiddenBenchmarks.filter((each) => each !== task) : [...state.hiddenBenchmarks, task],
              ),
          }),
        ),
      ),
  ];
}
