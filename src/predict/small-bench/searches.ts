/** All searches for a small bench: one row each. */
import { kMeansSearch, kMeansValueSearch } from './clustered.ts';
import { beamSearch, greedySearch } from './constructive.ts';
import type { SubsetSearch } from './search.ts';
import { annealingSearch, geneticSearch, randomSearch } from './stochastic.ts';

export const searches: readonly SubsetSearch[] = [
  greedySearch,
  beamSearch,
  kMeansSearch,
  kMeansValueSearch,
  annealingSearch,
  geneticSearch,
  randomSearch,
];

export const searchOf = (name: string): SubsetSearch | undefined => searches.find((one) => one.name === name);
