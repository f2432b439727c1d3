/** The JSON Schema that answers must fit: `metadata.softbench.schema`, written in the benchmark file or in one of its own. */
import { dirname, isAbsolute, resolve } from 'node:path';
import { type Schema, Validator } from '@cfworker/json-schema';
import type { Configuration } from './configuration.ts';
import { jsonValue } from './relaxed-json.ts';
import { readSource } from './source-file.ts';
import { mapping } from './values.ts';

const path = ['metadata', 'softbench', 'schema'];

/** Drafts of JSON Schema by what `$schema` says; 2020-12 where it says nothing. */
const drafts: readonly (readonly [RegExp, '4' | '7' | '2019-09' | '2020-12'])[] = [
  [/draft-0?4/, '4'],
  [/draft-0?[67]/, '7'],
  [/2019-09/, '2019-09'],
];

/**
 * Puts the schema of a file that `schema` names in the place of its name, so that it is part of the configuration's digest.
 * The path is relative to the benchmark file or to the file that `metadata` comes from. Problems are added.
 */
export async function readAnswerSchema(configuration: Configuration): Promise<void> {
  const softbench = mapping(mapping(configuration.values.metadata).softbench);
  if (!('schema' in softbench) || softbench.schema === null) return;
  if (typeof softbench.schema === 'string') {
    const name = softbench.schema;
    const places = configuration
      .foldersOf('metadata')
      .map((folder) => (isAbsolute(name) ? name : resolve(folder, name)));
    const [first = resolve(dirname(configuration.file), name)] = places;
    let source = await readSource(first);
    let file = first;
    for (const place of places.slice(1))
      if (source.text === null) {
        const other = await readSource(place);
        if (other.text !== null) [source, file] = [other, place];
      }
    if (source.text === null) return configuration.add('error', 'missing-schema', source.reason, path);
    const value = jsonValue(source.text);
    if (value === undefined) return configuration.add('error', 'wrong-schema', `${file} is not valid JSON.`, path);
    softbench.schema = value;
    configuration.files.push(file);
  }
  const fault = schemaFault(softbench.schema);
  if (fault !== null) configuration.add('error', 'wrong-schema', fault, path);
}

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** What is wrong with a schema; null where it can be used. */
function schemaFault(schema: unknown): string | null {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return '`schema` must be a JSON Schema (a mapping) or the path of a file with one.';
  for (const type of [mapping(schema).type].flat())
    if (type !== undefined && !types.includes(String(type)))
      return `\`type: ${String(type)}\` is no type of JSON Schema; there are ${types.map((one) => `\`${one}\``).join(', ')}.`;
  try {
    // References and patterns are looked up when a value is checked.
    const fits = answerFits(schema);
    for (const value of [{}, [], '', 0, null]) fits(value);
    return null;
  } catch (thrown) {
    return `The schema cannot be used: ${thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown)}`;
  }
}

/** Does a value fit a JSON Schema? */
export function answerFits(schema: object): (value: unknown) => boolean {
  const named = String(mapping(schema).$schema ?? '');
  const validator = new Validator(schema as Schema, drafts.find(([pattern]) => pattern.test(named))?.[1] ?? '2020-12');
  return (value) => validator.validate(value).valid;
}
