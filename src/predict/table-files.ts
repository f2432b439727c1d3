/** Files with scores: CSV in the study's columns or as a mapping says, JSON as a mapping says. */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { readCsvRows } from './csv-rows.ts';
import { LeftOutCounter } from './left-out.ts';
import { type JoinedTable, RowMapper } from './mapped-rows.ts';
import { emptyMapping, type JoinRule, type Mapping } from './mapping.ts';
import { scaleSteps } from './scores.ts';
import { inTurns, type Steps, stepwise, turns } from './turn.ts';
import type { RecordTable, ScoreRecord } from './types.ts';

/**
 * Records of a CSV or JSON file.
 * @param file its path; messages name it so
 * @throws HumanError where it is no table, or where columns are missing
 */
export async function readTable(file: string, mapping: Mapping = emptyMapping): Promise<RecordTable> {
  const leftOut = new LeftOutCounter();
  const tables = await Promise.all(mapping.join.map((rule) => joinedTable(rule, mapping.file ?? file)));
  let mapper: RowMapper | null = null;
  let assumed: string[] = [];
  const begin = (header: string[]): RowMapper => {
    mapper = new RowMapper(mapping, header, file, leftOut, tables);
    return mapper;
  };
  if (/\.jsonl?$/i.test(file)) readJson(await textOf(file), file, mapping.levels, begin);
  else
    assumed = await readCsvRows(file, (header) => {
      const rows = begin(header);
      return (fields, line) => rows.read(fields, line);
    });
  const { records, notes } = mapper as unknown as RowMapper;
  const scaled = await inTurns(scaleSteps(records, file, leftOut), turns());
  return {
    records: await inTurns(withOwnNames(scaled), turns()),
    leftOut: leftOut.list(),
    notes: [...assumed, ...notes],
  };
}

/** In the study's tables `128b` is a model of several families: such names get their family in front. */
function* withOwnNames(records: ScoreRecord[]): Steps<ScoreRecord[]> {
  const families = new Map<string, Map<string, string>>();
  yield* stepwise(records, ({ model, family }) => {
    const names = families.get(model) ?? new Map<string, string>();
    if (!names.has(family)) names.set(family, `${family} ${model}`);
    families.set(model, names);
  });
  yield* stepwise(records, (record) => {
    const names = families.get(record.model);
    if (names && names.size > 1) record.model = names.get(record.family) ?? record.model;
  });
  return records;
}

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new HumanError('missing', 'The file cannot be read.', { place: { file }, cause });
  }
}

async function joinedTable(rule: JoinRule, mappingFile: string): Promise<JoinedTable> {
  const file = isAbsolute(rule.file) ? rule.file : join(dirname(mappingFile), rule.file);
  const rows = new Map<string, readonly string[]>();
  let header: readonly string[] = [];
  await readCsvRows(file, (names) => {
    header = names;
    const key = names.indexOf(rule.on);
    if (key < 0)
      throw new HumanError('bad-input', `The table to be joined has no column "${rule.on}".`, {
        place: { file, line: 1 },
        todo: `Its columns are: ${names.join(', ')}.`,
      });
    return (fields, line) => {
      const value = fields[key] ?? '';
      if (rows.has(value))
        throw new HumanError('bad-input', `"${value}" stands twice in the column "${rule.on}".`, {
          place: { file, line },
        });
      rows.set(value, fields);
    };
  });
  return { header, with: rule.with, rows };
}

/** A list of objects (or JSON lines): a row each. Nested objects: a row each number, its keys in the columns `levels`. */
function readJson(
  text: string,
  file: string,
  levels: readonly string[] | null,
  begin: (header: string[]) => RowMapper,
): void {
  const value = parsed(text, file);
  if (levels) {
    const rows = begin([...levels, 'score']);
    const walk = (node: unknown, keys: readonly string[]): void => {
      if (keys.length === levels.length) {
        if (typeof node === 'object' && node !== null)
          throw new HumanError(
            'bad-input',
            `${keys.join(' → ')} holds more keys; the mapping names ${levels.length} levels.`,
            {
              place: { file },
            },
          );
        rows.read([...keys, cell(node)], 0);
        return;
      }
      if (typeof node !== 'object' || node === null || Array.isArray(node))
        throw new HumanError(
          'bad-input',
          `${keys.join(' → ') || 'The file'} holds no "${levels[keys.length]}": keys and values are expected.`,
          {
            place: { file },
          },
        );
      for (const [key, inner] of Object.entries(node)) walk(inner, [...keys, key]);
    };
    walk(value, []);
    return;
  }
  if (!Array.isArray(value))
    throw new HumanError('bad-input', 'The file is no list of objects.', {
      place: { file },
      todo: 'Name the levels of its keys in a mapping file (`levels`, docs/predict.md).',
    });
  if (value.length === 0)
    throw new HumanError('bad-input', 'The list is empty: there are no scores.', { place: { file } });
  const objects = value.map((one, at) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one))
      throw new HumanError('bad-input', `Entry ${at + 1} is no object.`, { place: { file } });
    return one as Record<string, unknown>;
  });
  const header = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  const rows = begin(header);
  for (const [at, one] of objects.entries())
    rows.read(
      header.map((name) => cell(one[name])),
      at + 1,
    );
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    if (!/\.jsonl$/i.test(file))
      throw new HumanError('bad-input', `This is not valid JSON: ${(thrown as Error).message}.`, { place: { file } });
  }
  return text.split(/\r?\n/).flatMap((line, at): unknown[] => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch (thrown) {
      throw new HumanError('bad-input', `This is not valid JSON: ${(thrown as Error).message}.`, {
        place: { file, line: at + 1 },
      });
    }
  });
}

const cell = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
