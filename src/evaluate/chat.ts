/** Decides how a job's prompts are written as conversations: the options of lm-evaluation-harness, and the model's templates. */
import type { Benchmark } from '../benchmark/types.ts';
import { HumanError } from '../shared/errors.ts';
import type { ChatRequest, ChatSettings } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import type { ChatTemplates } from './language-model.ts';

/**
 * What applies to a model and a benchmark: what was asked for, else what the benchmark file says; null where prompts are
 * plain text.
 * @throws HumanError where a template is asked for that the model has not
 */
export function chatSettingsOf(
  asked: Partial<ChatRequest> | undefined,
  benchmark: Pick<Benchmark, 'chatRequest'>,
  model: { name: string; chatTemplates?: ChatTemplates | undefined },
): ChatSettings | null {
  const request: ChatRequest = { template: false, ...benchmark.chatRequest, ...asked };
  const systemInstruction = request.systemInstruction || null;
  const template = request.template === false ? null : templateOf(request.template, model);
  if (!template && request.fewshotAsMultiturn === true && asked?.fewshotAsMultiturn === true)
    throw new HumanError('bad-input', 'Examples as turns of their own need a chat template.', {
      todo: 'Give --apply_chat_template too, or `chat_template: true` in the benchmark file.',
    });
  if (!template && systemInstruction === null) return null;
  return {
    template,
    systemInstruction,
    fewshotAsMultiturn: template !== null && (request.fewshotAsMultiturn ?? true),
  };
}

function templateOf(
  wanted: true | string,
  { name: model, chatTemplates }: Parameters<typeof chatSettingsOf>[2],
): ChatSettings['template'] {
  const templates = chatTemplates?.templates ?? new Map<string, string>();
  const names = [...templates.keys()];
  if (names.length === 0)
    throw new HumanError('bad-input', `The model "${model}" has no chat template.`, {
      todo: 'Run it without a chat template: base models have none. Those of other folders are read from chat_template.jinja or tokenizer_config.json.',
    });
  // A name says nothing where there is only one: lm-evaluation-harness takes that one too.
  const name = wanted !== true && templates.has(wanted) ? wanted : 'default';
  const source = templates.get(name);
  const unknown = wanted !== true && !templates.has(wanted) && names.length > 1;
  if (source === undefined || unknown)
    throw new HumanError(
      'bad-input',
      wanted === true
        ? `The model "${model}" has several chat templates and none is its default.`
        : `The model "${model}" has no chat template "${wanted}".`,
      { todo: `Name one of: ${names.join(', ')}.` },
    );
  return {
    name,
    source,
    digest: sha256(source),
    specialTokens: chatTemplates?.specialTokens ?? {},
    ...(source.includes('strftime_now') && { date: new Date().toISOString() }),
  };
}

/** What decides a run's prompts: all but the moment at which a template that writes the date was rendered. */
export const chatDeterminant = (chat: ChatSettings | undefined): unknown =>
  chat && {
    template: chat.template && { digest: chat.template.digest, specialTokens: chat.template.specialTokens },
    systemInstruction: chat.systemInstruction,
    fewshotAsMultiturn: chat.fewshotAsMultiturn,
  };

/** Said with a run whose prompts name the day. */
export const dateNote = (chat: ChatSettings | null | undefined): string | null =>
  chat?.template?.date === undefined
    ? null
    : `The model's chat template writes the date of the day: prompts are those of ${chat.template.date.slice(0, 10)}.`;
