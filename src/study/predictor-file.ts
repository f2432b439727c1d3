/** The predictor page as one HTML file: the page with its data, for any browser, without what is personal. */
import type { PredictorView } from '../shared/predictions.ts';
import { type Person, thisPerson, withoutPersonalPaths } from './personal-paths.ts';
import { bundledPage, pageHtml } from './report.ts';

/**
 * @param pages folder with the bundled page (`predictor.js`, `predictor.css`)
 * @throws HumanError where the page is not there
 */
export async function predictorFile(view: PredictorView, pages: string): Promise<string> {
  return pageHtml({
    title: 'Predictor',
    data: { page: 'predictor', view: shareablePredictor(view) },
    ...(await bundledPage(pages, 'predictor')),
  });
}

/** Without what is under way, and without the places of records on this machine. */
export function shareablePredictor(view: PredictorView, person: Person = thisPerson()): PredictorView {
  const folders = view.records?.sources.map(({ path }) => path) ?? [];
  return withoutPersonalPaths({ ...view, work: null, problem: null }, person, folders);
}
