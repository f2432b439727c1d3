import { describe, expect, it } from 'vitest';
import { additivePredictor } from '../../src/predict/additive.ts';
import { openPace } from '../../src/predict/learn/pace.ts';
import { atOnce, inTurns, predictInTurns, type Steps, sortSteps, stepwise, turns } from '../../src/predict/turn.ts';
import { Random } from '../../src/shared/random.ts';
import { oracleRecords } from './oracle.ts';

function* counting(steps: number): Steps<number> {
  let done = 0;
  for (; done < steps; done++) yield;
  return done;
}

describe('computations in steps', () => {
  it('are the same at once and with turns of others, which come between all steps', async () => {
    let others = 0;
    const turn = async (): Promise<void> => {
      others++;
    };
    expect(atOnce(counting(5))).toBe(5);
    expect([await inTurns(counting(5), turn), others]).toEqual([5, 5]);
  });

  it('end by a stop', async () => {
    const stop = new AbortController();
    let steps = 0;
    function* endless(): Steps<never> {
      for (;;) {
        if (++steps === 3) stop.abort();
        yield;
      }
    }
    await expect(inTurns(endless(), turns(stop.signal))).rejects.toThrow('Stopped.');
    expect(steps).toBe(3);
  });

  it('go over a list in order', () => {
    const seen: [number, number][] = [];
    atOnce(stepwise(new Set([7, 8, 9]), (entry, at) => seen.push([entry, at])));
    expect(seen).toEqual([
      [7, 0],
      [8, 1],
      [9, 2],
    ]);
  });

  it.each([0, 1, 1999, 2000, 2001, 9_000])('sort %i entries as sort does, equal ones in their order', (count) => {
    const random = new Random(count);
    const list = Array.from({ length: count }, (_, at) => ({ key: random.below(50), at }));
    const byKey = (a: { key: number }, b: { key: number }): number => a.key - b.key;
    expect(atOnce(sortSteps(list, byKey))).toEqual([...list].sort(byKey));
  });

  it('predict what predict answers, and others have their turn while they wait for it', async () => {
    const fitted = await additivePredictor.fit(oracleRecords, { seed: 0 });
    const pace = openPace();
    let others = 0;
    const turn = async (): Promise<void> => {
      others++;
      await pace.pause();
    };
    expect([...(await predictInTurns(fitted, oracleRecords, turn))]).toEqual([...fitted.predict(oracleRecords)]);
    expect(others).toBeGreaterThan(1);
  });
});
