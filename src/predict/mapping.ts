/**
 * A mapping file: what the columns of a table of scores are (docs/predict.md, "Mapping files"). Read from YAML or JSON and
 * checked; what it does is in mapped-rows.ts.
 */
import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { HumanError } from '../shared/errors.ts';

/** What a record has, named as the columns of the study's tables; the last four are ours. */
export const fieldNames = [
  'model_name',
  'model_family',
  'total_params',
  'non_embedding_params',
  'flop_matched_non_embedding_params',
  'task',
  'subtask',
  'n_shot',
  'metric_name',
  'is_preferred_metric',
  'score',
  'training_flops',
  'mode',
  'n_items',
  'standard_error',
] as const;
export type FieldName = (typeof fieldNames)[number];

/** Where a field's value comes from: the first of `column`, `template` and `value` that gives one. */
export interface FieldRule {
  /** A column, a level of a JSON file, or a named group of a `match`. */
  column?: string;
  /** Text with `{name}` in the place of columns, levels and groups. */
  template?: string;
  value?: string | number | boolean;
  /** A number is multiplied by it: 1e9 for a column of billions. */
  unit?: number;
  /** Replaces what was found. */
  values?: Record<string, string | number | boolean>;
  /** Patterns in order; what the first that matches says stands. */
  patterns?: { pattern: RegExp; value: string | number | boolean }[];
  /** What stands where the above give nothing. */
  otherwise?: string | number | boolean;
}

export type FieldRules = Partial<Record<FieldName, FieldRule>>;

/** Patterns that all must match; `column` is the name of a score column of a wide table. */
export type Match = Record<string, RegExp>;

/** What scores are, that a pattern finds. */
export interface ScoreRule {
  match: Match;
  fields: FieldRules;
  range: [number, number] | null;
  lowerIsBetter: boolean;
}

export interface LeaveOutRule {
  match: Match;
  reason: string;
}

/** Columns of another table, for the rows whose `on` is this table's `with`. */
export interface JoinRule {
  file: string;
  on: string;
  with: string;
}

export interface Mapping {
  file: string | null;
  /** The table that it is for, relative to the mapping file. */
  table: string | null;
  /** JSON: names of the nested objects' keys, from the outside; null: a list of objects. */
  levels: string[] | null;
  fields: FieldRules;
  /** Empty: each row is a score. */
  scores: ScoreRule[];
  leaveOut: LeaveOutRule[];
  join: JoinRule[];
  /** Fields without which a row is left out. */
  require: FieldName[];
}

export const emptyMapping: Mapping = {
  file: null,
  table: null,
  levels: null,
  fields: {},
  scores: [],
  leaveOut: [],
  join: [],
  require: [],
};

/** @throws HumanError with the file, the key and what is expected there */
export async function readMapping(file: string): Promise<Mapping> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new HumanError('missing', 'The mapping file cannot be read.', { place: { file }, cause });
  }
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem)
    throw new HumanError('bad-input', `This is not valid YAML: ${problem.message.split('\n')[0]}`, {
      place: { file, ...(problem.linePos && { line: problem.linePos[0].line }) },
    });
  return mappingOf(document.toJS(), file);
}

/** Checks what a mapping file says. */
export function mappingOf(value: unknown, file: string): Mapping {
  const check = new Checker(file);
  const top = check.object(value, 'The mapping', [
    'table',
    'levels',
    'fields',
    'scores',
    'leave_out',
    'join',
    'require',
  ]);
  return {
    file,
    table: top.table === undefined ? null : check.text(top.table, 'table'),
    levels: top.levels === undefined ? null : check.list(top.levels, 'levels').map((one) => check.text(one, 'levels')),
    fields: check.fields(top.fields ?? {}, 'fields'),
    scores: check.list(top.scores ?? [], 'scores').map((one, at) => check.scoreRule(one, `scores[${at}]`)),
    leaveOut: check.list(top.leave_out ?? [], 'leave_out').map((one, at) => {
      const path = `leave_out[${at}]`;
      const rule = check.object(one, path, ['match', 'reason']);
      return { match: check.match(rule.match, `${path}.match`), reason: check.text(rule.reason, `${path}.reason`) };
    }),
    join: check.list(top.join ?? [], 'join').map((one, at) => {
      const path = `join[${at}]`;
      const rule = check.object(one, path, ['file', 'on', 'with']);
      const on = check.text(rule.on, `${path}.on`);
      return {
        file: check.text(rule.file, `${path}.file`),
        on,
        with: rule.with === undefined ? on : check.text(rule.with, `${path}.with`),
      };
    }),
    require: check.list(top.require ?? [], 'require').map((one) => check.field(one, 'require')),
  };
}

type Plain = string | number | boolean;

