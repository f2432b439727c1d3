// Runs bundled test files with mocha in this process:  node run.mjs FILE…
// Window tests (*.e2e-test.ts) drive a real VS Code through Chromium; *.cli-test.ts run the command line.
import { resolve } from 'node:path';
import { runMocha } from '../vscode/report.ts';

const failures = await runMocha(
  process.argv.slice(2).map((file) => resolve(file)),
  { timeout: 600_000 },
);
// Whatever a failed test has left running must not keep this process.
process.exit(failures === 0 ? 0 : 1);
