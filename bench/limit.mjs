// The least work of a tuning step: what has to be multiplied, whatever the program.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sizes of a Llama-like model from its config.json; throws for others, whose blocks have other products. */
export function shapeOf(folder) {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const heads = config.num_attention_heads;
  const headSize = config.head_dim ?? config.hidden_size / heads;
  const shape = {
    hidden: config.hidden_size,
    intermediate: config.intermediate_size,
    layers: config.num_hidden_layers,
    heads,
    keyValueHeads: config.num_key_value_heads ?? heads,
    headSize,
    vocabulary: config.vocab_size,
  };
  if (Object.values(shape).some((size) => !Number.isFinite(size)))
    throw new Error(`${folder}: the least work of a step is known for Llama-like models only.`);
  return shape;
}

/**
 * Floating-point operations (a multiply-add is two) of one step: every linear layer forward and once more for the
 * gradient of its input (a frozen layer needs none for its weight), attention with its full square of scores three times
 * (forward once, backward twice), the output head at answer positions only.
 */
export function leastFlops(shape, { batch, length, vectors, answer }) {
  const { hidden, intermediate, layers, heads, keyValueHeads, headSize, vocabulary } = shape;
  const sequence = length + vectors;
  const block = 2 * hidden * heads * headSize + 2 * hidden * keyValueHeads * headSize + 3 * hidden * intermediate;
  const linear = 2 * 2 * layers * block * batch * sequence;
  const attention = 3 * layers * batch * heads * 2 * 2 * sequence * sequence * headSize;
  const head = 2 * 2 * hidden * vocabulary * batch * answer;
  return linear + attention + head;
}
