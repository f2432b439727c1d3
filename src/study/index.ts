/** Many runs at once: the leaderboard, rankings, and what a results page shows. Pure functions over the store's list. */
export { leaderboardCsv, leaderboardMarkdown } from './export.ts';
export { type GroupScores, groupTable, type ScoredGroup, scoresOfGroups } from './groups.ts';
export { leaderboard } from './leaderboard.ts';
export { type RankedMetric, type RankedModel, rankModels } from './ranking.ts';
export { type PageParts, pageHtml } from './report.ts';
export { loadResults, newestPerMode, type ResultsOf, resultsView, resumableGroup } from './results.ts';
