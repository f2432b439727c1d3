import { describe, expect, it } from 'vitest';
import { isSplitName, splitNames, splitRecords } from '../../src/predict/index.ts';
import { oracle, oracleRecords, record } from './oracle.ts';

describe('splits', () => {
  it.each(['L1', 'L2.1', 'L2.2', 'L3', 'L4'] as const)(
    "%s holds out and develops on the records that scikit-learn's KFold and train_test_split take",
    (name) => {
      const split = splitRecords(oracleRecords, name);
      const found = split.folds.map(({ test, development }) => ({ test: [...test], development: [...development] }));
      expect(found).toEqual(oracle.splits[name]);
    },
  );

  it('takes another seed', () => {
    const split = splitRecords(oracleRecords, 'L3', { seed: 3 });
    expect(split.folds.map(({ test }) => [...test])).toEqual(oracle.otherSeed.map(({ test }) => test));
  });

  it.each([...splitNames])('%s tests each record once, and learns from none that it tests', (name) => {
    const { folds } = splitRecords(oracleRecords, name);
    expect(folds.flatMap(({ test }) => [...test]).sort((a, b) => a - b)).toEqual([...oracleRecords.keys()]);
    for (const { train, development, test } of folds)
      expect([...train, ...development, ...test].sort((a, b) => a - b)).toEqual([...oracleRecords.keys()]);
  });

  it('holds out all metrics of a configuration together: one tells much of another', () => {
    const both = oracleRecords.flatMap((one) => [one, { ...one, metric: 'F' }]);
    for (const { test } of splitRecords(both, 'L1').folds) {
      const seen = new Set([...test].map((at) => at >> 1));
      expect(test.length).toBe(2 * seen.size);
    }
  });

  it('holds out one family, or one task, a fold, and names it', () => {
    expect(splitRecords(oracleRecords, 'family').folds.map(({ name }) => name)).toEqual([
      'Alder',
      'Birch',
      'Cedar',
      'Dogwood',
    ]);
    expect(splitRecords(oracleRecords, 'task').folds).toHaveLength(5);
  });

  it('tells two models of one size apart', () => {
    const twins = ['a', 'b'].flatMap((model) => ['x', 'y', 'z'].map((subtask) => record({ model, subtask })));
    expect(splitRecords(twins, 'L2.1', { folds: 2 }).groups).toBe(6);
  });

  it('says where there are few groups', () => {
    expect(splitRecords(oracleRecords, 'family').notes).toEqual([
      'There are 4 groups only: the mean over them says little about another one.',
    ]);
    const few = ['a', 'b', 'c'].map((subtask) => record({ subtask }));
    expect(splitRecords(few, 'L3').notes).toEqual([
      'There are 3 groups only, so there are 3 folds, not 10.',
      'A fold holds out 1 group: figures of single folds say little.',
    ]);
    expect(splitRecords(oracleRecords, 'L1').notes).toEqual([]);
  });

  it('refuses what cannot be cut', () => {
    expect(() => splitRecords([record()], 'family')).toThrow(
      'The split family (leave one family out) needs at least two groups; the 1 records have 1.',
    );
    expect(() => splitRecords(oracleRecords, 'L1', { folds: 1 })).toThrow('at least 2 folds');
  });

  it('knows its names', () => {
    expect(isSplitName('L2.1')).toBe(true);
    expect(isSplitName('L5')).toBe(false);
  });
});
