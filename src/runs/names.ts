/** Names of run folders: sortable by time, readable, and valid on every file system. */
import { HumanError } from '../shared/errors.ts';

/** Letters, digits, dot, minus and underscore; at most 40 characters, none of the others at the ends. */
function safeName(text: string): string {
  const safe = text
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-._]+/, '')
    .slice(0, 40)
    .replace(/[-._]+$/, '');
  return safe || 'unnamed';
}

/** `<time>-<benchmark>-<model>-<mode>`; the time is UTC to the second. */
export function runName(created: Date, task: string, model: string, mode: string): string {
  const [day = '', time = ''] = created.toISOString().split('T');
  const stamp = `${day.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
  return [stamp, safeName(task), safeName(model), safeName(mode)].join('-');
}

/** An id is the name of a folder and nothing else: no path may come in through it. */
export function checkRunId(id: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id)) throw new HumanError('bad-input', `"${id}" is not the name of a run.`);
  return id;
}
