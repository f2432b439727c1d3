// Inputs of the benches: seeded, so that every program and every run gets the same.

/** Random source with a 32-bit state (mulberry32). */
export function randomSource(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Token ids from the middle of the vocabulary, where special tokens seldom stand. */
export function randomIds(count, vocabularySize, seed) {
  const random = randomSource(seed);
  const low = Math.floor(vocabularySize * 0.1);
  const span = Math.floor(vocabularySize * 0.8);
  return Array.from({ length: count }, () => low + Math.floor(random() * span));
}

const people = ['Nora', 'Viktor', 'Amina', 'Jonas', 'Priya', 'Mateo', 'Helga', 'Kenji'];
const goods = ['pencils', 'lanterns', 'apples', 'postcards', 'marbles', 'notebooks', 'candles', 'stamps'];

/** An invented word problem as long as those of GSM8K (about 45 words) with a worked solution (about 50 words). */
export function wordProblem(random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const number = (low, high) => low + Math.floor(random() * (high - low));
  const [person, thing] = [pick(people), pick(goods)];
  const [boxes, each, given, price] = [number(3, 20), number(4, 30), number(2, 11), number(2, 9)];
  const all = boxes * each;
  const rest = all - given;
  return {
    question:
      `${person} buys ${boxes} boxes of ${thing} for the market, and every box holds ${each} of them. On the way ` +
      `${person} gives ${given} of the ${thing} to a neighbour. The others are all sold for ${price} dollars apiece. ` +
      `How many dollars does ${person} have in the evening?`,
    answer:
      `${boxes} boxes with ${each} ${thing} each hold ${boxes} * ${each} = ${all} ${thing} together.\n` +
      `After the gift to the neighbour ${all} - ${given} = ${rest} ${thing} are left to be sold.\n` +
      `They bring in ${rest} * ${price} = ${rest * price} dollars on that day.\n#### ${rest * price}`,
  };
}

export const questionText = ({ question }) => `Question: ${question}\nAnswer:`;

/** Examples in front of a question, as a few-shot prompt has them. */
export const fewShotPrefix = (problems) =>
  problems.map((problem) => `${questionText(problem)} ${problem.answer}\n\n`).join('');