class Checker {
  constructor(private readonly file: string) {}

  private wrong(message: string, todo?: string): HumanError {
    return new HumanError('bad-input', message, { place: { file: this.file }, ...(todo !== undefined && { todo }) });
  }

  object(value: unknown, path: string, known?: readonly string[]): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw this.wrong(`${path} must hold keys and values.`);
    const unknown = known && Object.keys(value).find((key) => !known.includes(key));
    if (unknown !== undefined) throw this.wrong(`${path} has no key "${unknown}".`, `Keys are: ${known?.join(', ')}.`);
    return value as Record<string, unknown>;
  }

  list(value: unknown, path: string): unknown[] {
    if (!Array.isArray(value)) throw this.wrong(`${path} must be a list.`);
    return value;
  }

  text(value: unknown, path: string): string {
    if (typeof value !== 'string' || value === '') throw this.wrong(`${path} must be a text.`);
    return value;
  }

  field(value: unknown, path: string): FieldName {
    const name = fieldNames.find((one) => one === value);
    if (!name)
      throw this.wrong(`${path}: there is no field "${String(value)}".`, `Fields are: ${fieldNames.join(', ')}.`);
    return name;
  }

  private plain(value: unknown, path: string): Plain {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw this.wrong(`${path} must be a text, a number, true or false.`);
    return value;
  }

  private number(value: unknown, path: string): number {
    // YAML 1.2 reads 1e9 as a number; quoted it is one too.
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) throw this.wrong(`${path} must be a number.`);
    return number;
  }

  private pattern(value: unknown, path: string): RegExp {
    const text = this.text(value, path);
    try {
      return new RegExp(text, 'u');
    } catch (cause) {
      throw this.wrong(`${path} is not a regular expression: ${(cause as Error).message}.`);
    }
  }

  match(value: unknown, path: string): Match {
    const entries = Object.entries(this.object(value, path));
    if (entries.length === 0) throw this.wrong(`${path} must name at least one column and its pattern.`);
    return Object.fromEntries(entries.map(([name, pattern]) => [name, this.pattern(pattern, `${path}.${name}`)]));
  }

  fields(value: unknown, path: string): FieldRules {
    return Object.fromEntries(
      Object.entries(this.object(value, path)).map(([name, rule]) => [
        this.field(name, path),
        this.fieldRule(rule, `${path}.${name}`),
      ]),
    );
  }

  private fieldRule(value: unknown, path: string): FieldRule {
    if (typeof value === 'string') return { column: value };
    if (typeof value === 'number' || typeof value === 'boolean') return { value };
    const rule = this.object(value, path, ['column', 'template', 'value', 'unit', 'values', 'patterns', 'otherwise']);
    return {
      ...(rule.column !== undefined && { column: this.text(rule.column, `${path}.column`) }),
      ...(rule.template !== undefined && { template: this.text(rule.template, `${path}.template`) }),
      ...(rule.value !== undefined && { value: this.plain(rule.value, `${path}.value`) }),
      ...(rule.unit !== undefined && { unit: this.number(rule.unit, `${path}.unit`) }),
      ...(rule.values !== undefined && { values: this.plainValues(rule.values, `${path}.values`) }),
      ...(rule.patterns !== undefined && {
        patterns: Object.entries(this.plainValues(rule.patterns, `${path}.patterns`)).map(([pattern, found]) => ({
          pattern: this.pattern(pattern, `${path}.patterns`),
          value: found,
        })),
      }),
      ...(rule.otherwise !== undefined && { otherwise: this.plain(rule.otherwise, `${path}.otherwise`) }),
    };
  }

  private plainValues(value: unknown, path: string): Record<string, Plain> {
    return Object.fromEntries(
      Object.entries(this.object(value, path)).map(([key, one]) => [key, this.plain(one, `${path}.${key}`)]),
    );
  }

  scoreRule(value: unknown, path: string): ScoreRule {
    const rule = this.object(value, path, ['match', 'fields', 'range', 'lower_is_better']);
    let range: [number, number] | null = null;
    if (rule.range !== undefined) {
      const [low, high, ...more] = this.list(rule.range, `${path}.range`).map((end) =>
        this.number(end, `${path}.range`),
      );
      if (low === undefined || high === undefined || more.length > 0 || low >= high)
        throw this.wrong(`${path}.range must be two numbers, the lower in front.`);
      range = [low, high];
    }
    if (rule.lower_is_better !== undefined && typeof rule.lower_is_better !== 'boolean')
      throw this.wrong(`${path}.lower_is_better must be true or false.`);
    return {
      match: this.match(rule.match, `${path}.match`),
      fields: this.fields(rule.fields ?? {}, `${path}.fields`),
      range,
      lowerIsBetter: rule.lower_is_better === true,
    };
  }
}
