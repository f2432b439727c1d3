/** Options that a question lists behind letters, and an answer that is one of these letters. */
import type { Reading } from '../shared/results.ts';
import { strip } from './python.ts';
import type { ReaderContext } from './readers.ts';

/** Texts that a question lists behind the letters A, B, C …: `A. text`, `(A) text`, `A) text`. */
export function listedOptions(question: string): string[] {
  const found: string[] = [];
  for (const match of question.matchAll(
    /(?:^|\n|\s{2,}|\s(?=\())[ \t]*\(?([A-Z])[).:][ \t]*([^\n]*?)(?=\s+\(?[B-Z]\)[ \t]|\n|$)/g,
  ))
    if (match[1]?.charCodeAt(0) === 65 + found.length) found.push(strip(match[2] ?? ''));
  return found.length >= 2 ? found : [];
}

/** The option that a lone letter names, where the question lists all options by letters; null otherwise. */
export function letterAsOption(output: string, { options, question }: ReaderContext): Reading | null {
  const listed = listedOptions(question);
  const match = /^\(?([A-Z])[).]?$/.exec(strip(output));
  const option = options[(match?.[1]?.charCodeAt(0) ?? 0) - 65];
  if (!match || option === undefined || listed.length !== options.length) return null;
  const start = output.indexOf(match[0]);
  return { answer: option, span: [start, start + match[0].length] };
}
