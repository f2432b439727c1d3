/** `format_span` of lm-evaluation-harness 0.4.13 (filters/transformation.py): named entities as `label: text $ label: text`. */
import { strip } from './python.ts';
import { findAll, substitute } from './python-regex.ts';

/** Words that models write for the four labels, in the order in which the harness replaces them. */
const labels: readonly [string, string][] = [
  ['person', 'PER'],
  ['location', 'LOC'],
  ['organization', 'ORG'],
  ['counties', 'LOC'],
  ['places', 'LOC'],
  ['people', 'PER'],
  ['persons', 'PER'],
  ['company', 'ORG'],
  ['country', 'LOC'],
  ['continent', 'LOC'],
  ['time', 'DATE'],
  ['date', 'DATE'],
  ['per', 'PER'],
  ['loc', 'LOC'],
  ['org', 'ORG'],
];

/** One label for each kind of entity, one `$` between entities. */
function uniform(text: string): string {
  let out = text.toLowerCase();
  for (const [word, label] of labels) out = substitute(`\\b${word}\\s*:`, `${label}:`, out);
  return out.split('$$').join('$').replace(/\$+$/, '');
}

export function formatSpan(output: string): string {
  const text = strip(uniform(output).replaceAll('\n', '$'));
  return findAll('\\b(PER|LOC|ORG|DATE):\\s*([^$]+)', text)
    .flatMap(({ groups }) => {
      const label = (groups[0]?.text ?? '').toLowerCase();
      const entities = (groups[1]?.text ?? '').split(',').map(strip);
      return entities.filter((entity) => entity.toLowerCase() !== 'none').map((entity) => `${label}: ${entity}`);
    })
    .join(' $ ');
}
