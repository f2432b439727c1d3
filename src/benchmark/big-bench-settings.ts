/** The optional object `softbench` of a BIG-bench task, with the defaults that suit it. */
import type { JsonDocument } from './json-document.ts';
import { bigBenchSoftbenchKeys } from './keys.ts';
import { readSoftbench, type SoftbenchSettings } from './softbench-settings.ts';

export interface BigBenchSettings extends Omit<SoftbenchSettings, 'strict' | 'lenient'> {
  /** Share of the examples that soft prompts are tuned on. */
  trainingShare: number;
  splitSeed: number;
  /** Null: by the longest answer. */
  maxNewTokens: number | null;
}

/** Reads the settings; what cannot be used is reported in the document's problems. */
export function readBigBenchSettings(document: JsonDocument): BigBenchSettings {
  const settings = readSoftbench(document, bigBenchSoftbenchKeys);
  // What is wrong has been taken out of the mapping by then.
  const own = ((document.values.metadata ?? {}) as { softbench?: Record<string, unknown> }).softbench ?? {};
  const number = (key: string): number | null => (typeof own[key] === 'number' ? own[key] : null);
  return {
    ...settings,
    fewShotSeed: number('few_shot_seed') ?? 42,
    trainingShare: number('training_share') ?? 0.3,
    splitSeed: number('split_seed') ?? 42,
    maxNewTokens: number('max_gen_toks'),
  };
}
