/** The worker with a scripted model and benchmark behind its interfaces, for tests of the command line alone. */
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark } from '../../src/benchmark/types.ts';
import { openResponseCache } from '../../src/responses/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { workerHandlers } from '../../src/worker/handlers.ts';
import { serveHost } from '../../src/worker/serve.ts';
import { scriptedModel, sumsBenchmark } from '../evaluate/scripted.ts';

serveHost(
  workerHandlers({
    openModel: async (folder) => {
      if (folder.includes('broken'))
        throw new HumanError('engine', 'The graph is broken.', { todo: 'Export it again.' });
      const model = scriptedModel();
      const slow = /slow-(\d+)/.exec(folder);
      return {
        ...model,
        identity: { ...model.identity, folder },
        generate: (requests, settings, hooks) =>
          model.generate(requests, settings, {
            ...hooks,
            onResult: async (result) => {
              await hooks.onResult(result);
              if (slow) await sleep(Number(slow[1]));
            },
          }),
      };
    },
    openBenchmark: async (file) => {
      const task = basename(file, '.yaml');
      if (task === 'broken') throw new HumanError('bad-input', 'This benchmark is broken.', { place: { file } });
      // By this one's rules whatever holds the right number is in the form, and right.
      if (task === 'generous') {
        const judge: Benchmark['judge'] = (item, output, stop) => {
          const judged = sumsBenchmark().judge(item, output, stop);
          return { ...judged, strict: judged.lenient, inFormat: true, right: judged.lenientRight, cause: null };
        };
        return sumsBenchmark({ file, task: 'sums', configDigest: 'generous', judge });
      }
      return sumsBenchmark({ file, task });
    },
    openResponseCache: async (model, settings) =>
      openResponseCache(model, { onnxruntime: '0.0.0', engine: 1 }, settings),
    openStore: openRunStore,
    readSoftPromptFile: async () => ({ vectors: 2, hiddenSize: 4, data: new Float32Array(8).fill(1) }),
    inspectModel: () => Promise.reject(new HumanError('unsupported', 'Not in this test.')),
    verifyModel: () => Promise.reject(new HumanError('unsupported', 'Not in this test.')),
    openTokenizer: async () => scriptedModel().tokenizer,
    readChatTemplates: async () => ({ templates: new Map(), specialTokens: {} }),
    providers: async () => [],
    importResults: () => Promise.reject(new Error('not scripted')),
    exportRuns: () => Promise.reject(new Error('not scripted')),
    measurePage: () => Promise.reject(new Error('not scripted')),
    writePage: () => Promise.reject(new Error('not scripted')),
    versions: async () => ({ softbench: '0.0.0', onnxruntime: '0.0.0' }),
  }),
);
