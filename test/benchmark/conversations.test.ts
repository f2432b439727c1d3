/** Requests with chat templates, system instructions and examples as turns are lm-evaluation-harness's (make/conversations.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ChatTemplate } from '../../src/benchmark/chat-template.ts';
import { openBenchmark } from '../../src/benchmark/index.ts';

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'benchmarks');

interface Row {
  task: string;
  shots: number;
  template: string;
  system: string | null;
  turns: boolean;
  requests: string[][][];
}

const oracle = JSON.parse(readFileSync(join(fixtures, 'conversations.json'), 'utf8')) as {
  templates: Record<string, string | null>;
  tokens: Record<string, string>;
  rows: Row[];
};

describe.each(oracle.rows)('$task, $shots shots', ({ task, shots, template, system, turns, requests }) => {
  test(`template ${template}, system ${JSON.stringify(system)}, examples ${turns ? 'as turns' : 'in one message'}`, async () => {
    const source = oracle.templates[template] ?? null;
    const benchmark = (await openBenchmark(join(fixtures, `${task}.yaml`))).withChat({
      template: source === null ? null : new ChatTemplate(source, oracle.tokens),
      systemInstruction: system,
      fewshotAsMultiturn: turns,
    });
    const items = await benchmark.items('evaluation');
    for (const [at, wanted] of requests.entries()) {
      const item = items[at];
      if (!item) throw new Error(`no item ${at}`);
      const made = (await benchmark.requests?.(item, shots)) ?? [];
      const texts = made.flatMap((request) => {
        if (request.kind === 'generate') return benchmark.outputType === 'generate_until' ? [[request.context]] : [];
        return [request.kind === 'rolling' ? [request.text] : [request.context, request.continuation]];
      });
      expect(texts).toEqual(wanted);
      const prompt = await benchmark.prompt(item, shots);
      expect(prompt.parts.map(({ text }) => text).join('')).toBe(prompt.text);
    }
  });
});
