// How the mocha runs tell what happened: one line of JSON for each test, appended to the file that
// SOFTBENCH_TEST_RESULTS names, as it ends. The extension host's own output does not reach the terminal.
import { appendFileSync } from 'node:fs';
import { inspect } from 'node:util';
import Mocha from 'mocha';

export type ReportLine =
  | { kind: 'test'; title: string; state: 'passed' | 'failed' | 'pending'; milliseconds: number; error?: string }
  | { kind: 'note'; text: string }
  /** Written last; a report without it was cut short. */
  | { kind: 'end'; failures: number };

function write(line: ReportLine): void {
  const file = process.env.SOFTBENCH_TEST_RESULTS;
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** Prints a line in the report of the run: a measured figure, which is not asserted. */
export function note(text: string): void {
  write({ kind: 'note', text });
}

/** Runs bundled test files with mocha (`describe` and `it`) and returns the number of failures. */
export function runMocha(files: string[], options: Mocha.MochaOptions = {}): Promise<number> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 120_000, reporter: 'min', ...options });
  for (const file of files) mocha.addFile(file);
  // The base reporter prints nothing by itself: the report lines are read by whoever started the run.
  mocha.reporter(Mocha.reporters.Base);
  return new Promise((resolve) => {
    const runner = mocha.run((failures) => {
      write({ kind: 'end', failures });
      resolve(failures);
    });
    runner.on('pass', (test) =>
      write({ kind: 'test', title: test.fullTitle(), state: 'passed', milliseconds: test.duration ?? 0 }),
    );
    runner.on('pending', (test) => write({ kind: 'test', title: test.fullTitle(), state: 'pending', milliseconds: 0 }));
    runner.on('fail', (test, error: unknown) =>
      write({
        kind: 'test',
        title: test.fullTitle(),
        state: 'failed',
        milliseconds: test.duration ?? 0,
        error: error instanceof Error ? (error.stack ?? String(error)) : inspect(error),
      }),
    );
  });
}
