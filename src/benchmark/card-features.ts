/**
 * Types of columns that a dataset card gives (`dataset_info: features:` in the header of README.md). `datasets` casts rows of
 * JSON and CSV files to them: names of classes become numbers, numbers become texts, columns that are missing are None.
 */
import { parse } from 'yaml';
import { day, floating, integer, moment } from './column-values.ts';
import { isFloat, PythonObject, str } from './python.ts';

type Cast = (value: unknown) => unknown;

export interface CardFeatures {
  /** A row with the columns of the card, in their types; others stay. */
  cast(row: Record<string, unknown>): Record<string, unknown>;
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The header of a card; null where there is none that can be read. */
export function cardHeader(readme: string | null): Record<string, unknown> | null {
  const header = /^\uFEFF?---\s*\n([\s\S]*?)\n---/.exec(readme ?? '')?.[1];
  if (header === undefined) return null;
  try {
    const card: unknown = parse(header);
    return isMapping(card) ? card : null;
  } catch {
    return null;
  }
}

/** The features of a configuration; null where the card gives none. */
export function cardFeatures(readme: string | null, configuration: string): CardFeatures | null {
  const given = cardHeader(readme)?.dataset_info;
  const infos = (Array.isArray(given) ? given : [given]).filter(isMapping);
  const info = infos.find(({ config_name: name }) => (name ?? 'default') === configuration);
  const features = Array.isArray(info?.features) ? info.features.filter(isMapping) : [];
  if (features.length === 0) return null;
  const columns = features.map((feature) => ({ name: String(feature.name), type: feature }));
  const casts = columns.map(({ name, type }) => [name, castOf(type)] as const);
  return {
    cast: (row) => ({
      ...Object.fromEntries(casts.map(([name, cast]) => [name, cast(row[name])])),
      ...Object.fromEntries(Object.entries(row).filter(([name]) => !columns.some((column) => column.name === name))),
    }),
  };
}

const isText = (type: unknown): boolean => type === 'string' || type === 'large_string' || type === 'string_view';

/** @param type as a card writes it: `dtype: string`, `list: int32`, `struct: […]`, `dtype: { class_label: … }` */
function castOf(type: Record<string, unknown>): Cast {
  const present =
    (cast: Cast): Cast =>
    (value) =>
      value === null || value === undefined ? null : cast(value);
  const { dtype } = type;
  const list = type.list ?? type.large_list;
  if (list !== undefined) return present(eachOf(innerCast(list)));
  if (Array.isArray(type.sequence)) {
    // A sequence of objects is an object of lists; rows may be written either way.
    const fields = fieldsOf(type.sequence);
    return present((value) =>
      Object.fromEntries(
        fields.map(([name, cast]) => [
          name,
          Array.isArray(value)
            ? value.map((entry) => cast(isMapping(entry) ? entry[name] : null))
            : eachOf(cast)(isMapping(value) ? value[name] : null),
        ]),
      ),
    );
  }
  if (type.sequence !== undefined) return present(eachOf(innerCast(type.sequence)));
  if (Array.isArray(type.struct)) {
    const fields = fieldsOf(type.struct);
    return present((value) =>
      isMapping(value) ? Object.fromEntries(fields.map(([name, cast]) => [name, cast(value[name])])) : value,
    );
  }
  if (isMapping(type.class_label)) return present(classCast(type.class_label));
  if (isMapping(dtype)) return castOf(dtype);
  return present(valueCast(String(dtype)));
}

const innerCast = (type: unknown): Cast =>
  castOf(isMapping(type) ? type : Array.isArray(type) ? { struct: type } : { dtype: type });
const eachOf =
  (cast: Cast): Cast =>
  (value) =>
    Array.isArray(value) ? value.map(cast) : value;
const fieldsOf = (fields: readonly unknown[]): [string, Cast][] =>
  fields.filter(isMapping).map((field) => [String(field.name), castOf(field)]);

/** A class by its name is its number. */
function classCast({ names }: Record<string, unknown>): Cast {
  const known = isMapping(names)
    ? Object.entries(names)
        .sort(([a], [b]) => Number(a) - Number(b))
        .map(([, name]) => String(name))
    : (Array.isArray(names) ? names : []).map(String);
  return (value) => {
    if (typeof value !== 'string') return value;
    const found = known.indexOf(value.trim());
    const exact = known.indexOf(value);
    if (exact >= 0 || found >= 0) return exact >= 0 ? exact : found;
    return /^-?\d+$/.test(value) ? Number(value) : value;
  };
}

/** As Arrow makes texts of numbers: without `.0`. */
function asText(value: unknown): unknown {
  if (typeof value === 'boolean') return String(value);
  if (isFloat(value) || typeof value === 'number') return str(value).replace(/\.0$/, '');
  return value instanceof PythonObject ? value.text : value;
}

function valueCast(type: string): Cast {
  if (isText(type)) return asText;
  if (type === 'float32') return (value) => (isNumeric(value) ? floating(Math.fround(Number(value))) : value);
  if (/^(?:float|double)/.test(type)) return (value) => (isNumeric(value) ? floating(value) : value);
  if (/^u?int\d+$/.test(type))
    return (value) =>
      typeof value === 'boolean'
        ? Number(value)
        : isNumeric(value)
          ? typeof value === 'string'
            ? integer(BigInt(value.trim()))
            : Math.trunc(Number(value))
          : value;
  const timestamp = /^timestamp\[(s|ms|us|ns)(?:, ?tz=(.+))?\]$/.exec(type);
  if (timestamp) {
    const unit = ({ s: 'second', ms: 'millisecond', us: 'microsecond', ns: 'nanosecond' } as const)[
      timestamp[1] as 's'
    ];
    return (value) => (typeof value === 'number' ? moment(value, unit, timestamp[2] ?? null) : value);
  }
  if (type === 'date32') return (value) => (typeof value === 'number' ? day(value) : value);
  return (value) => value;
}

const isNumeric = (value: unknown): boolean =>
  isFloat(value) ||
  typeof value === 'number' ||
  (typeof value === 'string' && /^\s*[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*$/i.test(value));
