/** Where a model folder's chat templates are found: the places and precedence of transformers 4.57. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readChatTemplates } from '../../src/model/chat-template.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-chat-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('one in tokenizer_config.json', () => {
  expect([...readChatTemplates(folder, { chat_template: 'x' }).templates]).toEqual([['default', 'x']]);
});

test('several by name', () => {
  const config = {
    chat_template: [
      { name: 'default', template: 'a' },
      { name: 'tool_use', template: 'b' },
    ],
  };
  expect([...readChatTemplates(folder, config).templates]).toEqual([
    ['default', 'a'],
    ['tool_use', 'b'],
  ]);
});

test('files stand in for what the configuration says', () => {
  writeFileSync(join(folder, 'chat_template.jinja'), 'file\n');
  expect([...readChatTemplates(folder, { chat_template: 'x' }).templates]).toEqual([['default', 'file\n']]);
  mkdirSync(join(folder, 'additional_chat_templates'));
  writeFileSync(join(folder, 'additional_chat_templates', 'rag.jinja'), 'rag');
  expect([...readChatTemplates(folder, { chat_template: 'x' }).templates]).toEqual([
    ['default', 'file\n'],
    ['rag', 'rag'],
  ]);
});

test('special tokens as texts or objects, from the configuration before special_tokens_map.json', () => {
  writeFileSync(
    join(folder, 'special_tokens_map.json'),
    JSON.stringify({ bos_token: '<map>', eos_token: { content: '</s>' }, additional_special_tokens: ['<x>'] }),
  );
  expect(readChatTemplates(folder, { bos_token: { content: '<s>' }, unk_token: null }).specialTokens).toEqual({
    bos_token: '<s>',
    eos_token: '</s>',
    additional_special_tokens: ['<x>'],
  });
});

test('a folder without any', () => {
  expect(readChatTemplates(folder, {}).templates.size).toBe(0);
});
