/** A read in several runs: fewer rows at a time, or fewer tokens of each. */
import type { Distribution, Wanted } from './run-tensors.ts';

type Tokens = readonly number[];

/** Distributions of parts, put where they belong among those of the whole. */
class Collected {
  readonly #found: (Distribution | undefined)[];
  constructor(private readonly wanted: readonly Wanted[]) {
    this.#found = new Array(wanted.length);
  }

  /** Reads what is wanted of a part: `holds` tells whether a place is in it, `moved` where it is there. */
  async part(
    holds: (want: Wanted) => boolean,
    moved: (want: Wanted) => Wanted,
    read: (wanted: Wanted[]) => Promise<Distribution[]>,
  ): Promise<void> {
    const here = [...this.wanted.entries()].filter(([, want]) => holds(want));
    const results = await read(here.map(([, want]) => moved(want)));
    for (const [index, [place]] of here.entries()) this.#found[place] = results[index];
  }

  get all(): Distribution[] {
    return this.#found.map((distribution) => {
      if (!distribution) throw new Error('A wanted position is not among the tokens.');
      return distribution;
    });
  }
}

/** Reads `count` rows at a time; `read` is told the first row of each group. */
export async function inGroups(
  tokens: readonly Tokens[],
  wanted: readonly Wanted[],
  count: number,
  read: (first: number, tokens: readonly Tokens[], wanted: readonly Wanted[]) => Promise<Distribution[]>,
): Promise<Distribution[]> {
  if (tokens.length <= count) return read(0, tokens, wanted);
  const collected = new Collected(wanted);
  for (let first = 0; first < tokens.length; first += count)
    await collected.part(
      ({ row }) => row >= first && row < first + count,
      (want) => ({ ...want, row: want.row - first }),
      (own) => read(first, tokens.slice(first, first + count), own),
    );
  return collected.all;
}

/** Reads `length` tokens of each row at a time; `read` is told where each piece begins. */
export async function inPieces(
  tokens: readonly Tokens[],
  wanted: readonly Wanted[],
  length: number,
  read: (start: number, tokens: readonly Tokens[], wanted: readonly Wanted[]) => Promise<Distribution[]>,
): Promise<Distribution[]> {
  const longest = Math.max(...tokens.map((row) => row.length));
  if (longest <= length) return read(0, tokens, wanted);
  const collected = new Collected(wanted);
  for (let start = 0; start < longest; start += length) {
    const end = start + length;
    await collected.part(
      // The last vector of a soft prompt stands before the first token.
      ({ position }) => position < end && (position >= start || (start === 0 && position < 0)),
      (want) => ({ ...want, position: want.position - start }),
      (own) =>
        read(
          start,
          tokens.map((row) => row.slice(start, end)),
          own,
        ),
    );
  }
  return collected.all;
}
