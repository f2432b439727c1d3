/** Saving what the leaderboard page shows: as a table, as a picture, or as one HTML file that opens in any browser. */
import { basename } from 'node:path';
import type { LeaderboardFormat, LeaderboardPageApi, LeaderboardView } from '../shared/protocol.ts';
import { leaderboardFile } from '../study/index.ts';
import { askWhereTo, tellSaved, writeTo } from './save-file.ts';

const formats: Record<LeaderboardFormat, string> = {
  csv: 'CSV',
  md: 'Markdown',
  png: 'Picture',
  html: 'Web page',
};

/** Asks where to. @returns whether it was saved */
export async function saveLeaderboard(
  { format, name, content }: LeaderboardPageApi['save']['argument'],
  view: () => Promise<LeaderboardView>,
  pages: string,
): Promise<boolean> {
  if (!Object.hasOwn(formats, format)) return false;
  const file = basename(name).replace(/[^\p{L}\p{N}._+ -]/gu, '-');
  const kind = formats[format];
  const target = await askWhereTo(`Save the leaderboard as ${kind}`, file, kind, format);
  if (!target) return false;
  const bytes =
    format === 'png'
      ? Buffer.from(content, 'base64')
      : Buffer.from(format === 'html' ? await leaderboardFile(await view(), JSON.parse(content), pages) : content);
  await writeTo(target, bytes, 'The leaderboard');
  tellSaved(target);
  return true;
}
