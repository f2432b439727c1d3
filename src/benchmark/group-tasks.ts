/** Opens what a group file holds: the group itself, or one of its benchmarks by `group.yaml#name`. */
import { HumanError } from '../shared/errors.ts';
import { bigBenchGroup, isBigBenchFile } from './big-bench-open.ts';
import { Configuration, readConfiguration } from './configuration.ts';
import { type Group, isGroupConfiguration, readGroup, tasksOf } from './group.ts';

/** `group.yaml#task`: file and name; the name null for a file as such. */
export function addressParts(address: string): { file: string; task: string | null } {
  const found = /^(.*\.ya?ml)#(.+)$/is.exec(address);
  return found ? { file: found[1] ?? address, task: found[2] ?? null } : { file: address, task: null };
}

/**
 * The configuration of a benchmark: of its file, or of a task in a group with the keys that the group gives it.
 * @throws HumanError where the group has no such task
 */
export async function readBenchmarkConfiguration(address: string, text?: string): Promise<Configuration> {
  const { file, task } = addressParts(address);
  if (task === null) return readConfiguration(file, text);
  const group = await readConfiguration(file, text);
  const found = tasksOf(await readGroup(group)).find(({ name }) => name === task);
  if (!found) throw new HumanError('bad-input', `The group has no benchmark "${task}".`, { place: { file } });
  const own = found.inline ? new Configuration(group.file) : await readConfiguration(found.file);
  if (found.inline) own.files.push(group.file);
  for (const [key, value] of Object.entries({ ...found.keys, task: found.name })) own.adoptFrom(group, key, value);
  if (!own.files.includes(group.file)) own.files.push(group.file);
  own.address = address;
  return own;
}

/**
 * The group that a file describes; null where the file is a benchmark or none.
 * @throws HumanError where it is a group with something wrong in it
 */
export async function openGroup(file: string): Promise<Group | null> {
  if (isBigBenchFile(file)) return bigBenchGroup(file);
  if (!/\.ya?ml$/i.test(file)) return null;
  const configuration = await readConfiguration(file);
  const broken = configuration.problems.some(({ code }) => ['broken-yaml', 'missing-file'].includes(code));
  if (broken || !isGroupConfiguration(configuration)) return null;
  const group = await readGroup(configuration);
  const error = configuration.problems.find(({ severity }) => severity === 'error');
  if (error) throw new HumanError('bad-input', error.message, { place: error.place });
  return group;
}
