/** A prompt by its segments: what they are called, and where the soft prompt stands among them. */
import { usesSoftPrompt } from '../../src/shared/modes.ts';
import type { ItemDetail, RunColumn } from '../../src/shared/protocol.ts';
import { positionOf } from '../../src/shared/soft-prompt-words.ts';

export type PromptPart = ItemDetail['prompts'][number]['parts'][number];

/** What the segments are called; one row a kind. */
const names: Record<string, string> = {
  description: 'Description',
  example: 'Example',
  question: 'Question',
  'generation-prefix': 'Start of the answer',
  template: 'Chat template',
};

const partName = (kind: string): string => names[kind] ?? kind;

/** The text of a prompt as the model got it. */
export const promptText = (parts: readonly PromptPart[]): string =>
  parts
    .filter(({ kind }) => kind !== 'note' && kind !== 'soft-prompt')
    .map(({ text }) => text)
    .join('');

/** Segments in their order, with what they are called: examples by their number, the soft prompt where it stands. */
export function promptSegments(
  parts: readonly PromptPart[],
  column: RunColumn | undefined,
): { name: string; part: PromptPart }[] {
  const examples = parts.filter(({ kind }) => kind === 'example').length;
  let example = 0;
  const segments = parts
    .filter(({ kind }) => kind !== 'note' && kind !== 'soft-prompt')
    .map((part) => ({
      part,
      name: part.kind === 'example' && examples > 1 ? `Example ${++example} of ${examples}` : partName(part.kind),
    }));
  if (!column || !usesSoftPrompt(column.run.mode)) return segments;
  const marker = { name: softPromptWords(column), part: { kind: 'soft-prompt', text: '' } };
  return positionOf(column.run) === 'suffix' ? [...segments, marker] : [marker, ...segments];
}

const softPromptWords = ({ run }: RunColumn): string => {
  const vectors = run.settings.softPrompt?.vectors;
  return vectors ? `soft prompt: ${vectors} learned vectors` : 'soft prompt: learned vectors';
};
