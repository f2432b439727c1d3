/** The commands of `softbench`: one row each. */
import { clearCommand, statusCommand } from './cache.ts';
import { checkCommand } from './check.ts';
import type { Command } from './command.ts';
import { compareRunsCommand } from './compare-runs.ts';
import { downloadDatasetCommand } from './datasets.ts';
import { exportCommand, importCommand } from './exchange.ts';
import { compareCommand, evaluateCommand, tuneCommand } from './job-commands.ts';
import { leaderboardCommand } from './leaderboard.ts';
import { inspectCommand } from './models.ts';
import { downloadModelCommand } from './models-download.ts';
import { predictCommand } from './predict.ts';
import { installCommand, providersCommand, removeCommand } from './providers.ts';
import { rescoreCommand } from './rescore.ts';
import { adapterCommand, listCommand, showCommand } from './runs.ts';
import { smallBenchCommand } from './small-bench.ts';
import { verifyCommand } from './verify.ts';

export const commands: readonly Command[] = [
  tuneCommand,
  evaluateCommand,
  compareCommand,
  rescoreCommand,
  checkCommand,
  downloadDatasetCommand,
  inspectCommand,
  downloadModelCommand,
  verifyCommand,
  providersCommand,
  installCommand,
  removeCommand,
  listCommand,
  showCommand,
  compareRunsCommand,
  adapterCommand,
  importCommand,
  exportCommand,
  leaderboardCommand,
  predictCommand,
  smallBenchCommand,
  statusCommand,
  clearCommand,
];
