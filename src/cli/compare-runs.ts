/** `softbench runs compare`: runs of one benchmark side by side, on the items that they share. */
import {
  compareRuns,
  comparisonFigures,
  gainInWords,
  pairedInWords,
  together,
  verdictCodes,
} from '../metrics/index.ts';
import { openRunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { isLikelihoodsOnly } from '../shared/likelihood-words.ts';
import type { ComparisonWarning } from '../shared/protocol.ts';
import { checkComparable, loadResults } from '../study/index.ts';
import { type Command, commonOptions, exitCodes, operands, storeFolder, storeOption } from './command.ts';
import { pageContent, pageOptions, writeReport } from './report.ts';
import { checkNames, isNamed } from './runs.ts';
import { type ModeOutcome, modeJson, scoreLines } from './tables.ts';
import { table } from './terminal.ts';
import { marksOf, withoutMarkedJson, withoutMarkedLines, withoutMarkedOption } from './without-marked.ts';

type Compared = ModeOutcome & { label: string };

export const compareRunsCommand: Command = {
  name: 'runs compare',
  operands: 'RUN RUN…',
  summary: 'compare runs of one benchmark on the items that they share, of one model or of several',
  details:
    'The others are compared with the first. What makes the runs incomparable, or comparable with care, is said first.\n' +
    'A job stands for all its runs.',
  options: {
    ...storeOption,
    report: { type: 'text', value: 'FILE', help: 'write the comparison as one HTML file too' },
    ...withoutMarkedOption,
    ...pageOptions,
    ...commonOptions,
  },
  async run(given, terminal) {
    if (given.positionals.length === 0) operands(given, ['RUN', 'RUN'] as const);
    const store = openRunStore(storeFolder(given));
    const { runs } = await store.list();
    checkNames(given.positionals, runs, store.folder);
    const named = [...new Set(given.positionals.flatMap((name) => runs.filter((folder) => isNamed(name, folder))))];
    checkComparable(named);
    const view = await loadResults(store, { runs: named.map(({ run }) => run.id) });
    const compared = await Promise.all(
      (view?.columns ?? []).flatMap(({ run, label, summary }) =>
        summary ? [store.readItems(run.id).then((items): Compared => ({ run, label, summary, items }))] : [],
      ),
    );
    const [base, ...others] = compared;
    if (!view || !base || others.length === 0)
      throw new HumanError('bad-input', 'Fewer than two of these runs have scores.', {
        todo: 'Let them finish, or resume those that were stopped ("softbench runs list" says which).',
      });
    await writeReport(
      given.text('report'),
      view.columns.map(({ run }) => run.id),
      store,
      terminal,
      pageContent(given),
    );
    const comparisons = pairwise(base, others);
    const ids = compared.map(({ run }) => run.id);
    const marked = given.flag('without-marked') ? await marksOf(store, ids) : null;
    if (terminal.json) {
      terminal.printJson({
        benchmark: view.benchmark.task,
        ...(marked && { withoutMarked: withoutMarkedJson(compared, marked.marks) }),
        warnings: view.warnings,
        runs: compared.map((each) => ({ label: each.label, model: each.run.model.name, ...modeJson(each) })),
        base: base.run.id,
        comparisons: comparisons.map(({ other, comparison, among }) => ({
          run: other.run.id,
          label: other.label,
          ...(comparison
            ? { ...comparison, pValueHolm: among.corrected, comparisons: among.comparisons }
            : { paired: null }),
        })),
      });
      return exitCodes.done;
    }
    for (const line of warningLines(view.warnings, compared)) terminal.print(line);
    for (const line of scoreLines(compared, `${view.benchmark.task} · ${compared.length} runs compared`))
      terminal.print(line);
    for (const { other, comparison, among } of comparisons) {
      const [a, b] = [base.label, other.label];
      if (!comparison) terminal.print(`${b} and ${a} have no item in common that is judged in both.`);
      else {
        if (comparison.gain) terminal.print(gainInWords(a, b, comparison.gain));
        terminal.print(`${comparison.by === 'LL' ? 'LL. ' : ''}${pairedInWords(a, b, comparison.paired, among)}`);
      }
      terminal.print();
    }
    for (const line of table(
      [
        [`against ${base.label}`, ...comparisonFigures.map(({ label }) => label)],
        ...comparisons.flatMap(({ other, comparison, among }) =>
          comparison ? [[other.label, ...comparisonFigures.map(({ of }) => of({ comparison, among }))]] : [],
        ),
      ],
      comparisonFigures.map((_, at) => at + 1),
    ))
      terminal.print(line);
    if (marked) for (const line of ['', ...withoutMarkedLines(compared, marked.marks)]) terminal.print(line);
    for (const problem of marked?.problems ?? []) terminal.note(problem);
    return exitCodes.done;
  },
};

/** Each against the base, on the items of both. */
function pairwise(base: Compared, others: readonly Compared[]) {
  const by = [base, ...others].some(({ run }) => isLikelihoodsOnly(run)) ? 'LL' : 'S';
  const mine = verdictCodes(base.items);
  return together(others.map((other) => ({ other, comparison: compareRuns(mine, verdictCodes(other.items), by) })));
}

const severities: Record<ComparisonWarning['severity'], string> = {
  incomparable: 'Not comparable',
  care: 'Compare with care',
};

function warningLines(warnings: readonly ComparisonWarning[], compared: readonly Compared[]): string[] {
  const labelOf = (run: string): string => compared.find((each) => each.run.id === run)?.label ?? run;
  return warnings.flatMap(({ severity, what, sentence, values }, at) => [
    `${severities[severity]}: ${what}. ${sentence}`,
    ...values.map(({ run, value }) => `  ${labelOf(run)}: ${value}`),
    ...(at === warnings.length - 1 ? [''] : []),
  ]);
}
