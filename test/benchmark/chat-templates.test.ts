/** Chat templates mean what transformers makes of them, called as lm-evaluation-harness does (make/chat_templates.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ChatTemplate } from '../../src/benchmark/chat-template.ts';
import { strftime } from '../../src/benchmark/strftime.ts';
import type { ChatMessage } from '../../src/benchmark/types.ts';
import { HumanError } from '../../src/shared/errors.ts';

const file = join(import.meta.dirname, '..', 'fixtures', 'benchmarks', 'chat-templates.json');
const oracle = JSON.parse(readFileSync(file, 'utf8')) as {
  date: string;
  tokens: Record<string, string | string[]>;
  conversations: ChatMessage[][];
  templates: { name: string; template: string; results: { text?: string; error?: string }[] }[];
  dates: { date: string; format: string; text: string }[];
};

describe.each(oracle.templates)('$name', ({ template, results }) => {
  test.each(oracle.conversations.map((conversation, at) => ({ conversation, at, ...results[at] })))(
    'conversation $at',
    ({ conversation, text }) => {
      const addGenerationPrompt = conversation.at(-1)?.role !== 'assistant';
      const render = (): string =>
        new ChatTemplate(template, oracle.tokens, () => new Date(oracle.date)).render(conversation, {
          addGenerationPrompt,
        });
      if (text === undefined) expect(render).toThrow(HumanError);
      else expect(render()).toBe(text);
    },
  );
});

test.each(oracle.dates)('$format of $date', ({ date, format, text }) => {
  expect(strftime(new Date(date), format)).toBe(text);
});
