/**
 * Which models of a leaderboard are post-trained versions of which others: as the user says, as model cards and
 * configurations say, else as names tell.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asError, HumanError } from '../shared/errors.ts';
import { isImportedPlace } from '../shared/imported.ts';
import { nameOfBase, plainName } from '../shared/model-names.ts';
import type { LeaderboardView, ModelLink } from '../shared/protocol.ts';

/** The file beside `runs/` in which a store keeps what the user says of links. */
export const linksFile = 'links.json';

/** What the user says: the base model of a post-trained one, by the names of the leaderboard; null: it has none. */
export type SaidLinks = Readonly<Record<string, string | null>>;

/**
 * @param said goes before all else; names may be those of the view, or without what tells models of one name apart
 * @param declared base models that model cards and configurations name, by the model's folder
 */
export function linkModels(
  models: LeaderboardView['models'],
  said: SaidLinks,
  declared: ReadonlyMap<string, readonly string[]> = new Map(),
): ModelLink[] {
  const names = models.map(({ name }) => name);
  const byPlainName = new Map<string, string[]>();
  for (const name of names) byPlainName.set(plainName(name), [...(byPlainName.get(plainName(name)) ?? []), name]);
  /** The one other model of that name; where several have it, none is guessed. */
  const find = (wanted: string, self: string): string | null => {
    if (names.includes(wanted) && wanted !== self) return wanted;
    const [found, ...others] = (byPlainName.get(plainName(wanted)) ?? []).filter((name) => name !== self);
    return found !== undefined && others.length === 0 ? found : null;
  };
  return models.flatMap(({ name, folder }): ModelLink[] => {
    const own = said[name] ?? said[folder];
    if (own === null || said[name] === null) return [];
    const byUser = own === undefined ? null : find(own, name);
    if (byUser !== null) return [{ base: byUser, postTrained: name, by: 'user' }];
    // Only a model that its name calls post-trained: checkpoints and quantised copies name a base model too.
    const guessed = nameOfBase(name);
    for (const base of declared.get(folder) ?? []) {
      const known = find(base, name);
      if (known !== null && (guessed !== null || nameOfBase(base) === null) && plainName(base) !== plainName(name))
        return [{ base: known, postTrained: name, by: 'card' }];
    }
    const base = guessed === null ? null : find(guessed, name);
    return base === null ? [] : [{ base, postTrained: name, by: 'name' }];
  });
}

/**
 * The base models that a model folder names: `base_model` of its card (README.md), `base_model_name_or_path` of
 * adapter_config.json. Empty where it names none or is not on this machine.
 */
export async function declaredBases(folder: string): Promise<string[]> {
  if (isImportedPlace(folder)) return [];
  const text = (name: string): Promise<string> => readFile(join(folder, name), 'utf8').catch(() => '');
  const [card, adapter] = await Promise.all([text('README.md'), text('adapter_config.json')]);
  const found = cardBases(card);
  try {
    const { base_model_name_or_path: path } = JSON.parse(adapter || '{}') as Record<string, unknown>;
    if (typeof path === 'string' && path !== '') found.push(path);
  } catch {
    // A broken adapter configuration says nothing here; whoever opens the model is told.
  }
  return [...new Set(found)];
}

/** `base_model:` of the YAML head of a model card: one name, or a list of them. */
function cardBases(card: string): string[] {
  const [, head = ''] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card) ?? [];
  const [, inline = '', list = ''] = /^base_model:[ \t]*(.*)((?:\r?\n[ \t]*-[ \t]+.*)*)/m.exec(head) ?? [];
  const entries = inline.trim() ? inline.replace(/^\[|\]$/g, '').split(',') : list.split(/\r?\n/);
  return entries.flatMap((entry) => {
    const name = entry
      .replace(/^[\s-]*/, '')
      .replace(/\s+#.*$/, '')
      .trim()
      .replace(/^(['"])(.*)\1$/, '$2');
    return name ? [name] : [];
  });
}

/**
 * Reads what a user says of links.
 * @param text JSON: `{ "post-trained model": "base model" }`, null for none
 * @param file for messages
 */
export function parseLinks(text: string, file: string): SaidLinks {
  const todo = 'Write { "name of the post-trained model": "name of its base model" }, or null for a model without one.';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new HumanError('bad-input', `${file} is not JSON: ${asError(thrown).message}.`, {
      todo,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HumanError('bad-input', `${file} does not hold an object of links.`, { todo });
  for (const [name, base] of Object.entries(value))
    if (base !== null && typeof base !== 'string')
      throw new HumanError('bad-input', `${file}: the base model of "${name}" is neither a name nor null.`, { todo });
  return value as SaidLinks;
}

/** What a store says of links; nothing where it has no such file. */
export async function readLinks(storeFolder: string): Promise<SaidLinks> {
  const file = join(storeFolder, linksFile);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new HumanError('disk', `Cannot read ${file}: ${asError(thrown).message}.`, {
      cause: thrown,
    });
  }
  return parseLinks(text, file);
}

/** The text of a links file, by name. */
export const linksText = (links: SaidLinks): string =>
  `${JSON.stringify(Object.fromEntries(Object.entries(links).sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
