/** `softbench models download`: a model from the Hugging Face Hub into its clients' cache. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cachedSnapshot, consentLines, fetchFiles, hubCache, hubSettings } from '../hub/index.ts';
import { formatBytes } from '../metrics/index.ts';
import { planModel } from '../model/index.ts';
import { type Command, commonOptions, exitCodes, operands } from './command.ts';
import { agree, ByteProgress } from './consent.ts';

export const downloadModelCommand: Command = {
  name: 'models download',
  operands: 'ID',
  summary: 'fetch a model with an ONNX file from the Hugging Face Hub',
  details: [
    'One graph is fetched, the most exact one or that of --variant, with its weights, tokenizer and configuration. Shown',
    "first, and asked for: what, how large, under which licence, where to. Files go to the cache of the Hub's own clients",
    '(HF_HOME, HF_HUB_CACHE); --model takes the ID afterwards. HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE and proxies count as',
    'in "softbench datasets download".',
  ].join('\n'),
  options: {
    yes: { type: 'flag', short: 'y', help: 'agree without being asked' },
    variant: {
      type: 'text',
      value: 'NAME',
      help: 'graph to fetch, by the end of its name such as q4 or fp16, or its path',
    },
    revision: { type: 'text', value: 'REVISION', help: 'branch, tag or commit' },
    ...commonOptions,
  },
  async run(given, terminal) {
    const [id] = operands(given, ['ID'] as const);
    const { signal } = terminal.surroundings;
    const settings = hubSettings();
    const plan = await planModel(id, given.text('revision') ?? null, given.text('variant') ?? null, settings, signal);
    const others = plan.variants.filter(({ graph }) => graph !== plan.graph);
    const lines = await consentLines(plan.listing, plan.files, settings, [plan.graph]);
    if (others.length > 0)
      lines.splice(
        2,
        0,
        `Other graphs: ${others.map(({ graph, bytes }) => `${graph} (${formatBytes(bytes)})`).join(', ')}`,
      );
    if (given.flag('yes')) for (const line of lines) terminal.note(line);
    else await agree(terminal, lines, '--yes');
    const progress = new ByteProgress(terminal);
    const folder = await fetchFiles(plan.listing, plan.files, settings, {
      signal,
      onProgress: (now) => progress.show(now),
    }).finally(() => progress.end());
    if (terminal.json) terminal.printJson({ id, folder, graph: plan.graph });
    else {
      terminal.print(folder);
      terminal.note(`Use it with --model ${given.text('variant') === undefined ? id : join(folder, plan.graph)}`);
    }
    return exitCodes.done;
  },
};

/** The folder that --model means: a path, or the id of a model that has been downloaded. */
export async function modelFolderOf(model: string): Promise<string> {
  const path = resolve(model);
  if (existsSync(path) || !/^[\w.-]+\/[\w.-]+$/.test(model)) return path;
  return (await cachedSnapshot({ kind: 'model', id: model }, null, hubCache())) ?? path;
}
