/**
 * Translation edit rate (Snover et al. 2006): edits per reference word, where moving a run of words is one edit. The best
 * moves are looked for greedily with the limits of the authors' program, Tercom, as sacrebleu 2 does it: a move must mend
 * something on both sides, and among moves that save as much the longest, then the earliest one is made.
 */
import type { CorpusMetric } from './corpus-metric.ts';
import { wordsOf } from './words.ts';

const longestMove = 10;
const farthestMove = 50;
const mostCandidates = 1000;
/** Cells of the edit matrix that are looked at on either side of its diagonal. */
const beamWidth = 25;

type Operation = 'keep' | 'replace' | 'insert' | 'delete';

interface Edits {
  distance: number;
  /** From output to reference: `delete` drops a word of the output, `insert` adds one of the reference. */
  operations: Operation[];
}

/** Levenshtein distance around the diagonal. Among equal costs replacing comes first, then deleting, then inserting. */
function edits(output: readonly string[], reference: readonly string[]): Edits {
  const [rows, columns] = [output.length, reference.length];
  const width = columns + 1;
  const cost = new Float64Array((rows + 1) * width).fill(Number.POSITIVE_INFINITY);
  const made = new Array<Operation>((rows + 1) * width);
  for (let column = 0; column <= columns; column++) {
    cost[column] = column;
    made[column] = 'insert';
  }
  const ratio = rows > 0 ? columns / rows : 1;
  const beam = beamWidth < ratio / 2 ? Math.ceil(ratio / 2 + beamWidth) : beamWidth;
  const at = (row: number, column: number): number => cost[row * width + column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= rows; row++) {
    const diagonal = Math.floor(row * ratio);
    const last = row === rows ? columns : Math.min(columns, diagonal + beam - 1);
    for (let column = Math.max(0, diagonal - beam); column <= last; column++) {
      const place = row * width + column;
      const same = column > 0 && output[row - 1] === reference[column - 1];
      const ways: [number, Operation][] = [
        [column > 0 ? at(row - 1, column - 1) + (same ? 0 : 1) : Number.POSITIVE_INFINITY, same ? 'keep' : 'replace'],
        [at(row - 1, column) + 1, 'delete'],
        [column > 0 ? at(row, column - 1) + 1 : Number.POSITIVE_INFINITY, 'insert'],
      ];
      for (const [price, operation] of ways)
        if (price < at(row, column)) {
          cost[place] = price;
          made[place] = operation;
        }
    }
  }
  const operations: Operation[] = [];
  for (let row = rows, column = columns; row > 0 || column > 0; ) {
    const operation = made[row * width + column];
    if (operation === undefined) throw new Error('The beam of the edit distance lost its way.');
    operations.push(operation);
    if (operation !== 'insert') row--;
    if (operation !== 'delete') column--;
  }
  return { distance: at(rows, columns), operations: operations.reverse() };
}

/** Where each word of the reference stands in the output, and which words of either side are wrong. */
function alignment(operations: readonly Operation[]) {
  const places: number[] = [];
  const wrongInReference: boolean[] = [];
  const wrongInOutput: boolean[] = [];
  let place = -1;
  for (const operation of operations) {
    if (operation !== 'insert') {
      place++;
      wrongInOutput.push(operation !== 'keep');
    }
    if (operation !== 'delete') {
      places.push(place);
      wrongInReference.push(operation !== 'keep');
    }
  }
  return { places, wrongInReference, wrongInOutput };
}

/** The words with `length` of them from `start` moved to stand before what is at `target`. */
function moved(words: readonly string[], start: number, length: number, target: number): string[] {
  const run = words.slice(start, start + length);
  const rest = [...words.slice(0, start), ...words.slice(start + length)];
  // A target behind the run counts words that the run leaves in front; one within it counts from the run's start.
  const place = target > start + length ? target - length : target;
  return [...rest.slice(0, place), ...run, ...rest.slice(place)];
}

interface Move {
  saved: number;
  length: number;
  start: number;
  target: number;
  words: string[];
}

const better = (a: Move, b: Move): boolean => {
  const difference = a.saved - b.saved || a.length - b.length || b.start - a.start || b.target - a.target;
  if (difference !== 0) return difference > 0;
  // Equal moves may still give other words; the greater list, as Python compares lists.
  for (const [at, word] of a.words.entries()) if (word !== b.words[at]) return word > (b.words[at] ?? '');
  return false;
};

/** The move that saves most edits; `tried` counts all moves looked at for this output. */
function bestMove(
  output: readonly string[],
  reference: readonly string[],
  distanceOf: (words: readonly string[]) => Edits,
  tried: { count: number },
): Move | null {
  const before = distanceOf(output);
  const { places, wrongInReference, wrongInOutput } = alignment(before.operations);
  let best: Move | null = null;
  for (let start = 0; start < output.length; start++)
    for (let wanted = 0; wanted < reference.length; wanted++) {
      if (Math.abs(wanted - start) > farthestMove) continue;
      for (
        let length = 1;
        length <= longestMove &&
        start + length <= output.length &&
        wanted + length <= reference.length &&
        output[start + length - 1] === reference[wanted + length - 1];
        length++
      ) {
        if (!wrongInOutput.slice(start, start + length).some(Boolean)) continue;
        if (!wrongInReference.slice(wanted, wanted + length).some(Boolean)) continue;
        const aligned = places[wanted] ?? -1;
        if (aligned >= start && aligned < start + length) continue;
        let previous = -1;
        for (let offset = -1; offset < length; offset++) {
          const neighbour = wanted + offset === -1 ? -1 : places[wanted + offset];
          if (neighbour === undefined) break;
          const target = neighbour + 1;
          if (target === previous) continue;
          previous = target;
          const words = moved(output, start, length, target);
          const move = { saved: before.distance - distanceOf(words).distance, length, start, target, words };
          tried.count++;
          if (!best || better(move, best)) best = move;
        }
        if (tried.count >= mostCandidates) return best;
      }
    }
  return best;
}

/** The least number of edits, moves included, that is found from output words to reference words. */
export function translationEdits(output: readonly string[], reference: readonly string[]): number {
  if (reference.length === 0) return output.length;
  const known = new Map<string, Edits>();
  const distanceOf = (words: readonly string[]): Edits => {
    const key = words.join('\0');
    const found = known.get(key) ?? edits(words, reference);
    if (known.size < 1000) known.set(key, found);
    return found;
  };
  const tried = { count: 0 };
  let words = output;
  let moves = 0;
  for (;;) {
    const move = bestMove(words, reference, distanceOf, tried);
    if (tried.count >= mostCandidates || !move || move.saved <= 0) break;
    moves++;
    words = move.words;
  }
  return moves + distanceOf(words).distance;
}

/** Statistics: edits against the best reference, mean length of the references. */
export const ter: CorpusMetric = {
  statistics(output, references) {
    const words = wordsOf(output.toLowerCase());
    const golds = references.map((reference) => wordsOf(reference.toLowerCase()));
    return [
      Math.min(...golds.map((gold) => translationEdits(words, gold))),
      golds.reduce((sum, gold) => sum + gold.length, 0) / golds.length,
    ];
  },
  score: ([count = 0, length = 0]) => (length > 0 ? (100 * count) / length : count > 0 ? 100 : 0),
};
