/** The chat options as lm-evaluation-harness takes them: a value that may be left out, true and false in its words. */
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { chatOptions, chatRequestOf } from '../../src/cli/chat-options.ts';

const options = { ...chatOptions, limit: { type: 'text', help: '' } } as const;
const asked = (...argv: string[]) => {
  const args = readArguments('evaluate', options, argv);
  return { positionals: args.positionals, chat: chatRequestOf(args) };
};

describe('--apply_chat_template', () => {
  test.each([
    [['a.yaml', '--apply_chat_template'], { template: true }],
    [['--apply_chat_template', 'a.yaml'], { template: true }],
    [['--apply_chat_template', '--limit', '2', 'a.yaml'], { template: true }],
    [['--apply_chat_template', 'tool_use', 'a.yaml'], { template: 'tool_use' }],
    [['--apply_chat_template=tool_use', 'a.yaml'], { template: 'tool_use' }],
    [['a.yaml', '--apply_chat_template', 'false'], { template: false }],
    [['a.yaml'], undefined],
  ])('%j', (argv, chat) => {
    expect(asked(...argv)).toEqual({ positionals: ['a.yaml'], chat });
  });
});

test('system instruction and examples as turns', () => {
  expect(asked('--system_instruction', 'Be brief.', '--fewshot_as_multiturn').chat).toEqual({
    systemInstruction: 'Be brief.',
    fewshotAsMultiturn: true,
  });
  expect(asked('--fewshot_as_multiturn', 'False').chat).toEqual({ fewshotAsMultiturn: false });
  expect(() => asked('--fewshot_as_multiturn', 'perhaps')).toThrow('"true" or "false"');
});
