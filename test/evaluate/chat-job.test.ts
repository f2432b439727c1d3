/** Jobs with chat options: what reaches the benchmark, what the run records, and that runs which differ in them are not mixed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Chat } from '../../src/benchmark/types.ts';
import { runJob } from '../../src/evaluate/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { JobRequest } from '../../src/shared/protocol.ts';
import { scriptedModel, scriptedRequest, scriptedRooms, sumsBenchmark } from './scripted.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-chat-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const source = "{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}{{ strftime_now('%Y') }}";

/** Runs zero-shot; tells with what conversation the benchmark was asked for its prompts. */
async function run(change: Partial<JobRequest>): Promise<{ chats: (Chat | null)[]; id: string }> {
  const chats: (Chat | null)[] = [];
  const benchmark = sumsBenchmark({
    withChat: (chat) => {
      chats.push(chat);
      return benchmark;
    },
  });
  const model = Object.assign(scriptedModel(), {
    chatTemplates: { templates: new Map([['default', source]]), specialTokens: { eos_token: '</s>' } },
  });
  const request = scriptedRequest(folder, { modes: ['zero-shot'], reuseFinished: true, ...change });
  const hooks = { signal: new AbortController().signal, progress: () => undefined };
  const [summary] = await runJob(request, scriptedRooms(model, benchmark), hooks);
  return { chats, id: summary?.run ?? '' };
}

test('the run records template, instruction and form of the examples, and prompts are written by them', async () => {
  const overrides = { chat: { template: true, systemInstruction: 'Add.' } };
  const { chats, id } = await run({ overrides, group: 'a' });
  const { run: stored } = await openRunStore(folder).read(id);
  expect(stored.settings.chat).toMatchObject({
    template: { name: 'default', source, specialTokens: { eos_token: '</s>' } },
    systemInstruction: 'Add.',
    fewshotAsMultiturn: true,
  });
  expect(stored.notes.join()).toContain("The model's chat template writes the date");
  const last = chats.at(-1);
  expect(last?.systemInstruction).toBe('Add.');
  expect(last?.template?.render([{ role: 'user', content: 'q' }], { addGenerationPrompt: true })).toBe(
    `[user] q ${stored.settings.chat?.template?.date?.slice(0, 4)}`,
  );
});

test('finished runs are used again only where the conversation is the same', async () => {
  const plain = await run({ group: 'plain' });
  const chat = await run({ group: 'chat', overrides: { chat: { template: true } } });
  const again = await run({ group: 'again', overrides: { chat: { template: true } } });
  const instructed = await run({ group: 'other', overrides: { chat: { template: true, systemInstruction: 'Add.' } } });
  expect(plain.chats).toContain(null);
  expect(chat.id).not.toBe(plain.id);
  expect(again.id).toBe(chat.id);
  expect([plain.id, chat.id]).not.toContain(instructed.id);
});
