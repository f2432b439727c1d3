/** Many runs at once: the leaderboard, rankings, and what a results page shows. Pure functions over the store's list. */
export { columnLabels } from './columns.ts';
export { type ComparedRun, comparisonWarnings } from './comparability.ts';
export { leaderboardCsv, leaderboardMarkdown } from './export.ts';
export { type GroupScores, groupTable, type ScoredGroup, scoresOfGroups } from './groups.ts';
export { type LeaderboardOptions, leaderboard, type RunningRun, runningCells } from './leaderboard.ts';
export { leaderboardFile, shareableLeaderboard } from './leaderboard-file.ts';
export { ItemEvidence, type ItemReader, type RankedModels, rankedModels } from './leaderboard-ranks.ts';
export { declaredBases, linkModels, linksFile, linksText, parseLinks, readLinks, type SaidLinks } from './links.ts';
export { type Person, thisPerson, withoutPaths, withoutPersonalPaths } from './personal-paths.ts';
export { predictorFile, shareablePredictor } from './predictor-file.ts';
export { bundledPage, embeddedJson, type PageParts, pageFrame, pageHtml, pageName } from './report.ts';
export {
  checkComparable,
  checkOneBenchmark,
  loadResults,
  newestPerMode,
  type ResultsOf,
  resultsView,
  resumableGroup,
  shownRuns,
} from './results.ts';
