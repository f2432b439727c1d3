/** Options of the command line: one table a command, from which both the reading and the help are made. */
import { parseArgs } from 'node:util';
import { asError, HumanError } from '../shared/errors.ts';
import { lmEvalLetters, lmEvalOptions } from './lm-eval-options.ts';

export interface Option {
  /**
   * `text` may hold anything; `texts` may be given several times; a `whole` number is checked; an `optional` value is a word
   * of letters, digits, - and _ that may be left out (then it reads as '').
   */
  type: 'flag' | 'text' | 'texts' | 'whole' | 'optional';
  /** What stands for the value in the help. */
  value?: string;
  help: string;
  short?: string;
  /** Smallest number allowed. */
  least?: number;
}
export type Options = Record<string, Option>;

export interface Given {
  positionals: string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): string[];
  number(name: string): number | undefined;
}

/** Reads the arguments. Throws HumanError('bad-input') that names the wrong one and the help to look at. */
export function readArguments(command: string, options: Options, argv: readonly string[]): Given {
  const wrong = (message: string): HumanError =>
    new HumanError('bad-input', message, { todo: `See "softbench ${command} --help".` });
  let values: Record<string, string | boolean | string[] | undefined>;
  let positionals: string[];
  try {
    ({ values, positionals } = parseArgs({
      args: withEmptyValues(options, spelled(options, argv)),
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(([name, { type, short }]) => [
          name,
          {
            type: type === 'flag' ? ('boolean' as const) : ('string' as const),
            ...(type === 'texts' && { multiple: true }),
            ...(short && { short }),
          },
        ]),
      ),
    }) as { values: typeof values; positionals: string[] });
  } catch (thrown) {
    const { message } = asError(thrown);
    // "-3" behind an option may be its value or an option: Node wants to be told which.
    const unclear = /^Option '(?:-\w, )?--([\w-]+)[^']*' argument is ambiguous/.exec(message)?.[1];
    if (unclear !== undefined)
      throw wrong(`--${unclear} needs a value. One that begins with a dash is written --${unclear}=-1.`);
    const missing = /^Option '(?:-\w, )?--([\w-]+)[^']*' argument missing/.exec(message)?.[1];
    if (missing !== undefined) throw wrong(`--${missing} needs a value.`);
    const [, dashes = '', unknown] = /^Unknown option '(--?)([^']+)'/.exec(message) ?? [];
    if (unknown === undefined) throw wrong(oneLine(message));
    const theirs = dashes === '-' ? lmEvalLetters.get(unknown) : unknown.replaceAll('-', '_');
    const instead = theirs === undefined ? undefined : lmEvalOptions.get(theirs);
    if (instead !== undefined)
      throw new HumanError('bad-input', `There is no option "${dashes}${unknown}" of lm-evaluation-harness here.`, {
        todo: instead,
      });
    const near = dashes === '-' ? null : nearest(unknown, Object.keys(options));
    throw wrong(`There is no option "${dashes}${unknown}".${near ? ` Did you mean "--${near}"?` : ''}`);
  }
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const numbers = new Map<string, number>();
  for (const [name, { type, least }] of Object.entries(options)) {
    const given = type === 'whole' ? text(name) : undefined;
    if (given === undefined) continue;
    const value = given.trim() === '' ? Number.NaN : Number(given);
    if (!Number.isSafeInteger(value)) throw wrong(`--${name} needs a whole number, not "${given}".`);
    if (least !== undefined && value < least) throw wrong(`--${name} must be at least ${least}, not ${given}.`);
    numbers.set(name, value);
  }
  const texts = (name: string): string[] => {
    const value = values[name];
    return Array.isArray(value) ? value : [];
  };
  return { positionals, texts, flag: (name) => values[name] === true, text, number: (name) => numbers.get(name) };
}

/** Options of lm-evaluation-harness have underscores, ours have dashes: either is read as the one that there is. */
const spelled = (options: Options, argv: readonly string[]): string[] =>
  argv.map((word) => {
    const [, name = '', rest = ''] = /^--([\w-]+)(=.*)?$/s.exec(word) ?? [];
    const other = [name.replaceAll('-', '_'), name.replaceAll('_', '-')].find((one) => Object.hasOwn(options, one));
    return name === '' || Object.hasOwn(options, name) || other === undefined ? word : `--${other}${rest}`;
  });

/** Writes an optional value that is left out as an empty one: `--name=`. A path behind the option is not its value. */
const withEmptyValues = (options: Options, argv: readonly string[]): string[] =>
  argv.map((word, at) => {
    const name = word.startsWith('--') ? word.slice(2) : '';
    const given = /^[\p{L}\d][\w-]*$/u.test(argv[at + 1] ?? '');
    return Object.hasOwn(options, name) && options[name]?.type === 'optional' && !given ? `${word}=` : word;
  });

/** Node's message on one line, ended by a full stop. */
const oneLine = (message: string): string => `${message.replace(/\s+/g, ' ').replace(/\.$/, '')}.`;

/** Of `names` the one that is at most two edits away. */
export function nearest(word: string, names: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const name of names) {
    const distance = edits(word, name);
    if (distance <= 2 && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** Levenshtein distance. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (next[j - 1] ?? 0) + 1,
        (row[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The options as lines of a help text. */
export function optionHelp(options: Options): string {
  const rows = Object.entries(options).map(([name, { short, value, type, help }]) => [
    `${short ? `-${short}, ` : ''}--${name}${type === 'flag' ? '' : type === 'optional' ? ` [${value}]` : ` ${value ?? 'N'}`}`,
    help,
  ]);
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
