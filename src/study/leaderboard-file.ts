/** The leaderboard as one HTML file: the page with its data, for any browser, without what is personal. */
import type { LeaderboardView } from '../shared/protocol.ts';
import { type Person, thisPerson, withoutPersonalPaths } from './personal-paths.ts';
import { bundledPage, pageHtml } from './report.ts';

/**
 * @param state how the page is to look, as the page keeps it; what it hides is not in the file
 * @param pages folder with the bundled page (`leaderboard.js`, `leaderboard.css`)
 * @throws HumanError where the page is not there
 */
export async function leaderboardFile(view: LeaderboardView, state: unknown, pages: string): Promise<string> {
  return pageHtml({
    title: 'Leaderboard',
    data: { page: 'leaderboard', ...shareableLeaderboard(view, state) },
    ...(await bundledPage(pages, 'leaderboard')),
  });
}

/** Without what the state hides, without runs under way, and without the places of models and benchmarks on this machine. */
export function shareableLeaderboard(
  view: LeaderboardView,
  state: unknown,
  person: Person = thisPerson(),
): { view: LeaderboardView; state: unknown } {
  const { hiddenModels, hiddenBenchmarks, ...kept } = (state ?? {}) as Record<string, unknown>;
  const isIn = (list: unknown, name: string): boolean => Array.isArray(list) && list.includes(name);
  const showsModel = (name: string): boolean => !isIn(hiddenModels, name);
  const showsTask = (task: string): boolean => !isIn(hiddenBenchmarks, task);
  const isShown = ({ model, task }: { model: string; task: string }): boolean => showsModel(model) && showsTask(task);
  // Nothing predicts in a file: the predicted scores that are shown stay.
  const { running: _, predictions: __, links, predicted, ...rest } = view;
  const shown: LeaderboardView = {
    ...rest,
    benchmarks: view.benchmarks.filter(({ task }) => showsTask(task)),
    models: view.models.filter(({ name }) => showsModel(name)),
    cells: view.cells.filter(isShown),
    ...(links && { links: links.filter(({ base, postTrained }) => showsModel(base) && showsModel(postTrained)) }),
    ...(predicted && { predicted: predicted.filter(isShown) }),
  };
  return withoutPersonalPaths({ view: shown, state: kept }, person);
}
