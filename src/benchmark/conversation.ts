/**
 * A prompt as a conversation: system text, examples as question and answer, the question itself. Written as plain text or
 * with a model's chat template, as lm-evaluation-harness 0.4.13 does it (ConfigurableTask.fewshot_context).
 */
import { endsWithSpace, startsWithSpace } from './python.ts';
import type { Chat, ChatMessage, RenderedPrompt } from './types.ts';

/** One message. `delimiter` stands behind it in plain text only: a chat template has separators of its own. */
export interface Message extends ChatMessage {
  delimiter: string;
}

/** Messages that are one part of a prompt. */
export interface Part {
  kind: Exclude<RenderedPrompt['parts'][number]['kind'], 'template'>;
  messages: readonly Message[];
}

/** Joins two texts with the delimiter only where neither has a space at the border (the harness's maybe_delimit). */
export function join(before: string, after: string, delimiter = ' '): string {
  if (before === '' || after === '') return before + after;
  return endsWithSpace(before) || startsWithSpace(after) ? before + after : before + delimiter + after;
}

/** Does neither text have a space where they meet? An empty question needs none. */
const meetWithoutSpace = (before: string, after: string): boolean =>
  before !== '' && !endsWithSpace(before) && !startsWithSpace(after);

/**
 * Question and answer as messages (build_qa_turn). The delimiter stands behind the question where an answer follows, or
 * where the given beginning of an answer needs it; an answer follows its beginning with a space where it needs one.
 * @param answer null for the question that is asked
 */
export function turnOf(
  question: string,
  answer: string | null,
  prefix: string,
  delimiters: { target: string; example: string },
): { question: Message; answer: Message | null } {
  const answered = answer !== null && answer !== '';
  const delimited = (answered && prefix === '') || (prefix !== '' && meetWithoutSpace(question, prefix));
  return {
    question: { role: 'user', content: question, delimiter: delimited ? delimiters.target : '' },
    answer: answered
      ? { role: 'assistant', content: join(prefix, answer), delimiter: delimiters.example }
      : prefix === ''
        ? null
        : { role: 'assistant', content: prefix, delimiter: '' },
  };
}

const plain = (messages: readonly Message[]): string =>
  messages.map(({ content, delimiter }) => content + delimiter).join('');

/** Everything between system text and the beginning of an answer as one user message (multiturn_to_singleturn). */
function asOneTurn(messages: readonly Message[]): ChatMessage[] {
  const system = messages[0]?.role === 'system' ? messages[0] : null;
  const rest = system ? messages.slice(1) : [...messages];
  const prefix = rest.at(-1)?.role === 'assistant' ? rest.pop() : undefined;
  const last = rest.at(-1);
  const content = plain(rest.slice(0, -1)) + (last?.content ?? '');
  return [...(system ? [messageOf(system)] : []), { role: 'user', content }, ...(prefix ? [messageOf(prefix)] : [])];
}

const messageOf = ({ role, content }: ChatMessage): ChatMessage => ({ role, content });

/** Writes the parts as the model will read them. `chat` null: plain text. */
export function writePrompt(parts: readonly Part[], chat: Chat | null): RenderedPrompt {
  const shown = parts.map(({ kind, messages }) => ({ kind, text: plain(messages) })).filter(({ text }) => text !== '');
  if (!chat?.template) return { text: shown.map(({ text }) => text).join(''), parts: shown };
  const messages = parts.flatMap((part) => part.messages);
  const answers = messages.at(-1)?.role === 'assistant';
  const text = chat.template.render(chat.fewshotAsMultiturn ? messages.map(messageOf) : asOneTurn(messages), {
    addGenerationPrompt: !answers,
  });
  const pieces = chat.fewshotAsMultiturn
    ? parts.flatMap(({ kind, messages }) => messages.map(({ content }) => ({ kind, text: content })))
    : shown;
  return { text, parts: locate(text, pieces) };
}

/** Marks where the parts stand in a text that a template made of them; what lies between is the template's own. */
function locate(text: string, pieces: readonly { kind: Part['kind']; text: string }[]): RenderedPrompt['parts'] {
  const found: RenderedPrompt['parts'] = [];
  let at = 0;
  for (const { kind, text: piece } of pieces) {
    // A template may trim a message, and the last delimiter of a single turn is dropped.
    for (const wanted of [piece, piece.trim()]) {
      const start = wanted === '' ? -1 : text.indexOf(wanted, at);
      if (start < 0) continue;
      if (start > at) found.push({ kind: 'template', text: text.slice(at, start) });
      found.push({ kind, text: wanted });
      at = start + wanted.length;
      break;
    }
  }
  if (at < text.length) found.push({ kind: 'template', text: text.slice(at) });
  return found;
}
