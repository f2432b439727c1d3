/** A page with its data as one HTML file that opens in any browser, without a network. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HumanError } from '../shared/errors.ts';

export interface PageParts {
  title: string;
  /** What the page reads from the element `softbench-data`; JSON. */
  data: unknown;
  /** The bundled page and its style sheet, as text. */
  script: string;
  style: string;
}

/** JSON that can stand in a script element: nothing in it ends the element. */
export const embeddedJson = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');

/** The file's text. Its content security policy allows this script and this style sheet and nothing else. */
export function pageHtml({ data, ...parts }: PageParts): string {
  const { before, after } = pageFrame(parts);
  return `${before}${embeddedJson(data)}${after}`;
}

/** What stands in front of the data ({@link embeddedJson}) and behind it, for files that are too large for one text. */
export function pageFrame({ title, script, style }: Omit<PageParts, 'data'>): { before: string; after: string } {
  // Neither may end its element early. In JavaScript both sequences occur in strings and patterns only.
  const safeScript = script.replace(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '<\\!--');
  const safeStyle = style.replace(/<\/(style)/gi, '<\\/$1');
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(safeScript)}`,
    `style-src ${hash(safeStyle)}`,
    'img-src data:',
    'font-src data:',
  ].join('; ');
  return {
    before: `<!doctype html>
<html lang="en" class="softbench-standalone">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${safeStyle}</style>
</head>
<body>
<main id="root"></main>
<script type="application/json" id="softbench-data">`,
    after: `</script>
<script>${safeScript}</script>
</body>
</html>
`,
  };
}

/**
 * A bundled page, without the pointers to source maps, which do not travel with the file.
 * @param folder with the bundled pages (`<page>.js`, `<page>.css`)
 */
export async function bundledPage(folder: string, page: string): Promise<Pick<PageParts, 'script' | 'style'>> {
  const part = async (name: string): Promise<string> => {
    try {
      return (await readFile(join(folder, name), 'utf8')).replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/m, '');
    } catch (cause) {
      throw new HumanError('missing', `A part of Softbench is missing: ${join(folder, name)}.`, {
        todo: 'Build or install it again.',
        cause,
      });
    }
  };
  return { script: await part(`${page}.js`), style: await part(`${page}.css`) };
}

/** `gsm8k-SmolLM2-135M`, or `gsm8k-3-models` */
export function pageName(models: readonly string[], task: string): string {
  const [model, ...others] = new Set(models);
  const name = `${task}-${others.length === 0 ? (model ?? '') : `${others.length + 1}-models`}`;
  // Letters of any script; nothing that a file system or a shell minds.
  return (
    name
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[-.]+|[-.]+$/g, '')
      .slice(0, 100) || 'results'
  );
}

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
