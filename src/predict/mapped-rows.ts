/** Rows of a table into records, as a mapping says. */
import { HumanError } from '../shared/errors.ts';
import { familyOf, sizeInName } from '../shared/model-names.ts';
import { isPromptMode } from '../shared/modes.ts';
import type { LeftOutCounter } from './left-out.ts';
import { type FieldName, type FieldRule, fieldNames, type Mapping, type Match, type ScoreRule } from './mapping.ts';
import type { MetricRange } from './metric-ranges.ts';
import { isMissing, numberIn, placeOf, type UnscaledRecord } from './scores.ts';
import type { ParameterCounts, ScoreRecord } from './types.ts';

/** A row with what stands for it in joined tables, and what patterns found. */
interface Row {
  fields: readonly string[];
  joined: readonly (readonly string[] | undefined)[];
  groups: Readonly<Record<string, string>>;
}
type Getter = (row: Row) => string | undefined;

/** Another table by the values of its key column. */
export interface JoinedTable {
  header: readonly string[];
  /** Column of the main table whose value is looked up. */
  with: string;
  rows: ReadonlyMap<string, readonly string[]>;
}

/** Names under which a field is found where no rule says its column: lower case, words joined by underscores. */
const aliases: Record<FieldName, readonly string[]> = {
  model_name: ['model_name', 'model', 'model_id'],
  model_family: ['model_family', 'family'],
  total_params: ['total_params', 'params', 'parameters', 'n_params'],
  non_embedding_params: ['non_embedding_params'],
  flop_matched_non_embedding_params: ['flop_matched_non_embedding_params'],
  task: ['task', 'task_name', 'benchmark', 'dataset'],
  subtask: ['subtask'],
  n_shot: ['n_shot', 'n-shot', 'num_fewshot', 'shots', 'number_of_shots'],
  metric_name: ['metric_name', 'metric'],
  is_preferred_metric: ['is_preferred_metric', 'preferred'],
  score: ['score', 'value'],
  training_flops: ['training_flops'],
  mode: ['mode', 'prompt_mode'],
  n_items: ['n_items', 'n', 'n_samples'],
  standard_error: ['standard_error', 'stderr', 'score_stderr'],
};
const plainName = (name: string): string => name.trim().toLowerCase().replace(/\s+/g, '_');

/** A pattern on a value of the row, with what it found in each value so far: tables have few different ones. */
interface Condition {
  get: Getter;
  pattern: RegExp;
  found: Map<string, Readonly<Record<string, string>> | null>;
}

/** What a row, or a cell of a wide table, becomes. */
interface Target {
  /** Those on the column's name have matched already. */
  conditions: readonly Condition[];
  groups: Readonly<Record<string, string>>;
  /** Where all conditions hold, the reason says why it is not used. */
  unwanted: readonly { conditions: readonly Condition[]; reason: string }[];
  /** Where the score stands, if not in the field `score`. */
  column: number | null;
  read: Record<FieldName, Getter>;
  range: MetricRange | null;
}

export class RowMapper {
  readonly records: UnscaledRecord[] = [];
  private readonly assumed: string[] = [];
  /** Values of fields that a record can do without, that are no numbers or too small: how many, and the first. */
  private readonly unreadable = new Map<string, { name: FieldName; count: number; first: string; isNumber: boolean }>();
  private readonly targets: Target[];
  private readonly texts = new Map<string, string>();
  private readonly parameters = new Map<string, ParameterCounts>();
  private readonly joins: { table: JoinedTable; key: number }[];

  /**
   * @param file as messages name it
   * @throws HumanError where the columns that the mapping or the study's shape needs are not there
   */
  constructor(
    private readonly mapping: Mapping,
    private readonly header: readonly string[],
    private readonly file: string,
    private readonly leftOut: LeftOutCounter,
    tables: readonly JoinedTable[] = [],
  ) {
    this.joins = tables.map((table) => ({ table, key: this.columnOf(table.with) }));
    this.targets = mapping.scores.length > 0 ? this.ruledTargets(mapping.scores) : [this.target(rowRule, {}, null)];
    this.needFields();
  }

