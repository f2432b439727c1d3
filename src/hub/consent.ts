/** What a person agrees to before anything is fetched: one line a fact. */
import { join } from 'node:path';
import { repositoryFolder } from './cache.ts';
import { missingFiles } from './fetch-files.ts';
import type { HubFile, Listing } from './listing.ts';
import { kindWords, pageAddress } from './repository.ts';
import type { HubSettings } from './settings.ts';

const sizeWords = (bytes: number): string =>
  bytes >= 1e9
    ? `${(bytes / 1e9).toFixed(1)} GB`
    : bytes >= 1e5
      ? `${(bytes / 1e6).toFixed(1)} MB`
      : `${Math.ceil(bytes / 1e3)} KB`;

/** @param parts what of the repository it is: a configuration, splits, a graph */
export async function consentLines(
  listing: Listing,
  files: readonly HubFile[],
  settings: HubSettings,
  parts: readonly string[] = [],
): Promise<string[]> {
  const missing = await missingFiles(listing, files, settings.cache);
  const sum = (list: readonly HubFile[]): number => list.reduce((total, { bytes }) => total + bytes, 0);
  const here = files.length - missing.length;
  const names = missing.slice(0, 4).map(({ path, bytes }) => `${path} (${sizeWords(bytes)})`);
  const more = missing.length - names.length;
  const { token } = settings;
  const noun = kindWords[listing.kind];
  return [
    `${noun[0]?.toUpperCase()}${noun.slice(1)} ${listing.id}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`,
    `Download: ${sizeWords(sum(missing))} in ${missing.length} ${missing.length === 1 ? 'file' : 'files'}${here > 0 ? `; ${here} more ${here === 1 ? 'is' : 'are'} here already` : ''}`,
    ...(names.length > 0 ? [`Files: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`] : []),
    `Source: ${pageAddress(listing, settings.endpoint)}, revision ${listing.revision} (${listing.commit.slice(0, 8)})`,
    `Licence: ${listing.licence ?? 'the page does not say'}`,
    ...(listing.gated
      ? [`Gated: given to accounts that accepted the authors' terms${token ? '' : '; no token is set'}`]
      : []),
    ...(listing.private ? ['Private'] : []),
    ...(token ? [`Token: that of ${token.from}, sent to ${settings.endpoint.host} only`] : []),
    `Goes to: ${join(repositoryFolder(listing, settings.cache))} (Python's datasets and transformers find it there too)`,
    'Checked: size and digest of every file',
  ];
}
