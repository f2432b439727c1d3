/** `softbench cache …`, and what the job commands say of the cache of responses. */
import { join } from 'node:path';
import { cacheStatus, clearCache } from '../responses/index.ts';
import type { JobRequest } from '../shared/protocol.ts';
import { defaultCacheBytes } from '../shared/response-words.ts';
import type { Given, Options } from './arguments.ts';
import { type Command, commonOptions, exitCodes, operands, storeFolder, storeOption } from './command.ts';
import { table } from './terminal.ts';

const megabyte = 2 ** 20;

export const cacheOptions = {
  'no-cache': { type: 'flag', help: 'compute every response of the model: neither look them up nor keep them' },
  'cache-limit': {
    type: 'whole',
    value: 'MB',
    least: 1,
    help: `what the cache of responses may take on disk (default: ${defaultCacheBytes / megabyte})`,
  },
} as const satisfies Options;

/** `--fresh`: nothing of before is used, but what is computed is kept. */
export function responseCacheOf(given: Given): JobRequest['responseCache'] {
  if (given.flag('no-cache')) return null;
  const limit = given.number('cache-limit');
  return { limitBytes: limit === undefined ? defaultCacheBytes : limit * megabyte, lookUp: !given.flag('fresh') };
}

const megabytes = (bytes: number): string => `${(bytes / megabyte).toFixed(1)} MB`;

export const statusCommand: Command = {
  name: 'cache status',
  operands: '',
  summary: 'say what the cache of responses holds',
  options: { ...storeOption, ...commonOptions },
  async run(given, terminal) {
    operands(given, [] as const);
    const status = cacheStatus(storeFolder(given));
    if (terminal.json) {
      terminal.printJson(status);
      return exitCodes.done;
    }
    if (status.files === 0) {
      terminal.print(`The cache is empty: ${status.folder}`);
      return exitCodes.done;
    }
    for (const line of table(
      [
        ['model', 'provider', 'size', 'last used'],
        ...status.contexts.map(({ model, provider, bytes, used }) => [
          model ?? '?',
          provider ?? '?',
          megabytes(bytes),
          used?.slice(0, 16).replace('T', ' ') ?? '',
        ]),
      ],
      [2],
    ))
      terminal.print(line);
    terminal.print(`${megabytes(status.bytes)} in ${status.files} files: ${status.folder}`);
    return exitCodes.done;
  },
};

export const clearCommand: Command = {
  name: 'cache clear',
  operands: '',
  summary: 'remove all responses from the cache; runs stay as they are',
  options: { ...storeOption, ...commonOptions },
  async run(given, terminal) {
    operands(given, [] as const);
    const { freed, inUse, failed } = clearCache(storeFolder(given));
    if (terminal.json) terminal.printJson({ freed, inUse, failed });
    else {
      terminal.print(`${megabytes(freed)} freed.`);
      if (inUse)
        terminal.note(`${inUse} ${inUse === 1 ? 'file is' : 'files are'} being written by a running job and stay.`);
      if (failed)
        terminal.note(
          `${failed} ${failed === 1 ? 'file' : 'files'} could not be removed. May you write in ${join(storeFolder(given), 'responses')}?`,
        );
    }
    return failed > 0 ? exitCodes.failed : exitCodes.done;
  },
};
