/** The worker with a scripted model and benchmark behind its interfaces, for tests of the command line alone. */
import { setTimeout as sleep } from 'node:timers/promises';
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
    openBenchmark: async (file) => sumsBenchmark({ file }),
    openStore: openRunStore,
    readSoftPromptFile: async () => ({ vectors: 2, hiddenSize: 4, data: new Float32Array(8).fill(1) }),
    inspectModel: () => Promise.reject(new HumanError('unsupported', 'Not in this test.')),
    verifyModel: () => Promise.reject(new HumanError('unsupported', 'Not in this test.')),
    openTokenizer: async () => scriptedModel().tokenizer,
    readChatTemplates: async () => ({ templates: new Map(), specialTokens: {} }),
    provider: async () => ({ running: 'cpu', reason: 'scripted' }),
    providers: async () => [],
    versions: async () => ({ softbench: '0.0.0', onnxruntime: '0.0.0' }),
  }),
);