  read(fields: readonly string[], line: number): void {
    if (fields.length !== this.header.length) {
      this.leftOut.add(
        `rows with ${fields.length < this.header.length ? 'fewer' : 'more'} fields than the header has`,
        placeOf(this.file, line),
      );
      return;
    }
    const joined = this.joins.map(({ table, key }) => table.rows.get(fields[key] ?? ''));
    let used = false;
    for (const target of this.targets) {
      const row = matched(target.conditions, { fields, joined, groups: target.groups });
      if (!row) continue;
      used = true;
      const unwanted = target.unwanted.find(({ conditions }) => matched(conditions, row));
      if (!unwanted) this.take(target, row, line);
      else if (target.column === null || !isMissing(fields[target.column] ?? ''))
        this.leftOut.add(unwanted.reason, this.cellOf(target, line, row.fields));
      // A row is one score; a cell of a wide table is matched by its column.
      if (target.column === null) break;
    }
    if (!used) this.leftOut.add('rows that no pattern of the mapping matches', placeOf(this.file, line));
  }

  private take(target: Target, row: Row, line: number): void {
    const made = this.recordOf(target, row);
    if (typeof made === 'string') {
      this.leftOut.add(made, this.cellOf(target, line, row.fields));
      return;
    }
    const error = this.positiveOf('standard_error', textOf(target.read.standard_error(row)));
    this.records.push({ record: made, range: target.range, line, ...(error !== null && { standardError: error }) });
  }

  /** The record with its score as written, or why there is none. */
  private recordOf(target: Target, row: Row): ScoreRecord | string {
    const get = (name: FieldName): string | undefined => textOf(target.read[name](row));
    const written = target.column === null ? get('score') : textOf(row.fields[target.column]);
    if (written === undefined) return target.column === null ? 'rows without a score' : 'empty cells: not run';
    const score = numberIn(written);
    if (score === null) return 'scores that are no numbers';
    const model = get('model_name');
    if (model === undefined) return 'rows without a model';
    const task = get('task') ?? get('subtask');
    if (task === undefined) return 'rows without a task';
    const wanting = this.mapping.require.find((name) => get(name) === undefined);
    if (wanting) return `rows without ${wanting}, which the mapping requires`;
    const mode = get('mode');
    if (mode !== undefined && !isPromptMode(mode)) return 'rows whose mode is no prompt mode of Softbench';
    const writtenShots = get('n_shot');
    const shots = writtenShots === undefined ? 0 : numberIn(writtenShots);
    if (shots === null || !Number.isInteger(shots) || shots < 0)
      return 'rows whose number of examples is no whole number';
    const number = (name: FieldName): number | null => this.positiveOf(name, get(name));
    const n = number('n_items');
    return {
      family: this.text(get('model_family') ?? familyOf(model)),
      model: this.text(model),
      parameters: this.parametersOf(model, number),
      trainingFlops: number('training_flops'),
      task: this.text(task),
      subtask: this.text(get('subtask') ?? task),
      shots,
      mode: mode ?? null,
      metric: this.text(get('metric_name') ?? 'score'),
      preferred: !/^(?:0|0\.0|false|no)$/i.test(get('is_preferred_metric') ?? '1'),
      score,
      n: n === null ? null : Math.max(1, Math.round(n)),
      source: 'csv',
    };
  }

  /** Null where nothing is written, and where it is no number above 0: what is not read is counted. */
  private positiveOf(name: FieldName, written: string | undefined): number | null {
    if (written === undefined) return null;
    const value = numberIn(written);
    if (value !== null && value > 0) return value;
    // Some write 0 for what they do not know.
    if (value === 0) return null;
    const key = `${name} ${value !== null}`;
    const known = this.unreadable.get(key) ?? { name, count: 0, first: written, isNumber: value !== null };
    known.count++;
    this.unreadable.set(key, known);
    return null;
  }

  /** What was taken for granted, as sentences; after all rows. */
  get notes(): string[] {
    return [
      ...this.assumed,
      ...[...this.unreadable.values()].map(({ name, count, first, isNumber }) => {
        const one = count === 1;
        const values = one ? '1 value' : `${count.toLocaleString('en-US')} values`;
        const fault = isNumber ? `${one ? 'is' : 'are'} below 0` : one ? 'is no number' : 'are no numbers';
        return `${this.file}: ${values} of ${name} ${fault} ("${first}"): taken as missing.`;
      }),
    ];
  }

