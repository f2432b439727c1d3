/** What the columns of a results page are called: what tells its runs apart, as short as it can be. */
import { importedWords } from '../shared/imported.ts';
import type { RunFile } from '../shared/results.ts';
import { positionOf } from '../shared/soft-prompt-words.ts';

const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

/** What runs may be told apart by, one row each: the words of a run, empty where they say nothing. The first go first. */
const facets: readonly ((run: RunFile) => string)[] = [
  ({ source }) => (source ? importedWords(source) : ''),
  ({ settings: { shots } }) => plural(shots, 'shot'),
  (run) => (positionOf(run) === 'suffix' ? 'suffix' : ''),
  ({ settings: { softPrompt } }) => (softPrompt ? plural(softPrompt.vectors, 'vector') : ''),
  ({ settings: { softPrompt } }) => (softPrompt ? plural(softPrompt.steps, 'step') : ''),
  ({ learningRate, settings: { softPrompt } }) =>
    softPrompt ? `learning rate ${learningRate?.value ?? softPrompt.learningRate}` : '',
  ({ settings: { softPrompt } }) => (softPrompt ? `${softPrompt.init} init` : ''),
  ({ settings: { softPrompt } }) => (softPrompt ? `seed ${softPrompt.seed}` : ''),
  ({ settings: { softPromptFrom, softPromptDigest } }) =>
    softPromptFrom ? `prompt of ${softPromptFrom}` : softPromptDigest ? `prompt ${softPromptDigest.slice(0, 8)}` : '',
  ({ settings: { fewShotSeed } }) => `example seed ${fewShotSeed}`,
  ({ settings: { chat } }) =>
    chat?.template ? `${chat.template.name} template` : chat ? 'system instruction' : 'plain',
  ({ settings: { limit } }) => (limit === null ? 'all items' : plural(limit, 'item')),
  ({ settings: { generation } }) =>
    generation.temperature === 0 ? 'greedy' : `temperature ${generation.temperature}, sampling seed ${generation.seed}`,
  ({ settings: { generation } }) => `at most ${generation.maxNewTokens} tokens`,
  ({ model }) => model.graphFile,
  ({ model }) => `weights ${model.digests.weights.slice(0, 8)}`,
  ({ benchmark }) => `task ${benchmark.digests.config.slice(0, 8)}`,
  ({ provider }) => provider.running,
  ({ softbench }) => `Softbench ${softbench}`,
  ({ rescoredFrom }) => (rescoredFrom ? 're-scored' : ''),
  ({ created }) => created.slice(0, 10),
  ({ created }) => created.slice(11, 19),
  ({ id }) => id,
];

/**
 * One label a run, no two alike: of one model, the mode and then what else tells runs apart; of several, the model, and
 * the mode where it differs.
 */
export function columnLabels(runs: readonly RunFile[]): string[] {
  const parts: string[][] = runs.map(() => []);
  const distinct = (of: readonly (readonly string[])[]): number => new Set(of.map((each) => each.join('\n'))).size;
  const add = (of: (run: RunFile) => string, always = false): void => {
    const next = runs.map((run, at) => [...(parts[at] ?? []), of(run)]);
    if (always || distinct(next) > distinct(parts)) for (const [at, each] of next.entries()) parts[at] = each;
  };
  add(({ model }) => model.name);
  add(
    ({ mode }) => mode,
    parts.every((each) => each.length === 0),
  );
  for (const facet of facets) add(facet);
  return parts.map((each) => each.filter(Boolean).join(' · '));
}
