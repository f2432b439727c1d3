/** What is said of runs in which nothing was generated: they have no F, S, K and L, and no zero in their place. */
import type { RunFile } from './results.ts';

export const isLikelihoodsOnly = (run: Pick<RunFile, 'settings'>): boolean => run.settings.generates === false;

export const likelihoodsOnlyNote =
  'Only likelihoods were measured: nothing was generated, so there is no format to follow and no F, S, K or L.';
