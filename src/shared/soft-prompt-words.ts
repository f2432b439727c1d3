/** Where a run's soft prompt stands, in words: said wherever its mode is named, since it is a variant of the method. */
import { type SoftPromptPosition, usesSoftPrompt } from './modes.ts';
import type { RunFile } from './results.ts';

/** Where the soft prompt of a run stands; null in modes without one. */
export const positionOf = ({ mode, settings }: Pick<RunFile, 'mode' | 'settings'>): SoftPromptPosition | null =>
  usesSoftPrompt(mode) ? (settings.softPromptPosition ?? 'prefix') : null;

/** The name of a run's mode, with what sets it apart from other runs in that mode. */
export const modeTitle = (run: Pick<RunFile, 'mode' | 'settings'>): string =>
  positionOf(run) === 'suffix' ? `${run.mode} (suffix)` : run.mode;

export const suffixNote =
  'The soft prompt stands between the text and the answer (position: suffix), not in front of the text as in the published method.';
