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
import { harnessRuns, modelFolder } from './runs.ts';

export function paritySuite(name: string): void {
  describe(`${name}: the numbers of lm-evaluation-harness 0.4.13`, () => {
    let workspace = '';
    let model: LanguageModel;
    beforeAll(async () => {
      workspace = mkdtempSync(join(tmpdir(), 'softbench-parity-'));
      model = await openLanguageModel(modelFolder(name, workspace), { executionProvider: 'cpu', threads: 1 });
    });
    afterAll(async () => {
      await model.close();
      rmSync(workspace, { recursive: true, force: true });
    });

    test.each(harnessRuns(name).map((run) => [`${run.task} ${run.setting} (${run.shots})`, run] as const))(
      '%s',
      async (_, run) => {
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
      },
    );
  });
}

/** What differs, by what was compared: at most three of each. */
const differences = (found: Comparison): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(found).flatMap(([what, { different }]) =>
      different.length > 0 ? [[what, [`${different.length} differ`, ...different.slice(0, 3)]]] : [],
    ),
  );
