/** What a model's name tells where no column does: its size, and the family of which it is one size. */

/** `7b`, `1.5B`, `135M`, `8x7B`, `0.5b`, `260K`: a number and a letter, as a part of its own. */
const sizePart = /(?<![\p{L}\d.])(?:(\d+)x)?(\d+(?:\.\d+)?)\s?([KMBT])(?![\p{L}\d])/giu;
const units: Record<string, number> = { k: 1e3, m: 1e6, b: 1e9, t: 1e12 };

/** Words that say what was done to a model, not which one it is. */
const trainingWords = new Set([
  'base',
  'hf',
  'instruct',
  'chat',
  'it',
  'sft',
  'dpo',
  'rlhf',
  'pt',
  'onnx',
  'fp16',
  'int8',
  'q4',
  'pretrained',
]);

/** Parameters in units: 7e9 for `Llama-2-7b`; null where the name has no size, or several. */
export function sizeInName(model: string): number | null {
  const sizes = [...lastPart(model).matchAll(sizePart)].map(
    ([, experts, number, unit]) =>
      Number(experts ?? 1) * Number(number) * (units[unit?.toLowerCase() ?? ''] ?? Number.NaN),
  );
  const [size, ...others] = new Set(sizes);
  return size !== undefined && others.length === 0 ? size : null;
}

/** `Llama-2` for `meta-llama/Llama-2-7b-chat-hf`: the name without its owner, its size and what was done to it. */
export function familyInName(model: string): string {
  const name = lastPart(model);
  const parts = name
    .replace(sizePart, '')
    .split(/[-_\s]+/)
    .filter((part) => part !== '' && !trainingWords.has(part.toLowerCase()));
  return parts.length > 0 ? parts.join('-') : name;
}

const lastPart = (model: string): string => model.split(/[\\/]/).filter(Boolean).at(-1) ?? model;
