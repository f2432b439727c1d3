/** Templates mean what Jinja2 makes of them with the settings of lm-evaluation-harness (test/benchmark/make/oracles.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/benchmark/json.ts';
import { Template, TemplateError } from '../../src/benchmark/template.ts';
import { filters } from '../../src/benchmark/template-filters.ts';
import { globals } from '../../src/benchmark/template-scope.ts';
import { tests } from '../../src/benchmark/template-tests.ts';

const file = join(import.meta.dirname, '..', 'fixtures', 'benchmarks', 'jinja.json');
const oracle = parseJson(readFileSync(file, 'utf8')) as {
  fields: Record<string, unknown>;
  cases: { template: string; text?: string; error?: string }[];
  /** All names that Jinja2 has of itself. */
  filters: string[];
  tests: string[];
  globals: string[];
};

describe('as Jinja2', () => {
  test.each(oracle.cases)('$template', ({ template, text }) => {
    const render = (): string => new Template(template).render(oracle.fields);
    if (text === undefined) expect(render).toThrow(TemplateError);
    else expect(render()).toBe(text);
  });
});

describe('every built-in name of Jinja2 is here', () => {
  test.each(oracle.filters)('filter %s', (name) => expect([...filters.keys()]).toContain(name));
  test.each(oracle.tests)('test %s', (name) => expect([...tests.keys()]).toContain(name));
  test.each(oracle.globals)('global %s', (name) => expect([...globals.keys()]).toContain(name));
});

describe('what draws without a seed, and what nothing marks, is refused with the reason', () => {
  test.each([
    ['{{ choices | random }}', 'the template filter "random": it draws without a seed'],
    ['{{ lipsum() }}', 'lipsum(): it draws its text without a seed'],
    ["{{ ('<' | e) is escaped }}", 'no template test named "escaped"'],
  ])('%s', (template, message) => {
    expect(() => new Template(template).render(oracle.fields)).toThrow(message);
  });
});

describe('names that a template takes from the item', () => {
  test.each([
    ['{{question}} {{ choices[label] }}', ['question', 'choices', 'label']],
    ['{% for c in choices %}{{c}}{{loop.index}}{{other}}{% endfor %}', ['choices', 'other']],
    ['{% set x = a %}{{x}}', ['a']],
    ['{{ maybe | default("x") }}{% if maybe2 is defined %}y{% endif %}', []],
    ['{{ a.b.c }}{{ a["d"] }}{{ range(3) }}', ['a']],
    ['{% macro m(p, q=r) %}{{p}}{{q}}{{s}}{% endmacro %}{{ m(1) }}', ['r', 's']],
  ])('%s', (template, names) => {
    expect(new Template(template).names()).toEqual(names);
  });

  test('an undefined name is named in the message', () => {
    expect(() => new Template('{{ nested.missing }}').render({ nested: {} })).toThrow('"nested.missing" is undefined');
  });
});
