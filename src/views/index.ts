/** What stands around the editor: commands, trees, panels, status bar, and the jobs behind them. */
export { registerCommands } from './commands.ts';
export { leaderboardTabType, leaderboardViewType } from './leaderboard-view.ts';
export { predictorViewType } from './predictor-panel.ts';
export { resultsViewType } from './results-panels.ts';
export { onSettingsChange, settings } from './settings.ts';
export { StatusBar } from './status-bar.ts';
export { BenchmarksTree, ModelsTree, RunsTree } from './trees.ts';
export { Workbench } from './workbench.ts';
