import { describe, expect, it } from 'vitest';
import { noiseCeiling, syntheticRecords } from '../../src/predict/synthetic.ts';

const made = syntheticRecords({ seed: 1 });
const { records, expected, noise } = made;
const different = (of: (record: (typeof records)[number]) => unknown): number => new Set(records.map(of)).size;

describe('made records', () => {
  it("have the study's shape", () => {
    expect(different(({ subtask }) => subtask)).toBe(313);
    expect(different(({ task }) => task)).toBe(200);
    expect([...new Set(records.map(({ family }) => family))]).toEqual([
      'BIG-G T=0',
      'BIG-G T=1',
      'BIG-G sparse',
      'PaLM',
      'GPT',
      'Gopher',
    ]);
    expect(new Set(records.map(({ metric }) => metric))).toEqual(
      new Set(['exact_str_match', 'multiple_choice_grade', 'rougeLsum']),
    );
    expect([...new Set(records.map(({ shots }) => shots))].sort()).toEqual([0, 1, 2, 3, 5]);
    expect(records.length).toBeGreaterThan(50_000);
  });

  it('have a subtask at one metric and number of items', () => {
    expect(different(({ subtask, metric, n }) => `${subtask} ${metric} ${n}`)).toBe(313);
  });

  it('are as far from their expectation as the noise says', () => {
    let [squares, variance] = [0, 0];
    for (const [at, { score }] of records.entries()) {
      squares += (score - (expected[at] ?? 0)) ** 2;
      variance += noise[at] ?? 0;
    }
    // The sum of 60,000 squares is known to about 1 %.
    expect(squares / variance).toBeGreaterThan(0.97);
    expect(squares / variance).toBeLessThan(1.03);
  });

  it('have a ceiling that is the R² of their expectation', () => {
    const mean = records.reduce((sum, { score }) => sum + score, 0) / records.length;
    const error = records.reduce((sum, { score }, at) => sum + (score - (expected[at] ?? 0)) ** 2, 0);
    const variance = records.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
    expect(noiseCeiling(made, records.keys())).toBeCloseTo(1 - error / variance, 3);
  });

  it('are the same for the same seed, and others for another', () => {
    const small = { subtasks: 20, tasks: 12 };
    expect(syntheticRecords({ ...small, seed: 4 })).toEqual(syntheticRecords({ ...small, seed: 4 }));
    expect(syntheticRecords({ ...small, seed: 4 }).records).not.toEqual(
      syntheticRecords({ ...small, seed: 5 }).records,
    );
  });

  it('hold emergent tasks: at the floor but for the largest models', () => {
    const largest = records.filter(({ model, shots }) => model === 'PaLM 3' && shots === 0);
    const smallest = new Map(
      records
        .filter(({ model, shots }) => model === 'PaLM 1' && shots === 0)
        .map(({ subtask, score }) => [subtask, score]),
    );
    const jumps = largest.filter(({ subtask, score }) => score > 0.7 && (smallest.get(subtask) ?? 1) < 0.2);
    expect(jumps.length).toBeGreaterThan(5);
  });
});
