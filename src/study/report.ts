/** A page with its data as one HTML file that opens in any browser, without a network. */
import { createHash } from 'node:crypto';

export interface PageParts {
  title: string;
  /** What the page reads from the element `softbench-data`; JSON. */
  data: unknown;
  /** The bundled page and its style sheet, as text. */
  script: string;
  style: string;
}

/** The file's text. Its content security policy allows this script and this style sheet and nothing else. */
export function pageHtml({ title, data, script, style }: PageParts): string {
  // Neither may end its element early. In JavaScript both sequences occur in strings and patterns only.
  const safeScript = script.replace(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '<\\!--');
  const safeStyle = style.replace(/<\/(style)/gi, '<\\/$1');
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(safeScript)}`,
    // The UI toolkit tries an empty style sheet; without its hash the browser's console complains.
    `style-src ${hash(safeStyle)} ${hash('')}`,
    'img-src data:',
    'font-src data:',
  ].join('; ');
  return `<!doctype html>
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
<script type="application/json" id="softbench-data">${json}</script>
<script>${safeScript}</script>
</body>
</html>
`;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
