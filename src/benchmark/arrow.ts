/** Arrow files, streams and files with an index, as the `datasets` library writes and reads them. */
import type { DataType, Field } from '@uwdata/flechette';
import { asError, HumanError } from '../shared/errors.ts';
import {
  day,
  decimal,
  duration,
  floating,
  integer,
  moment,
  PythonBytes,
  type TimeUnit,
  timeOfDay,
} from './column-values.ts';
import type { Rows } from './table.ts';

type Convert = (value: unknown) => unknown;

/**
 * Rows of an Arrow file, made of its bytes when they are asked for.
 * @throws HumanError where it is damaged, or of a type that has no value in a prompt
 */
export async function readArrow(bytes: Uint8Array, file: string): Promise<Rows> {
  const { tableFromIPC, Type } = await import('@uwdata/flechette');
  try {
    const table = tableFromIPC(bytes, { useBigInt: true, useDecimalInt: true });
    const columns = table.schema.fields.map((field, at) => {
      const convert = converterOf(field, Type);
      const column = table.getChildAt(at);
      return { name: field.name, at: (row: number): unknown => convert(column.at(row)) };
    });
    const fields = (row: number): Record<string, unknown> =>
      Object.fromEntries(columns.map(({ name, at }) => [name, at(row)]));
    // A damaged file shows at its last row.
    if (table.numRows > 0) fields(table.numRows - 1);
    return { count: table.numRows, fields, line: (row) => row + 1 };
  } catch (thrown) {
    throw new HumanError('bad-input', `This is not an Arrow file that can be read: ${asError(thrown).message}`, {
      place: { file },
      todo: 'Let `datasets` write it again, or convert it to .parquet.',
      cause: thrown,
    });
  }
}

const units: readonly TimeUnit[] = ['second', 'millisecond', 'microsecond', 'nanosecond'];
const unitOf = (type: DataType): TimeUnit => units[(type as unknown as { unit: number }).unit] ?? 'second';

/** How the values of a column, or of what is in it, become Python's. */
function converterOf({ type }: Pick<Field, 'type'>, Type: typeof import('@uwdata/flechette').Type): Convert {
  const known = type as unknown as {
    typeId: number;
    children?: Field[];
    scale?: number;
    timezone?: string | null;
    dictionary?: DataType;
  };
  const present =
    (convert: Convert): Convert =>
    (value) =>
      value === null || value === undefined ? null : convert(value);
  const within = (field: Field | undefined): Convert => (field ? converterOf(field, Type) : (value) => value);
  const whole = (value: unknown): bigint => BigInt(Math.round(Number(value)));
  switch (known.typeId) {
    case Type.Int:
      return present((value) => integer(value as number | bigint));
    case Type.Float:
      return present(floating);
    case Type.Decimal:
      return present((value) => decimal(value as bigint, known.scale ?? 0));
    case Type.Date:
      return present((value) => day(whole(Number(value) / 86_400_000)));
    case Type.Time:
      return present((value) => timeOfDay(value as number | bigint, unitOf(type)));
    case Type.Duration:
      return present((value) => duration(value as number | bigint, unitOf(type)));
    case Type.Timestamp:
      // The reader gives milliseconds with a fraction, which holds microseconds exactly.
      return present((value) =>
        unitOf(type) === 'nanosecond'
          ? moment(whole(Number(value) * 1000) * 1000n, 'nanosecond', known.timezone ?? null)
          : moment(whole(Number(value) * 1000), 'microsecond', known.timezone ?? null),
      );
    case Type.Binary:
    case Type.LargeBinary:
    case Type.FixedSizeBinary:
    case Type.BinaryView:
      return present((value) => new PythonBytes(Uint8Array.from(value as Uint8Array)));
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
    case Type.ListView:
    case Type.LargeListView: {
      const convert = within(known.children?.[0]);
      return present((value) => Array.from(value as Iterable<unknown>, convert));
    }
    case Type.Struct: {
      const fields = (known.children ?? []).map((field) => [field.name, within(field)] as const);
      return present((value) =>
        Object.fromEntries(fields.map(([name, convert]) => [name, convert((value as Record<string, unknown>)[name])])),
      );
    }
    case Type.Dictionary:
      return known.dictionary ? converterOf({ type: known.dictionary }, Type) : present((value) => value);
    case Type.Map:
    case Type.Union:
    case Type.Interval:
      throw new Error('it has a column of maps, unions or intervals');
    default:
      return present((value) => value);
  }
}
