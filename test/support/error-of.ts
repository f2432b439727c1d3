import type { HumanError } from '../../src/shared/errors.ts';

/** The error that a promise ends with; it must end with one. */
export const errorOf = (promise: Promise<unknown>): Promise<HumanError> =>
  promise.then(
    () => {
      throw new Error('it should have failed');
    },
    (error: HumanError) => error,
  );
