/** How an item is put to the model. The order is the order in which they are shown and run. */
export const promptModes = ['zero-shot', 'few-shot', 'soft-prompt', 'few-shot+soft-prompt'] as const;
export type PromptMode = (typeof promptModes)[number];

export const isPromptMode = (value: unknown): value is PromptMode => promptModes.includes(value as PromptMode);
/** Modes in the order in which they are shown everywhere. */
export const byMode = (a: { mode: PromptMode }, b: { mode: PromptMode }): number =>
  promptModes.indexOf(a.mode) - promptModes.indexOf(b.mode);
export const usesSoftPrompt = (mode: PromptMode): boolean => mode === 'soft-prompt' || mode === 'few-shot+soft-prompt';
export const usesExamples = (mode: PromptMode): boolean => mode === 'few-shot' || mode === 'few-shot+soft-prompt';

/**
 * Where a soft prompt stands: in front of the whole input, as in the published method, or between the text and the
 * answer. Behind the text, the text's keys and values do not depend on it.
 */
export const softPromptPositions = ['prefix', 'suffix'] as const;
export type SoftPromptPosition = (typeof softPromptPositions)[number];

export const isSoftPromptPosition = (value: unknown): value is SoftPromptPosition =>
  softPromptPositions.includes(value as SoftPromptPosition);
