// Writes the data of the example benchmarks (examples/benchmarks/data) from fixed seeds: `node scripts/make-examples.mjs`.
// The same command gives the same bytes on every machine; its output is committed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'examples', 'benchmarks', 'data');

/** Random source with a 32-bit state (mulberry32), so that a seed means the same data everywhere. */
function randomSource(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = (list) => list[Math.floor(next() * list.length)];
  const shuffled = (list) => {
    const copy = [...list];
    for (let last = copy.length - 1; last > 0; last--) {
      const other = Math.floor(next() * (last + 1));
      [copy[last], copy[other]] = [copy[other], copy[last]];
    }
    return copy;
  };
  return { next, pick, shuffled };
}

// Words and sentences of the kind that a model trained on children's stories has seen often. The names are one or two
// tokens long in the bundled model's vocabulary of 512, so that four stories and a question fit its 512 positions.
const names = ['Tim', 'Lily', 'Tom', 'Ben', 'Sam', 'Ted', 'Mom', 'Dad'];
const colours = ['red', 'blue', 'green', 'pink'];
const pets = ['cat', 'dog', 'bird', 'fish'];
const places = ['park', 'store', 'farm', 'big tree'];
const middles = [
  'The sun was big and warm.',
  'They ran and played all day.',
  'They had a lot of fun.',
  'They sat on the grass and ate.',
];
const endings = ['Then they went home.', 'They were very happy.', 'Then it was time to go to bed.'];

/** A story of about 40 words, a sentence a line: `owner` has a pet and a hat of `colour`, and meets `friend`. */
function story({ pick, shuffled }, owner, friend, colour) {
  const pet = pick(pets);
  const sentences = [
    ...shuffled([`${owner} had a pet ${pet}.`, `${owner} had a ${colour} hat.`]),
    `One day, ${owner} went to the ${pick(places)} with the ${pet}.`,
    `${owner} saw ${friend} there.`,
    `They played with the ${colour} hat.`,
  ];
  const fill = shuffled(middles);
  const ending = pick(endings);
  const words = () => [...sentences, ending].join(' ').split(' ').length;
  while (words() < 36) sentences.push(fill.pop());
  return [...sentences, ending].join('\n');
}

function whoItem(random) {
  const [owner, friend] = random.shuffled(names);
  return { story: story(random, owner, friend, random.pick(colours)), owner };
}

function yesNoItem(random, yes) {
  const [owner, friend] = random.shuffled(names);
  const [colour, otherColour] = random.shuffled(colours);
  return {
    story: story(random, owner, friend, colour),
    colour: yes ? colour : otherColour,
    answer: yes ? 'yes' : 'no',
  };
}

/** `count` items, none of them twice and none that is in `taken`. */
function distinct(count, taken, make) {
  const items = [];
  while (items.length < count) {
    const item = make(items.length);
    const key = JSON.stringify(item);
    if (taken.has(key)) continue;
    taken.add(key);
    items.push(item);
  }
  return items;
}

/** Of the npm package countries-list (MIT): what is no part of another country and whose capital has a name of its own. */
function capitals() {
  const file = join(root, 'node_modules', 'countries-list', 'countries.min.json');
  return Object.values(JSON.parse(readFileSync(file, 'utf8')))
    .filter((country) => country.capital && !country.partOf && country.capital !== country.name)
    .map((country) => ({ country: country.name, capital: country.capital }));
}

function write(name, items) {
  writeFileSync(join(folder, name), items.map((item) => `${JSON.stringify(item)}\n`).join(''));
  console.log(`examples/benchmarks/data/${name}  ${items.length} items`);
}

mkdirSync(folder, { recursive: true });
const splits = { train: 704, test: 128 };
{
  const random = randomSource(1);
  const taken = new Set();
  for (const [split, count] of Object.entries(splits))
    write(
      `stories-who.${split}.jsonl`,
      distinct(count, taken, () => whoItem(random)),
    );
}
{
  const random = randomSource(2);
  const taken = new Set();
  for (const [split, count] of Object.entries(splits))
    write(
      `stories-yes-no.${split}.jsonl`,
      random.shuffled(distinct(count, taken, (position) => yesNoItem(random, position % 2 === 0))),
    );
}
{
  const items = randomSource(3).shuffled(capitals());
  write('capitals.train.jsonl', items.slice(60));
  write('capitals.test.jsonl', items.slice(0, 60));
}
