/** From arguments to an exit code: finds the command, reads its options, shows its help, prints its error. */
import { asError, type ErrorKind, HumanError, sentenceOf } from '../shared/errors.ts';
import { nearest, optionHelp, readArguments } from './arguments.ts';
import { type Command, exitCodes } from './command.ts';
import { commands } from './commands.ts';
import { printable, type Surroundings, Terminal } from './terminal.ts';

/** Runs one command line. Never throws: an error becomes a message and an exit code. */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  // Known before the arguments are read: an error in them is printed in the way asked for.
  const wants = (flag: string): boolean => argv.includes(flag);
  const terminal = new Terminal(surroundings, { json: wants('--json'), quiet: wants('--quiet') });
  try {
    const [first] = argv;
    if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
      const about = first === 'help' && argv.length > 1 ? findCommand(argv.slice(1)) : null;
      terminal.print(about ? commandHelp(about.command) : generalHelp());
      return first === undefined ? exitCodes.badInput : exitCodes.done;
    }
    if (first === '--version' || first === '-V') {
      terminal.print(surroundings.version);
      return exitCodes.done;
    }
    const [, second] = argv;
    const asksForGroup = second === '--help' || second === '-h';
    if (asksForGroup && commands.every(({ name }) => name !== first) && inGroup(first).length > 0) {
      terminal.print(groupHelp(first));
      return exitCodes.done;
    }
    const { command, rest } = findCommand(argv);
    if (rest.includes('--help') || rest.includes('-h')) {
      terminal.print(commandHelp(command));
      return exitCodes.done;
    }
    return await command.run(readArguments(command.name, command.options, rest), terminal);
  } catch (thrown) {
    return fail(thrown, terminal, wants('--debug'));
  }
}

/** What is to be changed before it is worth another try is an argument or a file. */
const inputKinds: ReadonlySet<ErrorKind> = new Set(['bad-input', 'missing', 'unsupported']);

function fail(thrown: unknown, terminal: Terminal, debug: boolean): number {
  const { stderr } = terminal.surroundings;
  const isHuman = thrown instanceof HumanError;
  stderr.write(`softbench: ${printable(sentenceOf(thrown))}\n`);
  if (debug) stderr.write(`${asError(thrown).stack ?? ''}\n`);
  else if (!isHuman) stderr.write('This is an error in Softbench: --debug shows where.\n');
  if (terminal.json)
    terminal.printJson({ error: { kind: isHuman ? thrown.kind : 'internal', message: sentenceOf(thrown) } });
  if (!isHuman) return exitCodes.failed;
  if (thrown.kind === 'cancelled') return exitCodes.stopped;
  return inputKinds.has(thrown.kind) ? exitCodes.badInput : exitCodes.failed;
}

/** The command whose name the first one or two words are. */
function findCommand(argv: readonly string[]): { command: Command; rest: readonly string[] } {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ');
    const command = commands.find((one) => one.name === name);
    if (command && argv.length >= words) return { command, rest: argv.slice(words) };
  }
  const [first = '', second] = argv;
  const group = inGroup(first);
  if (group.length) {
    const names = group.map(({ name }) => `"softbench ${name}"`).join(', ');
    throw new HumanError('bad-input', `"${first}" needs ${second ? 'another' : 'one more'} word.`, {
      todo: `Use ${names}.`,
    });
  }
  const near = nearest(
    first,
    commands.map(({ name }) => name),
  );
  throw new HumanError('bad-input', `There is no command "${first}".${near ? ` Did you mean "${near}"?` : ''}`, {
    todo: 'See "softbench --help".',
  });
}

/** Commands of two words that begin with this one. */
const inGroup = (first: string): Command[] => commands.filter(({ name }) => name.startsWith(`${first} `));

function commandList(list: readonly Command[]): string[] {
  const width = Math.max(...list.map(({ name }) => name.length));
  return list.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
}

const groupHelp = (first: string): string =>
  [`Usage: softbench ${first} COMMAND …`, '', ...commandList(inGroup(first))].join('\n');

function generalHelp(): string {
  return [
    'softbench: fair language-model benchmarks on your own machine.',
    '',
    'Usage: softbench COMMAND …',
    '',
    ...commandList(commands),
    '',
    '  --version  print the version',
    '  --help     this help; "softbench COMMAND --help" has the options of a command',
    '',
    'Exit codes: 0 done, 1 failed, 2 arguments or files that are wrong or not supported, 130 stopped (Ctrl-C).',
  ].join('\n');
}

function commandHelp({ name, operands, summary, details, options }: Command): string {
  return [
    `Usage: softbench ${[name, operands].filter(Boolean).join(' ')} [OPTIONS]`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(details ? [details] : []),
    '',
    optionHelp(options),
  ].join('\n');
}
