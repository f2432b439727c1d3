/** What the name of a model tells: who it was post-trained from, its family, its size. Names are guesses; links can be corrected. */

/** Words that names of post-trained models carry behind those of their base model. One row a kind of post-training. */
const postTrainingWords: readonly RegExp[] = [
  /instruct(ion)?([-_]?tuned)?/,
  /chat/,
  /it/,
  /sft/,
  /(i|o|c|s)?r?dpo/,
  /ppo|grpo|rlvr|rlhf|rl/,
  /kto|orpo|simpo/,
  /aligned|tuned|assistant|post[-_]?trained/,
];

/** What comes behind a post-training word: which release of it. */
const release = String.raw`([-_]?(v?\d+([._]\d+)*|hf|final|preview|beta|alpha))*`;
const postTrained = new RegExp(
  `^(.+?)(([-_.](?:${postTrainingWords.map(({ source }) => source).join('|')}))+${release})$`,
  'i',
);

/** Words of base models that their post-trained versions leave out: `gemma-3-1b-pt`, `Mistral-Nemo-Base-2407`. */
const baseWords = /[-_](base|pt|pretrained)(?=$|[-_])/i;

/** The last part of a name: `org/name` and `imported:org/name` as `name`. */
const ownName = (name: string): string =>
  name
    .replace(/\s*\(.*\)$/, '')
    .split(/[\\/:]/)
    .filter(Boolean)
    .at(-1) ?? name;

/** As names are compared: without the organisation, the words of base models, case and the kind of dash. */
export const plainName = (name: string): string =>
  ownName(name)
    .replace(baseWords, '')
    .toLowerCase()
    .replace(/[-_\s]+/g, '-');

/** The name without its post-training words: `Qwen2-7B-Instruct` → `qwen2-7b`; null for what has none. */
export function nameOfBase(name: string): string | null {
  const [, base] = postTrained.exec(ownName(name)) ?? [];
  return base === undefined ? null : plainName(base);
}

/** A size such as 7B, 135M, 1.5b, 260k, 8x7B, also with `0_5b` and `A3B` (parameters that are active). */
const size = /^((\d+x)?\d+([._]\d+)?[kmbt]|[ae]\d+([._]\d+)?b)$/i;
/** Sizes in words. */
const sizeWord = /^(nano|micro|mini|tiny|small|medium|base|large|xl|xxl|huge|giant)$/i;

/**
 * Models that were made in one way and differ in size or training, by the name: what stands before the size and the
 * post-training words. `Qwen/Qwen2.5-7B-Instruct` → `Qwen2.5`, `pythia-160m-deduped` → `pythia`, `gpt2-xl` → `gpt2`.
 */
export function familyOf(name: string): string {
  const own = ownName(name);
  const [, base] = postTrained.exec(own) ?? [];
  const parts = (base ?? own).split(/[-_\s]/);
  const at = parts.findIndex((part, position) => position > 0 && (size.test(part) || sizeWord.test(part)));
  const family = (at > 0 ? parts.slice(0, at) : parts).join('-');
  // A size without a dash in front: `stories260k`.
  const [, glued] = /^([a-z]{3,})\d+([._]\d+)?[kmb]$/i.exec(family) ?? [];
  return glued ?? (family || own);
}

/** `7b`, `1.5B`, `135M`, `8x7B`, `0.5b`, `260K`: a number and a letter, as a part of its own. */
const sizePart = /(?<![\p{L}\d.])(?:(\d+)x)?(\d+(?:\.\d+)?)\s?([KMBT])(?![\p{L}\d])/giu;
const units: Record<string, number> = { k: 1e3, m: 1e6, b: 1e9, t: 1e12 };

/** Parameters in units: 7e9 for `Llama-2-7b`; null where the name has no size, or several. */
export function sizeInName(name: string): number | null {
  const sizes = [...ownName(name).matchAll(sizePart)].map(
    ([, experts, number, unit]) =>
      Number(experts ?? 1) * Number(number) * (units[unit?.toLowerCase() ?? ''] ?? Number.NaN),
  );
  const [size, ...others] = new Set(sizes);
  return size !== undefined && others.length === 0 ? size : null;
}
