/** How an item is put to the model. The order is the order in which they are shown and run. */
export const promptModes = ['zero-shot', 'few-shot', 'soft-prompt', 'few-shot+soft-prompt'] as const;
export type PromptMode = (typeof promptModes)[number];

export const isPromptMode = (value: unknown): value is PromptMode => promptModes.includes(value as PromptMode);
export const usesSoftPrompt = (mode: PromptMode): boolean => mode === 'soft-prompt' || mode === 'few-shot+soft-prompt';
export const usesExamples = (mode: PromptMode): boolean => mode === 'few-shot' || mode === 'few-shot+soft-prompt';
