/**
 * What is handed on must not tell where files lie on somebody's machine, or who that is. What a benchmark or a model said
 * stays as it is: only the words around it are cleaned.
 */
import { homedir, userInfo } from 'node:os';

export interface Person {
  /** Home folder. */
  home: string;
  /** Login name. */
  user: string;
}

export function thisPerson(): Person {
  try {
    return { home: homedir(), user: userInfo().username };
  } catch {
    // A process without an account, as in some containers.
    return { home: homedir(), user: '' };
  }
}

/** Values of these members are what a benchmark, a model or a template says, and no words about this machine. */
const contents = new Set([
  'until',
  'marker',
  'source',
  'specialTokens',
  'systemInstruction',
  'constant',
  'commonest',
  'gold',
  'output',
  'text',
]);
/** Names and digests, which look like paths at times (`org/model`) and are none. */
const names = new Set(['id', 'run', 'task', 'name', 'digests', 'digest', 'metric', 'filter', 'group', 'rescoredFrom']);

const fileName = (path: string): string => path.split(/[\\/]/).filter(Boolean).at(-1) ?? '';
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Not inside a word, a number, a URL or a relative path. */
const before = String.raw`(?<![\p{L}\p{N}_./\\~-])`;
const segment = String.raw`[^\\/:*?"<>|\r\n]`;
/** Folders may have spaces in their names; a space in front of a slash is none. */
const word = String.raw`[^\\/\s"'<>:,;()]+`;
const patterns = [
  // \\server\share\folder\file, \\?\C:\…
  new RegExp(String.raw`(?<!\\)\\\\(?:\?\\(?:UNC\\|[A-Za-z]:\\)?)?(?:${segment}+\\)+[^\\/:*?"<>|\s]*`, 'gu'),
  // C:\Users\Ada Lovelace\model.onnx, C:/Users/… : folders may have spaces, the last name ends at one
  new RegExp(String.raw`(?<![\p{L}\p{N}])[A-Za-z]:([\\/])(?:${segment}+\1)*[^\\/:*?"<>|\s]*`, 'gu'),
  // file:///home/…
  /\bfile:\/\/[^\s"'<>]+/gu,
  // ~/models/x, ~\models\x, ~ada/x
  new RegExp(
    String.raw`${before}~[\p{L}\p{N}_.-]*[\\/](?:${word}(?: (?!~)${word}){0,4}[\\/])*[^\\/\s"'<>:,;)\]]*`,
    'gu',
  ),
  // /home/ada/model.onnx: two names at least, so that "/" and "/tmp" in a sentence stay
  new RegExp(String.raw`${before}/(?:${word}(?: (?!~)${word}){0,4}/)+[^/\s"'<>:,;()\]]*`, 'gu'),
];

/** A path's file name; punctuation that ended a sentence stays. */
function shortened(path: string): string {
  const [, body = path, end = ''] = /^(.*?)([.!?]*)$/su.exec(path) ?? [];
  if (/^(?:\/home|\/Users|[A-Za-z]:[\\/]Users)[\\/][^\\/]+[\\/]?$/iu.test(body)) return `~${end}`;
  let name = fileName(body);
  try {
    if (path.startsWith('file:')) name = decodeURIComponent(name);
  } catch {
    // As it stands.
  }
  return `${name}${end}`;
}

/**
 * A text without absolute paths (each becomes the name of its file), without the home folder and without the login name
 * where it stands beside a path, a host or an address.
 * @param folders known absolute paths, which may hold spaces
 */
export function withoutPaths(text: string, { home, user }: Person, folders: readonly string[] = []): string {
  let result = text;
  const known = [...new Set(folders)].filter((path) => /[\\/]./.test(path)).sort((a, b) => b.length - a.length);
  for (const path of known) result = result.replaceAll(path, fileName(path));
  // The folder itself or what lies in it, not one whose name only begins so. (Drives: see below, spaces and all.)
  if (home.length > 1 && home.startsWith('/'))
    result = result.replace(new RegExp(`${escaped(home)}(?![\\p{L}\\p{N}_.-])`, 'gu'), '~');
  for (const pattern of patterns) result = result.replace(pattern, (path) => shortened(path));
  if (user.length > 1)
    result = result
      .replace(new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(user)}(?=[@\\\\/])`, 'giu'), 'user')
      .replace(new RegExp(`(?<=[@\\\\/~])${escaped(user)}(?![\\p{L}\\p{N}_])`, 'giu'), 'user');
  return result;
}

/** Is the whole text one absolute path? */
const isPath = (text: string): boolean => /^(?:[A-Za-z]:[\\/]|\\\\|\/|~[\\/]|file:)/.test(text) && !/[\r\n]/.test(text);

/** A copy of plain data with {@link withoutPaths} for every text in it that is about this machine. */
export function withoutPersonalPaths<T>(value: T, person: Person = thisPerson(), folders: readonly string[] = []): T {
  const clean = (part: unknown, key: string): unknown => {
    if (contents.has(key) && !(key === 'source' && typeof part === 'object')) return part;
    if (typeof part === 'string') {
      if (names.has(key) && !isPath(part)) return part;
      return isPath(part) && key !== 'message' ? pathOnly(part, person, folders) : withoutPaths(part, person, folders);
    }
    if (Array.isArray(part)) return part.map((each) => clean(each, key));
    if (part !== null && typeof part === 'object')
      return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, clean(each, name)]));
    return part;
  };
  return clean(value, '') as T;
}

/** A member that is a path is its file name, spaces and all; one that only begins like a path is a text. */
const pathOnly = (text: string, person: Person, folders: readonly string[]): string =>
  /[.!?] /.test(text) ? withoutPaths(text, person, folders) : fileName(text) || text;
