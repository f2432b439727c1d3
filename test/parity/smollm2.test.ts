/** SmolLM2-135M-Instruct, whose weights are not in the repository: `SOFTBENCH_SMOLLM2=FOLDER npx vitest run test/parity/smollm2`. */
import { expect, test } from 'vitest';
import { digestRuns } from './runs.ts';
import { paritySuite } from './suite.ts';

const folder = process.env.SOFTBENCH_SMOLLM2;
const runs = digestRuns('smollm2-135m');

test('there are runs of every output type', () => {
  for (const task of ['gen_sums', 'mc_text', 'll_word', 'ppl_texts'])
    expect(runs.some((run) => run.task === task && run.samples.length > 0)).toBe(true);
});

if (folder) paritySuite('smollm2-135m', { runs, folder });
