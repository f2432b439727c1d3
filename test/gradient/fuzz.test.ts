/**
 * Random graphs, their gradients against central differences. Seeded: the same graphs every time. To try others, or one
 * that failed again: SOFTBENCH_FUZZ_SEED=… SOFTBENCH_FUZZ_ROUNDS=… (a round has one graph for each operator).
 */
import { describe, expect, it } from 'vitest';
import { gradientRules } from '../../src/gradient/rules/index.ts';
import { inDouble, type Measured } from './differences.ts';
import { graphText, type RandomGraph, randomGraph } from './random-graph.ts';
import { compareGradients } from './run-graph.ts';

const firstSeed = Number(process.env.SOFTBENCH_FUZZ_SEED ?? 1);
const rounds = Number(process.env.SOFTBENCH_FUZZ_ROUNDS ?? 2);
const only = process.env.SOFTBENCH_FUZZ_OPERATOR;
const operators = Object.keys(gradientRules).filter((name) => !only || name === only);

/** Every graph's gradient in the largest entry of its inputs; tiny gradients are not worth a comparison. */
const smallest = 1e-3;

interface Result {
  /** What is wrong; null: nothing. */
  problem: string | null;
  /** Entries that could be compared, and all. */
  checked: number;
  all: number;
}

async function compare(
  { model, feeds }: RandomGraph,
  type: 'float32' | 'float64',
): Promise<Result & Pick<Measured, 'type'>> {
  const { analytic, measured } = await compareGradients(type === 'float64' ? inDouble(model) : model, feeds, {
    merge: type === 'float32',
    type,
  });
  const entries = Object.entries(measured.gradients).flatMap(([name, values]) =>
    values.map((value, at) => ({ name, at, value, found: analytic[name]?.[at] ?? Number.NaN })),
  );
  const scale = Math.max(smallest, ...entries.map(({ value }) => Math.abs(value ?? 0)));
  // Differences in float32 have an error of their own, and nothing exact to ask where a graph is badly conditioned; the
  // operators that have no float64 are held to 2e-3 one by one (rules.test.ts).
  const allowed = measured.type === 'float64' ? 5 * measured.precision * scale : 1e-2 * scale + 1e-3;
  const wrong = entries.filter(({ value, found }) => value !== null && !(Math.abs(value - found) <= allowed));
  const lines = wrong.map(
    ({ name, at, value, found }) =>
      `d/d${name}[${at}]: ${found} by the rules, ${value} by differences (${measured.type})`,
  );
  return {
    problem: lines.length > 0 ? lines.join('\n') : null,
    checked: entries.filter(({ value }) => value !== null).length,
    all: entries.length,
    type: measured.type,
  };
}

/**
 * Compares a graph's gradients. A random graph can be so badly conditioned (a norm of equal numbers) that float32 is not
 * good enough: where differences in float64 say otherwise, the rules get to run in float64, too.
 */
async function check(graph: RandomGraph): Promise<Result> {
  const result = await compare(graph, 'float32');
  if (!result.problem || result.type !== 'float64') return result;
  const exact = await compare(graph, 'float64');
  return exact.problem ? result : exact;
}

describe('random graphs', () => {
  it(`have the gradients that differences say, ${rounds} rounds from seed ${firstSeed}`, async () => {
    const seen = new Set<string>();
    let [checked, all] = [0, 0];
    for (let round = 0; round < rounds; round++)
      for (const [at, operator] of operators.entries()) {
        const seed = firstSeed + round * operators.length + at;
        const graph = randomGraph(operator, seed);
        for (const name of graph.operators) seen.add(name);
        const again = `SOFTBENCH_FUZZ_OPERATOR=${operator} SOFTBENCH_FUZZ_SEED=${seed} SOFTBENCH_FUZZ_ROUNDS=1`;
        const said = (): string => `${again}\n${graphText(graph.model)}\nfed with ${JSON.stringify(graph.feeds)}`;
        const result = await check(graph).catch((thrown: unknown) => {
          throw new Error(`${thrown}\n${said()}`, { cause: thrown });
        });
        if (result.problem) expect.fail(`${result.problem}\n${said()}`);
        checked += result.checked;
        all += result.all;
      }
    expect([...seen].sort()).toEqual(expect.arrayContaining(operators.toSorted()));
    // Kinks within a step are rare; were they not, little would have been compared.
    expect(checked / all).toBeGreaterThan(0.9);
  });
});
