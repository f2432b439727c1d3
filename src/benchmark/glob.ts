/** Patterns of paths: `*`, `**`, `?`, `[…]` and `{a,b}`. */

export const hasGlob = (path: string): boolean => /[*?[{]/.test(path);

/** A pattern as a regular expression over `/`-separated paths. */
export function globPattern(glob: string): RegExp {
  const source = glob.replace(/\*\*\/?|\*|\?|\[!?[^\]]*\]|\{[^}]*\}|[.+^$()|\\]/g, (token) => {
    if (token.startsWith('**')) return token.endsWith('/') ? '(?:.*/)?' : '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (token.startsWith('[')) return token.replace('[!', '[^');
    if (token.startsWith('{'))
      return `(?:${token
        .slice(1, -1)
        .split(',')
        .map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
        .join('|')})`;
    return `\\${token}`;
  });
  return new RegExp(`^${source}$`);
}
