/** The chat templates of a model folder and the special tokens that they name: where transformers looks for them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatTemplates } from '../evaluate/language-model.ts';
import { isObject, type JsonObject, readJsonFile, readTextFile, stringOf } from './json.ts';

/** Names of transformers' `special_tokens_map`. */
const tokenNames = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** A special token as tokenizer_config.json writes it: its text, or an object that holds the text. */
export function tokenText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return isObject(value) && typeof value.content === 'string' ? value.content : null;
}

/** Templates by name: `default` where there is only one. */
function templatesOf(folder: string, config: JsonObject): Map<string, string> {
  const own = readTextFile(join(folder, 'chat_template.jinja'));
  const files = new Map<string, string>(own === null ? [] : [['default', own]]);
  for (const file of listed(join(folder, 'additional_chat_templates')))
    files.set(file.slice(0, -'.jinja'.length), readTextFile(join(folder, 'additional_chat_templates', file)) ?? '');
  // Files of their own stand in for what the configuration says.
  if (files.size > 0) return files;
  const template = config.chat_template;
  if (typeof template === 'string') return new Map([['default', template]]);
  const named = Array.isArray(template) ? template.filter(isObject) : [];
  return new Map(
    named.flatMap((entry) => {
      const [name, source] = [stringOf(entry, 'name'), stringOf(entry, 'template')];
      return name === null || source === null ? [] : [[name, source] as const];
    }),
  );
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.jinja'));
  } catch {
    return [];
  }
}

export function readChatTemplates(folder: string, tokenizerConfig: JsonObject): ChatTemplates {
  const map = readJsonFile(join(folder, 'special_tokens_map.json')) ?? {};
  const specialTokens: Record<string, string | string[]> = {};
  for (const name of tokenNames) {
    const text = tokenText(name in tokenizerConfig ? tokenizerConfig[name] : map[name]);
    if (text !== null) specialTokens[name] = text;
  }
  const additional = tokenizerConfig.additional_special_tokens ?? map.additional_special_tokens;
  const texts = (Array.isArray(additional) ? additional : []).flatMap((token) => tokenText(token) ?? []);
  if (texts.length > 0) specialTokens.additional_special_tokens = texts;
  return { templates: templatesOf(folder, tokenizerConfig), specialTokens };
}
