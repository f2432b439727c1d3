/** The options that write prompts as conversations, by lm-evaluation-harness's names. */
import { HumanError } from '../shared/errors.ts';
import type { ChatRequest } from '../shared/results.ts';
import type { Given, Options } from './arguments.ts';

export const chatOptions = {
  apply_chat_template: {
    type: 'optional',
    value: 'NAME',
    help: 'write prompts with the model\'s chat template, or with that of the name; "false": not, whatever the file says',
  },
  system_instruction: { type: 'text', value: 'TEXT', help: "system message, in front of the benchmark's description" },
  fewshot_as_multiturn: {
    type: 'optional',
    value: 'BOOL',
    help: 'few-shot examples as turns of their own (default with a chat template), or all in one message ("false")',
  },
} as const satisfies Options;

const truths: Readonly<Record<string, boolean>> = {
  '': true,
  true: true,
  1: true,
  yes: true,
  false: false,
  0: false,
  no: false,
};

/** What was asked for; undefined where nothing was. @throws HumanError where a value is none of its kind */
export function chatRequestOf(args: Given): Partial<ChatRequest> | undefined {
  const [template, instruction, multiturn] = Object.keys(chatOptions).map((name) => args.text(name));
  if (template === undefined && instruction === undefined && multiturn === undefined) return undefined;
  const asTurns = multiturn === undefined ? undefined : truths[multiturn.toLowerCase()];
  if (multiturn !== undefined && asTurns === undefined)
    throw new HumanError('bad-input', `--fewshot_as_multiturn is "true" or "false", not "${multiturn}".`);
  return {
    ...(template !== undefined && {
      template: template === '' || template === 'true' || (template !== 'false' && template),
    }),
    ...(instruction !== undefined && { systemInstruction: instruction }),
    ...(asTurns !== undefined && { fewshotAsMultiturn: asTurns }),
  };
}
