import { describe, expect, test } from 'vitest';
import { findGroup, findTask } from '../../src/editor/detect.ts';
import { groupLenses } from '../../src/editor/lenses.ts';

describe('the line of a group', () => {
  test.each([
    ['group: all\ntask:\n  - a\n  - b\n', { line: 0, start: 0, end: 10, task: 'all' }],
    ['# x\ngroup: "my group"  # named\ntask: [a, b]\n', { line: 1, start: 0, end: 26, task: 'my group' }],
    ['task: # list\n- a\ngroup: g\n', { line: 2, start: 0, end: 8, task: 'g' }],
  ])('%j', (text, found) => {
    expect(findGroup(text)).toEqual(found);
    expect(findTask(text)).toBeNull();
  });

  test.each(['group: g\n', 'task:\n  - a\n', 'group: g\ntask: a\ndoc_to_text: "{{q}}"\n', 'groups: g\ntask: [a]\n'])(
    'none in %j',
    (text) => {
      expect(findGroup(text)).toBeNull();
    },
  );
});

test('lenses of a group name the model', () => {
  const state = { model: { name: 'tiny', folder: '/m' }, job: null, results: [], resumable: null };
  const lenses = groupLenses(state);
  expect(lenses.map(({ command }) => command)).toEqual([
    'softbench.evaluateGroup',
    'softbench.groupScores',
    'softbench.openGroupBenchmark',
    'softbench.chooseModel',
  ]);
  expect(lenses[0]?.tooltip).toContain('on tiny');
  expect(groupLenses({ ...state, model: null }).at(-1)?.title).toContain('Choose model');
});
