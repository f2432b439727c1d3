/** `softbench models verify`: whether model folders compute what their PyTorch references say. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import type { VerifyReport } from '../shared/protocol.ts';
import { type Command, commonOptions, engineOptions, engineSettings, exitCodes } from './command.ts';
import { type Terminal, table } from './terminal.ts';

const hasReference = (folder: string): boolean => existsSync(join(folder, 'reference.json'));
const isModel = (folder: string): boolean =>
  ['config.json', 'genai_config.json'].some((name) => existsSync(join(folder, name)));

/** The model folders that the arguments mean: themselves, or those with a reference inside a folder that is no model. */
export function modelFolders(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const folder = resolve(path);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory() || isModel(folder) || hasReference(folder))
      return [folder];
    const inside = readdirSync(folder)
      .map((name) => join(folder, name))
      .filter((each) => statSync(each, { throwIfNoEntry: false })?.isDirectory() && hasReference(each))
      .sort();
    if (inside.length > 0) return inside;
    throw new HumanError('missing', 'This is no model folder, and no folder in it has a reference.json.', {
      place: { file: folder },
      todo: 'Give model folders, or a folder that holds them. docs/architecture.md says what a reference is.',
    });
  });
}

export const verifyCommand: Command = {
  name: 'models verify',
  operands: 'DIR…',
  summary: 'run the references of model folders (reference.json, reference.safetensors) and compare',
  details: [
    'DIR is a model folder, or a folder that holds some. Compares gradients, losses of tuning steps, logits,',
    'log-likelihoods and greedy generations with the reference. Ends with 1 where a model is not as its reference says.',
  ].join('\n'),
  options: { ...engineOptions, ...commonOptions },
  async run(given, terminal) {
    if (given.positionals.length === 0)
      throw new HumanError('bad-input', 'DIR is missing.', { todo: 'See the help with --help.' });
    const folders = modelFolders(given.positionals);
    const engine = engineSettings(given);
    const { signal, worker } = terminal.surroundings;
    const verify = (folder: string, note: (message: string) => void): Promise<VerifyReport> =>
      worker.call.verifyModel({ folder, engine }, { signal, onProgress: ({ message }) => note(message) });
    const [only] = folders;
    if (folders.length === 1 && only !== undefined) {
      const report = await verify(only, (message) => terminal.note(message));
      if (terminal.json) terminal.printJson(report);
      else for (const line of reportLines(report)) terminal.print(line);
      return report.ok ? exitCodes.done : exitCodes.failed;
    }
    const reports: VerifyReport[] = [];
    for (const [at, folder] of folders.entries()) {
      const say = noteOf(terminal, `[${at + 1}/${folders.length}] ${basename(folder)}`);
      say(null);
      try {
        reports.push(await verify(folder, say));
      } catch (thrown) {
        // One folder that does not open must not hide what is known of the others.
        if (!(thrown instanceof HumanError) || thrown.kind === 'cancelled') throw thrown;
        reports.push(unopened(folder, thrown));
      }
      const report = reports.at(-1);
      if (report && !report.ok) terminal.note(`  ${report.reason ?? 'not as its reference says'}`);
    }
    const ok = reports.every((report) => report.ok);
    if (terminal.json) terminal.printJson({ ok, models: reports });
    else for (const line of tableLines(reports)) terminal.print(line);
    return ok ? exitCodes.done : exitCodes.failed;
  },
};

/** On a terminal one line that is written over; elsewhere one line a folder. */
function noteOf(terminal: Terminal, head: string): (message: string | null) => void {
  const { stderr } = terminal.surroundings;
  return (message) => {
    if (message === null) terminal.note(head);
    else if (stderr.isTTY && !terminal.quiet) stderr.write(`\u001b[1A\u001b[2K${head}: ${message}\n`);
  };
}

const unopened = (folder: string, error: HumanError): VerifyReport => ({
  folder,
  name: basename(folder),
  exporter: null,
  ok: false,
  gradient: null,
  losses: null,
  logits: null,
  log_likelihood: null,
  generation: null,
  as_run: null,
  reason: error.sentence,
});

const figure = (value: number | undefined): string => (value === undefined ? '–' : value.toExponential(1));
const equalTokens = (generation: VerifyReport['generation']): string =>
  generation ? `${generation.equal}/${generation.compared}` : '–';

/** One row a folder: the figures, and those of the file as it runs where it computes otherwise. */
export function tableLines(reports: readonly VerifyReport[]): string[] {
  const rows = reports.map((report) => [
    report.name,
    shorten(report.exporter ?? '–', 44),
    figure(report.gradient?.relative_error),
    figure(report.losses?.max_abs),
    figure(report.logits?.max_abs),
    figure(report.log_likelihood?.max_abs),
    equalTokens(report.generation),
    report.as_run?.logits ? `${figure(report.as_run.logits.max_abs)} of ${figure(report.as_run.allowed)}` : '',
    report.ok ? 'ok' : 'FAILED',
  ]);
  const head = ['folder', 'exported by', 'gradient', 'losses', 'logits', 'log-lik.', 'tokens', 'as run', ''];
  const failed = reports.filter(({ ok }) => !ok);
  return [
    ...table([head, ...rows], [2, 3, 4, 5, 6, 7]),
    '',
    'gradient: relative L2 error; losses, logits, log-likelihoods: largest difference; tokens: equal/compared;',
    'as run: logits of files that round activations, of what their reference allows.',
    '',
    failed.length
      ? `${failed.length} of ${reports.length} are not as their references say:`
      : `All ${reports.length} compute what their references say.`,
    ...failed.map(({ name, reason }) => `  ${name}: ${reason ?? ''}`),
  ];
}

const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

function reportLines(report: VerifyReport): string[] {
  const { gradient, losses, logits, log_likelihood: logLikelihood, generation, as_run: asRun } = report;
  const error = (value: number | undefined): string =>
    value === undefined ? 'not in the reference' : value.toExponential(2);
  const tokens = (counts: VerifyReport['generation']): string =>
    counts ? `${counts.equal} of ${counts.compared} equal` : 'not in the reference';
  return [
    ...table([
      ['gradient', `relative error ${error(gradient?.relative_error)}`],
      ['losses', `largest difference ${error(losses?.max_abs)}`],
      ['logits', `largest difference ${error(logits?.max_abs)}`],
      ['log-likelihoods', `largest difference ${error(logLikelihood?.max_abs)}`],
      ['generations', tokens(generation)],
    ]),
    ...(asRun
      ? [
          '',
          'These are of its weights in float32. The file itself rounds values as it runs:',
          ...table([
            ['logits', `largest difference ${error(asRun.logits?.max_abs)} (allowed ${error(asRun.allowed)})`],
            ['log-likelihoods', `largest difference ${error(asRun.log_likelihood?.max_abs)}`],
            ['generations', tokens(asRun.generation)],
          ]),
        ]
      : []),
    '',
    report.ok ? 'The model computes what its reference says.' : `It does not: ${report.reason ?? 'see above'}`,
  ];
}
