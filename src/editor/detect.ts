/**
 * Is this text a benchmark file, and where is its `task:`? Asked for every YAML file that is opened and at every key
 * stroke, so it looks at the lines only; the benchmark room parses.
 */

export interface TaskLine {
  /** From 0. */
  line: number;
  /** From 0: start of `task` and end of the line's text. */
  start: number;
  end: number;
  task: string;
}

/** Keys of which a task file has at least one at its top level; a group file (`task:` with a list) has none. */
const companions = ['doc_to_text', 'doc_to_target', 'dataset_path', 'output_type', 'include'];

const topLevelKey = /^(?:"([A-Za-z_]+)"|'([A-Za-z_]+)'|([A-Za-z_]+))\s*:(?=\s|$)(.*)$/;

/** The `task:` line of a benchmark file; null where the text is something else. */
export function findTask(text: string): TaskLine | null {
  let found: TaskLine | null = null;
  let isBenchmark = false;
  const lines = text.split('\n');
  for (const [line, raw] of lines.entries()) {
    const content = raw.replace(/\r$/, '').replace(/^\uFEFF/, '');
    const match = topLevelKey.exec(content);
    if (!match) continue;
    const key = match[1] ?? match[2] ?? match[3] ?? '';
    if (key === 'task' && !found) {
      const task = scalar(match[4] ?? '');
      if (task) found = { line, start: 0, end: content.length, task };
    } else if (companions.includes(key)) isBenchmark = true;
    if (found && isBenchmark) return found;
  }
  return null;
}

/** A plain or quoted scalar on one line; empty for a list, a mapping or nothing. */
function scalar(text: string): string {
  const value = text.trim();
  const quoted = /^(?:"([^"]*)"|'([^']*)')/.exec(value);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  const plain = value.replace(/(?:^|\s)#.*$/, '').trim();
  return /^[[{|>&*!-]/.test(plain) ? '' : plain;
}
