/** Small graphs for every gradient rule: shapes that broadcast, axes from both ends, old and new opsets. */
import type { Case } from './case.ts';
import { elementwiseCases } from './elementwise.ts';
import { linalgCases } from './linalg.ts';
import { movementCases } from './movement.ts';
import { quantisedCases } from './quantised.ts';
import { reductionCases } from './reduction.ts';

export type { Case } from './case.ts';

/** By operator. A rule without a row here fails the test. */
export const ruleCases: Readonly<Record<string, Case[]>> = {
  ...elementwiseCases,
  ...movementCases,
  ...reductionCases,
  ...linalgCases,
  ...quantisedCases,
};
