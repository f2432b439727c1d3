/** From what a run says of its conversations to what writes its prompts. */
import type { ChatSettings } from '../shared/results.ts';
import { ChatTemplate } from './chat-template.ts';
import type { Chat } from './types.ts';

/**
 * What `Benchmark.withChat` takes; null where prompts are plain text.
 * @throws HumanError where the template cannot be read
 */
export function chatOf(settings: ChatSettings | null | undefined): Chat | null {
  if (!settings) return null;
  const { template, systemInstruction, fewshotAsMultiturn } = settings;
  const now = template?.date === undefined ? undefined : new Date(template.date);
  return {
    template: template && new ChatTemplate(template.source, template.specialTokens, () => now ?? new Date()),
    systemInstruction,
    fewshotAsMultiturn,
  };
}
