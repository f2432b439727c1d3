/** `softbench runs …`: what the store holds. */
import { resolve } from 'node:path';
import { formatShare, headline, likelihoodVerdict } from '../metrics/index.ts';
import { exportAdapter, openRunStore, type RunFolder, type RunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { byMode } from '../shared/modes.ts';
import type { ItemRecord } from '../shared/results.ts';
import { loadResults } from '../study/index.ts';
import type { Given } from './arguments.ts';
import { type Command, commonOptions, exitCodes, operands, storeFolder, storeOption } from './command.ts';
import { pageContent, pageOptions, writeReport } from './report.ts';
import { modeJson, resultLines } from './tables.ts';
import { table } from './terminal.ts';
import { marksOf, withoutMarkedJson, withoutMarkedLines, withoutMarkedOption } from './without-marked.ts';

export const listCommand: Command = {
  name: 'runs list',
  operands: '',
  summary: 'list the runs of a store, newest first',
  options: { ...storeOption, ...commonOptions },
  async run(given, terminal) {
    operands(given, [] as const);
    const store = openRunStore(storeFolder(given));
    const { runs: folders, unreadable } = await store.list();
    const runs = await Promise.all(folders.map(async (folder) => ({ ...folder, done: await doneOf(store, folder) })));
    if (terminal.json) {
      terminal.printJson({ store: storeFolder(given), runs: runs.map(listJson), unreadable });
      return exitCodes.done;
    }
    if (runs.length === 0) terminal.note(`There are no runs in ${storeFolder(given)}.`);
    else
      for (const line of table([
        ['run', 'job', 'status', 'items', 'F', 'S', ''],
        ...runs.map(({ run, summary, done }) => [
          run.id,
          run.group,
          run.source && run.status === 'finished' ? 'imported' : run.status,
          `${done}/${run.benchmark.items}`,
          summary ? formatShare(summary.scores.F) : '',
          summary ? formatShare(summary.scores.S) : '',
          // What there is where nothing was generated.
          summary && summary.scores.S.value === null ? headline(summary) : '',
        ]),
      ]))
        terminal.print(line);
    for (const { folder, reason } of unreadable) terminal.note(`Cannot be read: ${folder}: ${reason}`);
    return exitCodes.done;
  },
};

/** Items that a run holds. What a crash or a kill ended has no summary, or one of before: its lines are counted. */
const doneOf = async (store: RunStore, { run, summary }: RunFolder): Promise<number> =>
  run.status === 'finished' && summary && !run.predictOnly ? summary.scores.n : store.countItems(run.id);

const listJson = ({ folder, run, summary, done }: RunFolder & { done: number }): Record<string, unknown> => ({
  run: run.id,
  folder,
  group: run.group,
  status: run.status,
  message: run.message,
  created: run.created,
  ...(run.source && { source: run.source }),
  model: run.model.name,
  benchmark: run.benchmark.task,
  mode: run.mode,
  items: run.benchmark.items,
  done,
  ...(summary && modeJson({ run, summary })),
});

/** The name of a run, or of the job that it belongs to. */
export const isNamed = (name: string, { run }: RunFolder): boolean => run.id === name || run.group === name;

/** @throws HumanError where a name is neither a run nor a job of the store */
export function checkNames(names: readonly string[], runs: readonly RunFolder[], store: string): void {
  const unknown = names.find((name) => !runs.some((folder) => isNamed(name, folder)));
  if (unknown !== undefined)
    throw new HumanError('missing', `There is no run or job "${unknown}" in ${store}.`, {
      todo: 'See "softbench runs list".',
    });
}

/** Runs of names: those of runs or of jobs. */
async function named(given: Given, names: readonly string[]): Promise<RunFolder[]> {
  const store = openRunStore(storeFolder(given));
  const { runs } = await store.list();
  checkNames(names, runs, store.folder);
  const found = runs.filter((folder) => names.some((name) => isNamed(name, folder)));
  const subjects = new Set(
    found.map(({ run }) => `${run.benchmark.task} · ${run.model.name}${run.source ? ' (imported)' : ''}`),
  );
  if (subjects.size > 1)
    throw new HumanError('bad-input', `These runs do not belong together: ${[...subjects].join('; ')}.`, {
      todo: 'Name runs of one benchmark and one model.',
    });
  return found;
}

/** One item's verdict; where nothing was generated, that of the likelihoods. */
function verdictWords(item: ItemRecord): string {
  if (item.generated !== false) return item.inFormat ? (item.right ? 'right' : 'wrong') : (item.cause ?? 'not scored');
  const verdict = likelihoodVerdict(item);
  return verdict === null ? 'likelihood' : verdict ? 'right (likelihood)' : 'wrong (likelihood)';
}

export const showCommand: Command = {
  name: 'runs show',
  operands: 'RUN|JOB…',
  summary: "show a job's results, or those of runs of one benchmark and model side by side",
  options: {
    ...storeOption,
    items: { type: 'flag', help: 'print every item too' },
    report: { type: 'text', value: 'FILE', help: 'write the results page as one HTML file' },
    ...withoutMarkedOption,
    ...pageOptions,
    ...commonOptions,
  },
  async run(given, terminal) {
    if (given.positionals.length === 0) operands(given, ['RUN|JOB'] as const);
    const store = openRunStore(storeFolder(given));
    const ids = (await named(given, given.positionals)).sort((a, b) => byMode(a.run, b.run)).map(({ run }) => run.id);
    const view = await loadResults(store, { runs: ids });
    const outcomes = await Promise.all(
      (view?.columns ?? []).map(async ({ run, label, summary, done, total }) => ({
        run,
        ...(label !== run.mode && { label }),
        summary,
        done,
        total,
        items: await store.readItems(run.id),
        problems: await store.problems(run.id),
      })),
    );
    await writeReport(given.text('report'), ids, store, terminal, pageContent(given));
    const finished = outcomes.flatMap(({ summary, ...rest }) => (summary ? [{ ...rest, summary }] : []));
    const marked = given.flag('without-marked') ? await marksOf(store, ids) : null;
    if (terminal.json) {
      terminal.printJson({
        model: view?.model.name,
        benchmark: view?.benchmark.task,
        ...(marked && { withoutMarked: withoutMarkedJson(finished, marked.marks) }),
        modes: finished.map((outcome) => ({
          ...modeJson(outcome),
          status: outcome.run.status,
          problems: outcome.problems,
          ...(given.flag('items') && { items: outcome.items }),
        })),
      });
      return exitCodes.done;
    }
    if (finished.length) for (const line of resultLines(finished)) terminal.print(line);
    if (marked) for (const line of withoutMarkedLines(finished, marked.marks)) terminal.print(line);
    for (const problem of marked?.problems ?? []) terminal.note(problem);
    for (const { run, done, total, problems } of outcomes) {
      if (run.status !== 'finished')
        terminal.print(
          `${run.mode} is ${run.status}: ${done} of ${total} items.${run.message ? ` ${run.message}` : ''}`,
        );
      for (const problem of problems) terminal.note(`${run.id}: ${problem}`);
      for (const note of run.notes) terminal.note(`Note (${run.mode}): ${note}`);
    }
    if (given.flag('items'))
      for (const { run, items } of outcomes)
        for (const item of items)
          terminal.print(
            `${run.mode} ${item.index}: ${verdictWords(item)} · gold ${JSON.stringify(item.gold)} · ${JSON.stringify(item.output)}`,
          );
    return exitCodes.done;
  },
};

export const adapterCommand: Command = {
  name: 'runs export-adapter',
  operands: 'RUN DIR',
  summary: "write a run's soft prompt as a PEFT prompt-tuning adapter folder",
  options: {
    ...storeOption,
    'base-model': { type: 'text', value: 'NAME', help: 'the PyTorch model it belongs to: Hugging Face id or folder' },
    ...commonOptions,
  },
  async run(given, terminal) {
    const [name, folder] = operands(given, ['RUN', 'DIR'] as const);
    const store = openRunStore(storeFolder(given));
    for (const { run } of await named(given, [name])) {
      const softPrompt = await store.readSoftPrompt(run.settings.softPromptFrom ?? run.id);
      if (!softPrompt) continue;
      const target = resolve(folder);
      await exportAdapter(target, softPrompt, given.text('base-model') ?? run.model.name);
      if (terminal.json) terminal.printJson({ run: run.id, folder: target, vectors: softPrompt.vectors });
      else terminal.print(`${softPrompt.vectors} vectors of ${run.id} written to ${target}`);
      return exitCodes.done;
    }
    throw new HumanError('missing', `"${name}" has no soft prompt.`, { todo: 'Tune one with "softbench tune".' });
  },
};
