/**
 * Several tokens of a row in one run, without another model. Text repeats itself: what followed the last time the two
 * newest tokens stood together is proposed, read behind them in the same run, and kept as far as the model's own choice
 * is the same. Reading a few rows more costs little where a step's time goes into reading the weights, which it does on
 * a CPU; the outputs are those of one token at a time, sampled ones too.
 *
 * Checking proposed tokens in one run: Leviathan et al. 2023 (arXiv 2211.17192); proposals out of the text itself:
 * "prompt lookup decoding" (A. Saxena 2023).
 */

/** Most tokens proposed to one row. */
export const mostProposed = 8;

/**
 * What a position more costs, as a share of reading all weights once. Products of SmolLM2-135M's shapes with packed
 * float32 weights, in CPU time by rows: 1: 17, 2: 19, 4: 22, 8: 25, 16: 29, 32: 38; attention and norms come on top.
 */
const positionCost = 0.06;

/** Weight of the newest outcome in a row's rate of kept proposals, and the rate that a row begins with. */
const memory = 0.2;
const firstTrust = 0.5;

const pairs = 2 ** 26;

/** One row's text, and how far its past has told its future. */
export class Drafter {
  readonly #tokens: number[] = [];
  /** Two tokens that stood together → place behind them, the latest one. */
  readonly #behind = new Map<number, number>();
  #match: number | null = null;
  #trust = firstTrust;

  constructor(tokens: readonly number[]) {
    for (const token of tokens) this.push(token);
  }

  push(token: number): void {
    const before = this.#tokens.at(-1);
    this.#tokens.push(token);
    if (before === undefined) return;
    const pair = before * pairs + token;
    this.#match = this.#behind.get(pair) ?? null;
    this.#behind.set(pair, this.#tokens.length);
  }

  /** Up to `count` tokens that may come next. */
  propose(count: number): number[] {
    const proposed: number[] = [];
    if (this.#match === null) return proposed;
    for (let at = this.#match; proposed.length < count; at++) {
      // A text that repeats itself at once goes on in what is proposed.
      const token = this.#tokens[at] ?? proposed[at - this.#tokens.length];
      if (token === undefined) break;
      proposed.push(token);
    }
    return proposed;
  }

  /** How many of `count` proposals are likely to be kept. */
  expected(count: number): number {
    if (this.#match === null) return 0;
    let sum = 0;
    for (let at = 1; at <= count; at++) sum += this.#trust ** at;
    return sum;
  }

  /** Learns from a run: `kept` of `proposed` tokens were the model's own. */
  note(proposed: number, kept: number): void {
    for (let at = 0; at < kept; at++) this.#trust += memory * (1 - this.#trust);
    if (kept < proposed) this.#trust -= memory * this.#trust;
    // Not proposing teaches nothing: slowly back to where a row begins.
    if (proposed === 0 && this.#trust < firstTrust) this.#trust += 0.02 * (firstTrust - this.#trust);
  }
}

/**
 * How many tokens to propose to each row of a batch: the number with the most tokens for the time. All rows of a run are
 * as long as the longest, so it is one number. `rooms`: what each row may produce beyond its next token.
 */
export function proposals(drafters: readonly Drafter[], rooms: readonly number[]): number {
  const rows = drafters.length;
  let [best, bestRate] = [0, rows / (1 + positionCost * rows)];
  for (let count = 1; count <= mostProposed; count++) {
    const tokens = drafters.reduce(
      (sum, drafter, row) => sum + 1 + drafter.expected(Math.min(count, rooms[row] ?? 0)),
      0,
    );
    const rate = tokens / (1 + positionCost * rows * (1 + count));
    if (rate > bestRate) [best, bestRate] = [count, rate];
  }
  return best;
}