  /** One object for all records of a model: a million of them are as many numbers otherwise. */
  private parametersOf(model: string, number: (name: FieldName) => number | null): ParameterCounts {
    const total = number('total_params') ?? sizeInName(model);
    const nonEmbedding = number('non_embedding_params');
    const flopMatched = number('flop_matched_non_embedding_params');
    const key = `${total} ${nonEmbedding} ${flopMatched}`;
    const known = this.parameters.get(key);
    if (known) return known;
    const made = { total, nonEmbedding, flopMatched };
    this.parameters.set(key, made);
    return made;
  }

  /** Equal texts of a file are one text in memory. */
  private text(value: string): string {
    const known = this.texts.get(value);
    if (known !== undefined) return known;
    this.texts.set(value, value);
    return value;
  }

  private cellOf({ column }: Target, line: number, fields: readonly string[]): string {
    const place = placeOf(this.file, line);
    if (column !== null) return `${place} (${this.header[column]})`;
    // What comes of nested keys has no line of its own.
    return line > 0 ? place : `${place} (${fields.slice(0, -1).join(' → ')})`;
  }

  private columnOf(name: string): number {
    const at = this.header.indexOf(name);
    if (at < 0) throw this.missing([name]);
    return at;
  }

  private missing(names: readonly string[]): HumanError {
    const shown = this.header.slice(0, 20).join(', ') + (this.header.length > 20 ? ', …' : '');
    return new HumanError(
      'bad-input',
      `The table has no ${names.length > 1 ? 'columns' : 'column'} ${names.map((name) => `"${name}"`).join(', ')}. Its columns are: ${shown}.`,
      { place: { file: this.file, line: 1 }, todo: 'Say in a mapping file which column is what (docs/predict.md).' },
    );
  }

  /** A table whose rows are scores has a model, a task and a score; the rest has something to stand for it. */
  private needFields(): void {
    const found = (name: FieldName): boolean =>
      this.targets.every(
        ({ column, read, unwanted }) =>
          (name === 'score' && column !== null) ||
          read[name] !== nothing ||
          unwanted.some(({ conditions }) => conditions.length === 0),
      );
    const wanting = (['model_name', 'score'] as const).filter((name) => !found(name));
    if (!found('task') && !found('subtask')) throw this.missing(['task', ...wanting]);
    if (wanting.length > 0) throw this.missing(wanting);
    const assumed: [FieldName, string][] = [
      ['model_family', 'families are taken from the names of models'],
      ['total_params', 'sizes are taken from the names of models'],
      ['n_shot', 'the number of examples is taken as 0'],
      ['metric_name', 'all scores are taken as of one metric from 0 to 1'],
    ];
    for (const [name, words] of assumed)
      if (!found(name)) this.assumed.push(`${this.file} has no column ${name}: ${words}.`);
  }

  /** Columns first, each by the first rule that matches its name; a rule without a column is for the row. */
  private ruledTargets(rules: readonly ScoreRule[]): Target[] {
    const wide = rules.filter(({ match }) => match.column);
    const targets = this.header.flatMap((name, column): Target[] => {
      for (const rule of wide) {
        const found = rule.match.column?.exec(name);
        if (found) return [this.target(rule, { column: name, ...found.groups }, column)];
      }
      const known = this.mapping.leaveOut.some(({ match }) => match.column?.test(name));
      return known ? [this.target(rowRule, { column: name }, column)] : [];
    });
    if (wide.length > 0 && targets.length === 0)
      throw new HumanError('bad-input', "None of the mapping's patterns matches a column of the table.", {
        place: { file: this.file, line: 1 },
      });
    return [...targets, ...rules.filter((rule) => !wide.includes(rule)).map((rule) => this.target(rule, {}, null))];
  }

