/** Which split a section shows, where it shows one at a time. */
import type { SplitFit } from '../../src/shared/predictions.ts';
import type { DropdownControl } from '../ui.ts';

/**
 * Offers `splits` in the dropdown.
 * @param wanted name of the split that was chosen; it need not be there
 * @returns the split that was chosen, else the first; undefined where there is none
 */
export function shownSplit(
  choice: DropdownControl<string>,
  splits: readonly SplitFit[],
  wanted: string,
): SplitFit | undefined {
  const shown = splits.find(({ split }) => split === wanted) ?? splits[0];
  if (shown)
    choice.set(
      splits.map(({ split, title }) => ({ value: split, label: `${split} · ${title}` })),
      shown.split,
    );
  return shown;
}
