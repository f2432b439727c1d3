/** One test a run: vitest files name a model each, so that they run side by side. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import { openLanguageModel } from '../../src/engine/index.ts';
import type { LanguageModel } from '../../src/evaluate/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import { type Comparison, compareRun } from './compare.ts';
import { type HarnessRun, harnessRuns, modelFolder } from './runs.ts';

/**
 * @param name of a model whose runs are in the fixture
 * @param options `only`: some of its runs, as vitest runs files side by side. `runs` and `folder`: of a model elsewhere
 */
export function paritySuite(
  name: string,
  options: { only?(run: HarnessRun): boolean; runs?: HarnessRun[]; folder?: string } = {},
): void {
  const runs = (options.runs ?? harnessRuns(name)).filter(options.only ?? (() => true));
  describe(`${name}: the numbers of lm-evaluation-harness 0.4.13`, () => {
    let workspace = '';
    let model: LanguageModel;
    beforeAll(async () => {
      workspace = mkdtempSync(join(tmpdir(), 'softbench-parity-'));
      model = await openLanguageModel(options.folder ?? modelFolder(name, workspace), {
        executionProvider: 'cpu',
        threads: 1,
      });
    });
    afterAll(async () => {
      await model.close();
      rmSync(workspace, { recursive: true, force: true });
    });

    test.each(runs.map((run) => [`${run.task} ${run.setting} (${run.shots})`, run] as const))('%s', async (_, run) => {
      const found = await compareRun(run, {
        model,
        workspace,
        openBenchmark,
        openStore: openRunStore,
        readSoftPromptFile: async () => {
          throw new Error('no soft prompt is asked for');
        },
        versions: { softbench: 'parity', onnxruntime: '' },
      });
      for (const tie of [...found.outputs.nearTies, ...found.verdicts.nearTies]) console.info(`near-tie: ${tie}`);
      expect(differences(found)).toEqual({});
      expect(found.prompts.of).toBeGreaterThan(0);
      expect(found.verdicts.of).toBeGreaterThan(0);
    });
  });
}

/** What differs, by what was compared: at most three of each. */
const differences = (found: Comparison): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(found).flatMap(([what, { different }]) =>
      different.length > 0 ? [[what, [`${different.length} differ`, ...different.slice(0, 3)]]] : [],
    ),
  );
