/** A process of its own that marks items of a run folder: `FOLDER FIRST COUNT` marks COUNT items from FIRST on. */
import { setMark } from '../../src/runs/index.ts';

const [folder = '', first = '0', count = '0'] = process.argv.slice(2);
for (let index = Number(first); index < Number(first) + Number(count); index++)
  await setMark(folder, index, { kind: 'bad gold', note: `by ${first}` });
