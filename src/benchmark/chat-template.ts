/**
 * A model's chat template, applied as `apply_chat_template` of transformers 4.57 does it: Jinja2 with trimmed blocks, names
 * that may be undefined, and `raise_exception`, `strftime_now` and a plain `tojson`.
 */
import { HumanError } from '../shared/errors.ts';
import { isDict, isNumber, PythonError, repr, rightStrip, str, strip, truthy } from './python.ts';
import { strftime } from './strftime.ts';
import { type Environment, Template } from './template.ts';
import { argument } from './template-filters.ts';
import { type Arguments, Undefined } from './template-scope.ts';
import type { Chat, ChatMessage } from './types.ts';

/** Where the last message ends in the rendered text is found by this mark. */
const continueMark = 'CONTINUE_FINAL_MESSAGE_TAG ';

const mendTemplate =
  'Mend the template in the model folder, choose another of its templates by name, or ask without a chat template.';

const environment = (now: () => Date): Environment => ({
  grammar: { trimBlocks: true, lstripBlocks: true, keepTrailingNewline: false, chatTags: true },
  strict: false,
  filters: new Map([['tojson', (value: unknown, args: Arguments) => jsonFilter(value, args)]]),
  globals: new Map<string, unknown>([
    [
      'raise_exception',
      ({ positional }: Arguments) => {
        throw new PythonError(str(positional[0]));
      },
    ],
    ['strftime_now', ({ positional }: Arguments) => strftime(now(), str(positional[0]))],
  ]),
});

export class ChatTemplate implements NonNullable<Chat['template']> {
  private readonly template: Template;

  /**
   * @param specialTokens names such as `bos_token` and their texts, which the template may use
   * @throws HumanError where the source is not a template
   */
  constructor(
    source: string,
    private readonly specialTokens: Readonly<Record<string, string | readonly string[]>>,
    now: () => Date = () => new Date(),
  ) {
    try {
      this.template = new Template(source, environment(now));
    } catch (thrown) {
      if (!(thrown instanceof PythonError)) throw thrown;
      throw new HumanError('bad-input', `The model's chat template cannot be read: ${thrown.message}`, {
        todo: mendTemplate,
        cause: thrown,
      });
    }
  }

  /**
   * The conversation as one text. Where the template refuses a system message, the conversation without it, as
   * lm-evaluation-harness does.
   * @throws HumanError with the template's own message where it refuses the conversation
   */
  render(messages: readonly ChatMessage[], options: { addGenerationPrompt: boolean }): string {
    try {
      return this.apply(messages, options.addGenerationPrompt);
    } catch (thrown) {
      if (!(thrown instanceof PythonError)) throw thrown;
    }
    try {
      return this.apply(
        messages.filter(({ role }) => role !== 'system'),
        options.addGenerationPrompt,
      );
    } catch (thrown) {
      if (!(thrown instanceof PythonError)) throw thrown;
      throw new HumanError('bad-input', `The model's chat template refuses the conversation: ${thrown.message}`, {
        todo: mendTemplate,
        cause: thrown,
      });
    }
  }

  private apply(messages: readonly ChatMessage[], addGenerationPrompt: boolean): string {
    const last = messages.at(-1);
    if (addGenerationPrompt || !last) return this.text(messages, addGenerationPrompt);
    const marked = [...messages.slice(0, -1), { ...last, content: last.content + continueMark }];
    const text = this.text(marked, false);
    const at = text.lastIndexOf(continueMark.trimEnd());
    if (at < 0 || !text.includes(strip(last.content)))
      throw new HumanError('unsupported', "The model's chat template leaves out the beginning of the answer.", {
        todo: 'Use a benchmark without `gen_prefix`, or no chat template.',
      });
    // A template that trims messages has trimmed the mark's space: then what stands before it is trimmed too.
    return text.startsWith(continueMark, at) ? text.slice(0, at) : rightStrip(text.slice(0, at));
  }

  private text(messages: readonly ChatMessage[], addGenerationPrompt: boolean): string {
    return this.template.render({
      ...this.specialTokens,
      messages: messages.map(({ role, content }) => ({ role, content })),
      tools: null,
      documents: null,
      add_generation_prompt: addGenerationPrompt,
    });
  }
}

interface JsonStyle {
  ascii: boolean;
  indent: number | string | null;
  separators: readonly [string, string];
  sorted: boolean;
}

/** `json.dumps` with its arguments, as transformers gives it to chat templates. */
function jsonFilter(value: unknown, args: Arguments): string {
  const indent = argument(args, 1, 'indent') ?? null;
  const separators = argument(args, 2, 'separators');
  return dumps(
    value,
    {
      ascii: truthy(argument(args, 0, 'ensure_ascii')),
      indent: typeof indent === 'string' ? indent : indent === null ? null : Number(indent),
      separators: Array.isArray(separators)
        ? [str(separators[0]), str(separators[1])]
        : [indent === null ? ', ' : ',', ': '],
      sorted: truthy(argument(args, 3, 'sort_keys')),
    },
    '\n',
  );
}

function dumps(value: unknown, style: JsonStyle, line: string): string {
  if (value instanceof Undefined) throw new PythonError('Object of type Undefined is not JSON serializable.');
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (isNumber(value)) return repr(value);
  if (typeof value === 'string') return quoted(value, style);
  const inner = line + (typeof style.indent === 'string' ? style.indent : ' '.repeat(style.indent ?? 0));
  const wrap = (open: string, parts: string[], close: string): string => {
    if (parts.length === 0) return open + close;
    if (style.indent === null) return open + parts.join(style.separators[0]) + close;
    return open + parts.map((part) => inner + part).join(style.separators[0]) + line + close;
  };
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((entry) => dumps(entry, style, inner)),
      ']',
    );
  if (!isDict(value)) throw new PythonError('This value is not JSON serializable.');
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  if (style.sorted) entries.sort(([a], [b]) => (str(a) < str(b) ? -1 : 1));
  return wrap(
    '{',
    entries.map(([key, entry]) => quoted(str(key), style) + style.separators[1] + dumps(entry, style, inner)),
    '}',
  );
}

/** A JSON string as Python writes it: DEL and line separators stay, other than in ASCII. */
function quoted(text: string, { ascii }: JsonStyle): string {
  const json = JSON.stringify(text);
  return ascii
    ? json.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : json;
}
