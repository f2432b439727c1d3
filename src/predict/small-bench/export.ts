/** A list of subtasks as a group file: for lm-evaluation-harness, and for `softbench compare FILE`. */
import { stringify } from 'yaml';
import { HumanError } from '../../shared/errors.ts';

export interface GroupFile {
  /** Name of the group: letters, digits, - and _. */
  name: string;
  tasks: readonly string[];
  /** How it was found, for the comment at its top. */
  comment: readonly string[];
}

/** The text of the file: `group`, `task` and `metadata`, which both programs read. */
export function groupYaml({ name, tasks, comment }: GroupFile): string {
  if (tasks.length === 0)
    throw new HumanError('bad-input', 'There is no list to export: no subtask was chosen.', {
      todo: 'Let the search run longer.',
    });
  const head = comment.map((line) => `# ${line.replace(/\s+/g, ' ')}\n`).join('');
  return head + stringify({ group: groupName(name), task: [...tasks], metadata: { version: 1 } }, { lineWidth: 0 });
}

/** A name that both programs take: other characters become _. */
const groupName = (text: string): string =>
  text.replace(/[^\p{L}\d_-]+/gu, '_').replace(/^_+|_+$/g, '') || 'small_bench';
