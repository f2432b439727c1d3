/** Choosing the next token. Every item has its own stream of random numbers, so a batch's other rows change nothing. */

/** mulberry32 (T. Ettinger, public domain): 32 bits of state, uniform in [0, 1). */
export function randomStream(seed: number, stream: number): () => number {
  // Mixes the two numbers so that neighbouring items do not get neighbouring states.
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Draws from softmax(logits / temperature), cut to the smallest set of tokens whose probabilities add up to `topP`
 * (nucleus sampling, Holtzman et al. 2020). `logits` [vocabulary].
 */
export function sampleToken(logits: Float32Array, temperature: number, topP: number, random: () => number): number {
  let maximum = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > maximum) maximum = logit;
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - maximum) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const draw = random();
  const pick = (order: Iterable<number>, mass: number): number => {
    let left = draw * mass;
    let last = 0;
    for (const token of order) {
      const weight = weights[token] ?? 0;
      if (weight > 0) last = token;
      left -= weight;
      if (left < 0) return token;
    }
    return last;
  };
  if (topP >= 1) return pick(weights.keys(), total);
  const order = [...weights.keys()].sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b);
  let mass = 0;
  let count = 0;
  while (count < order.length && mass < topP * total) mass += weights[order[count++] ?? 0] ?? 0;
  return pick(order.slice(0, count), mass);
}