  private target(rule: ScoreRule, groups: Readonly<Record<string, string>>, column: number | null): Target {
    const name = column === null ? null : (this.header[column] ?? '');
    const groupNames = new Set([...Object.keys(groups), ...Object.values(rule.match).flatMap(groupNamesOf)]);
    const unwanted = this.mapping.leaveOut.filter(({ match }) =>
      match.column ? name !== null && match.column.test(name) : true,
    );
    const leaveOut = unwanted.map(({ match, reason }) => ({ conditions: this.conditions(match, groupNames), reason }));
    // What is never used need not have fields.
    const never = leaveOut.some(({ conditions }) => conditions.length === 0);
    const getter = (field: FieldName): Getter =>
      never ? nothing : this.getter(field, rule.fields[field] ?? this.mapping.fields[field], groupNames);
    return {
      conditions: this.conditions(rule.match, new Set(Object.keys(groups))),
      groups,
      unwanted: leaveOut,
      column,
      read: Object.fromEntries(fieldNames.map((field) => [field, getter(field)])) as Record<FieldName, Getter>,
      range: rule.range && {
        low: rule.range[0],
        high: rule.range[1],
        ...(rule.lowerIsBetter && { lowerIsBetter: true as const }),
      },
    };
  }

  private conditions(match: Match, groupNames: ReadonlySet<string>): Condition[] {
    return Object.entries(match)
      .filter(([name]) => name !== 'column')
      .map(([name, pattern]) => ({ get: this.variable(name, groupNames), pattern, found: new Map() }));
  }

  private getter(field: FieldName, rule: FieldRule | undefined, groupNames: ReadonlySet<string>): Getter {
    if (!rule) {
      if (groupNames.has(field)) return ({ groups }) => groups[field];
      const at = this.header.findIndex((name) => aliases[field].includes(plainName(name)));
      return at < 0 ? nothing : ({ fields }) => fields[at];
    }
    const found = this.plainGetter(rule, groupNames);
    const { unit, values, patterns, otherwise } = rule;
    if (unit === undefined && !values && !patterns && otherwise === undefined) return found;
    return (row) => {
      let text = found(row);
      if (text !== undefined && isMissing(text)) text = undefined;
      if (text !== undefined && values)
        text = Object.hasOwn(values, text) ? String(values[text]) : otherwise === undefined ? text : undefined;
      if (text !== undefined && patterns) {
        const written = text;
        const hit = patterns.find(({ pattern }) => pattern.test(written));
        text = hit ? String(hit.value) : undefined;
      }
      if (text !== undefined && unit !== undefined) {
        const number = numberIn(text);
        text = number === null ? undefined : String(number * unit);
      }
      return text ?? (otherwise === undefined ? undefined : String(otherwise));
    };
  }

  private plainGetter({ column, template, value }: FieldRule, groupNames: ReadonlySet<string>): Getter {
    if (column !== undefined) return this.variable(column, groupNames);
    if (template !== undefined) {
      const parts = template.split(/\{([^{}]+)\}/);
      const getters = parts.map((part, at): Getter => (at % 2 === 0 ? () => part : this.variable(part, groupNames)));
      return (row) => getters.map((get) => get(row) ?? '').join('');
    }
    return value === undefined ? nothing : () => String(value);
  }

  /** A named group, a column, or a column of a joined table. */
  private variable(name: string, groupNames: ReadonlySet<string>): Getter {
    if (groupNames.has(name)) return ({ groups }) => groups[name];
    const at = this.header.indexOf(name);
    if (at >= 0) return ({ fields }) => fields[at];
    for (const [join, { table }] of this.joins.entries()) {
      const column = table.header.indexOf(name);
      if (column >= 0) return ({ joined }) => joined[join]?.[column];
    }
    throw this.missing([name]);
  }
}

/** The row with the named groups of all conditions, or null where one does not match. */
function matched(conditions: readonly Condition[], row: Row): Row | null {
  let groups = row.groups;
  for (const { get, pattern, found } of conditions) {
    const value = get(row) ?? '';
    let hit = found.get(value);
    if (hit === undefined) {
      const match = pattern.exec(value);
      hit = match ? { ...match.groups } : null;
      found.set(value, hit);
    }
    if (!hit) return null;
    groups = { ...groups, ...hit };
  }
  return groups === row.groups ? row : { ...row, groups };
}

/** Where a mapping says nothing of scores, each row is one. */
const rowRule: ScoreRule = { match: {}, fields: {}, range: null, lowerIsBetter: false };
const nothing: Getter = () => undefined;
const textOf = (text: string | undefined): string | undefined =>
  text === undefined || isMissing(text) ? undefined : text.trim();
const groupNamesOf = (pattern: RegExp): string[] =>
  [...pattern.source.matchAll(/\(\?<(\w+)>/g)].map(([, name]) => name ?? '');
