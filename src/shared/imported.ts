/** Imported runs in words, and what stands in the place of folders and files that are not on this machine. */
import type { ChatSettings, RunFile, RunSource } from './results.ts';

/** Places of what is not on this machine begin so: they name a model or a benchmark, and are no paths. */
export const importedPlace = 'imported:';
export const isImportedPlace = (place: string): boolean => place.startsWith(importedPlace);

const toolTitles: Record<RunSource['tool'], string> = {
  'lm-eval': 'lm-evaluation-harness',
  'every-eval-ever': 'Every Eval Ever',
};

/** `imported from lm-evaluation-harness 0.4.13` */
export const importedWords = ({ tool, version, library }: RunSource): string =>
  `imported from ${toolTitles[tool]}${version ? ` ${version}` : ''}${library ? ` (${library})` : ''}`;

const chatWords = (chat: ChatSettings | undefined): string =>
  chat?.template ? 'a chat template' : chat ? 'a system instruction' : 'plain prompts';

/** What decides a score and may differ between an imported run and one that was measured here, each in words. */
const compared: readonly { of(run: RunFile): string }[] = [
  { of: ({ settings }) => `${settings.shots} ${settings.shots === 1 ? 'example' : 'examples'}` },
  { of: ({ benchmark, settings }) => `${Math.min(benchmark.items, settings.limit ?? benchmark.items)} items` },
  { of: ({ settings }) => chatWords(settings.chat) },
  { of: ({ settings: { generation } }) => (generation.temperature === 0 ? 'greedy outputs' : 'sampled outputs') },
  {
    of: ({ settings: { generation } }) =>
      generation.maxNewTokens > 0 ? `at most ${generation.maxNewTokens} new tokens` : '',
  },
];

/** `5 examples, measured here: 8 examples`: what keeps the two scores from being comparable. Empty where nothing is seen. */
export function settingDifferences(imported: RunFile, measured: RunFile): string[] {
  return compared.flatMap(({ of }) => {
    const [theirs, ours] = [of(imported), of(measured)];
    return theirs === ours || theirs === '' || ours === '' ? [] : [`${theirs}, measured here: ${ours}`];
  });
}
