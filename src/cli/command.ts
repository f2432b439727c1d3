/** What a command is; the table of all of them is in commands.ts. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { isPromptMode, type PromptMode, promptModes } from '../shared/modes.ts';
import type { EngineSettings } from '../shared/protocol.ts';
import type { Given, Options } from './arguments.ts';
import type { Terminal } from './terminal.ts';

export interface Command {
  /** One or two words, as typed. */
  name: string;
  /** The positional arguments, as the help shows them. */
  operands: string;
  summary: string;
  /** More lines for the command's own help. */
  details?: string;
  options: Options;
  /** @returns the exit code */
  run(given: Given, terminal: Terminal): Promise<number>;
}

/** Exit codes of the program. */
export const exitCodes = { done: 0, failed: 1, badInput: 2, stopped: 130 } as const;

/** Options that every command has. */
export const commonOptions = {
  json: { type: 'flag', help: 'print the result as JSON; the last line is one object' },
  quiet: { type: 'flag', help: 'print the result only' },
  debug: { type: 'flag', help: 'print the stack of an error' },
  help: { type: 'flag', short: 'h', help: 'show this help' },
} as const satisfies Options;

export const storeOption = {
  store: { type: 'text', value: 'DIR', help: 'folder that holds runs/ (default: .softbench here)' },
} as const satisfies Options;

const providers: EngineSettings['executionProvider'][] = ['auto', 'cpu', 'cuda', 'webgpu', 'dml', 'coreml'];

export const engineOptions = {
  provider: { type: 'text', value: 'NAME', help: `execution provider: ${providers.join(', ')} (default: auto)` },
  threads: { type: 'whole', least: 0, help: 'threads (default: 0, as many as there are physical cores)' },
} as const satisfies Options;

export function storeFolder(given: Given): string {
  return resolve(given.text('store') ?? '.softbench');
}

export function engineSettings(given: Given): EngineSettings {
  const asked = given.text('provider') ?? 'auto';
  const executionProvider = providers.find((name) => name === asked);
  if (!executionProvider)
    throw new HumanError('bad-input', `There is no execution provider "${asked}".`, {
      todo: `Use one of: ${providers.join(', ')}.`,
    });
  const threads = given.number('threads') ?? 0;
  // More than run at a time wait for each other: 32 on 2 cores took four times as long as 2, 999 ran for minutes.
  if (threads > availableParallelism())
    throw new HumanError(
      'bad-input',
      `--threads is ${threads}; this machine runs ${availableParallelism()} at a time.`,
      {
        todo: 'Leave it out for one on each physical core.',
      },
    );
  return { executionProvider, threads };
}

/** The prompt mode that an option names. */
export function modeOption(given: Given, name: string): PromptMode | undefined {
  const mode = given.text(name);
  if (mode !== undefined && !isPromptMode(mode))
    throw new HumanError('bad-input', `"${mode}" is not a prompt mode.`, {
      todo: `Use one of: ${promptModes.join(', ')}.`,
    });
  return mode;
}

/** The command's operands, exactly as many as `names`. */
export function operands<N extends readonly string[]>(given: Given, names: N): { [K in keyof N]: string } {
  const { positionals } = given;
  const missing = names[positionals.length];
  if (missing !== undefined)
    throw new HumanError('bad-input', `${missing} is missing.`, { todo: 'See the help with --help.' });
  const extra = positionals[names.length];
  if (extra !== undefined)
    throw new HumanError('bad-input', `"${extra}" is one argument too many.`, { todo: 'See the help with --help.' });
  return positionals as unknown as { [K in keyof N]: string };
}
