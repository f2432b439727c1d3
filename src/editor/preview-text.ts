/**
 * The text of a prompt preview, with what its parts are. The prompt's own characters stand unchanged; what is not part
 * of it stands in ⟦ ⟧, so that the parts can be told without colours too.
 */
import type { PromptPreview } from '../shared/protocol.ts';

const markKinds = [
  'heading',
  'template',
  'description',
  'example',
  'question',
  'generation-prefix',
  'soft-prompt',
  'answer',
  'stop',
  'tokens',
] as const;
export type MarkKind = (typeof markKinds)[number];

/** [start, end) in UTF-16 units of the text. */
export interface Mark {
  kind: MarkKind;
  start: number;
  end: number;
}

const tokenLineLength = 72;

const isMarkKind = (kind: string): kind is MarkKind => markKinds.includes(kind as MarkKind);

/** What a hover says of a part. */
export const markMeanings: Record<MarkKind, string> = {
  heading: 'Not part of the prompt.',
  description: 'Description: the text in front of everything (`description`).',
  template: "Text of the model's chat template.",
  example: 'Few-shot example from the training split (`num_fewshot`, `fewshot_config`).',
  question: 'The question of this item (`doc_to_text`).',
  'generation-prefix': 'Text that the answer begins with (`gen_prefix`).',
  'soft-prompt': 'Learned vectors stand here, in the space of the token embeddings. They have no text.',
  answer: 'The gold answer (`doc_to_target`) with what separates it from the prompt. The model is to write this.',
  stop: 'Stop marker: generation ends here. Tuning teaches it with the answer.',
  tokens: 'The tokens of the prompt, as the chosen model reads them.',
};

/** A text on one line, control characters spelled out. */
const oneLine = (text: string): string => JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');

export function previewText(
  previews: readonly PromptPreview[],
  about: { task: string; index: number; total: number; model: string | null },
): { text: string; marks: Mark[] } {
  let text = '';
  const marks: Mark[] = [];
  const add = (kind: MarkKind | null, piece: string): void => {
    if (!piece) return;
    if (kind) marks.push({ kind, start: text.length, end: text.length + piece.length });
    text += piece;
  };
  add(
    'heading',
    `⟦${about.task}, item ${about.index + 1} of ${about.total}${about.model ? `, tokens as ${about.model} reads them` : ''}⟧`,
  );
  for (const preview of previews) {
    add(null, '\n\n');
    add('heading', `⟦${preview.mode}${preview.tokens.length > 0 ? `: ${preview.tokens.length} tokens` : ''}⟧`);
    add(null, '\n');
    const vectors = preview.softPromptVectors > 0 ? `⟦${preview.softPromptVectors} learned vectors⟧` : '';
    const behind = preview.softPromptPosition === 'suffix';
    add('soft-prompt', behind ? '' : vectors);
    for (const part of preview.parts) add(isMarkKind(part.kind) ? part.kind : null, part.text);
    add('soft-prompt', behind ? vectors : '');
    const { answer, stop } = splitStop(preview);
    add('answer', answer);
    add('stop', stop);
    add('stop', `⟦stop: ${stopWords(preview)}⟧`);
    if (preview.tokens.length > 0) {
      add(null, '\n');
      add('tokens', `⟦tokens: ${tokenLines(preview.tokens)}⟧`);
    }
  }
  return { text: `${text}\n`, marks };
}

/** Tokens with a bar between them, in lines that fit beside the file. */
function tokenLines(tokens: readonly string[]): string {
  let line = 0;
  return tokens
    .map((token, at) => {
      const piece = `${oneLine(token)}${at < tokens.length - 1 ? '│' : ''}`;
      const breaks = line > 0 && line + piece.length > tokenLineLength;
      line = breaks ? piece.length : line + piece.length;
      return breaks ? `\n${piece}` : piece;
    })
    .join('');
}

/** The stop marker that tuning teaches ends the answer, where the benchmark has one. */
function splitStop({ answer, stop }: PromptPreview): { answer: string; stop: string } {
  const marker = stop.find((one) => one && answer.endsWith(one));
  return marker ? { answer: answer.slice(0, -marker.length), stop: marker } : { answer, stop: '' };
}

const stopWords = ({ stop }: PromptPreview): string =>
  stop.length > 0 ? `${stop.map((one) => `"${oneLine(one)}"`).join(' or ')} or end of text` : 'end of text';

/** The part at an offset, the innermost where several are. */
export const markAt = (marks: readonly Mark[], offset: number): Mark | null =>
  marks.findLast(({ start, end }) => offset >= start && offset < end) ?? null;
