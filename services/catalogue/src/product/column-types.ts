// How the members of a product are stored: their columns in PostgreSQL, and the conversion from JSON and back.
import { boolean, choice, decimal, type Field, type FieldType, json, text } from '@shop/shared/collection';
import type { Fault } from '@shop/shared/problem';
import { findDecimals } from '@shop/shared/shop';

/** The storage of a member's values. `currency` is the currency of the shop. */
export interface ColumnType<Member, Column> {
  /** The type of the column. */
  readonly sql: 'text' | 'bigint' | 'integer' | 'smallint' | 'boolean';
  /** The bounds of a number in the column. */
  readonly range?: Field['range'] & object;
  field(currency: string): FieldType;
  /** Converts a value that the contract permits. */
  toColumn(member: Member, currency: string): Column;
  /** Converts a column that is not NULL. */
  toMember(column: NonNullable<Column>, currency: string): Member;
  /** The empty list or object that is stored as NULL. An export contains it, so that an import removes the member. */
  readonly empty?: Member;
  /** Returns the faults that no schema can express. Pointers are relative to the member. */
  faults?(member: unknown, currency: string): readonly Fault[];
}

export function textColumn(maximum: number): ColumnType<string, string> {
  const type = text(maximum);
  return { sql: 'text', field: () => type, toColumn: (member) => member, toMember: (column) => column };
}

export function choiceColumn<Value extends string>(values: readonly Value[]): ColumnType<Value, Value> {
  const type = choice(values);
  return { sql: 'text', field: () => type, toColumn: (member) => member, toMember: (column) => column };
}

export function booleanColumn(): ColumnType<boolean, boolean> {
  const type = boolean();
  return { sql: 'boolean', field: () => type, toColumn: (member) => member, toMember: (column) => column };
}

/** Whole numbers. */
export function integerColumn(): ColumnType<number, number> {
  const type = decimal(0);
  return { sql: 'integer', field: () => type, toColumn: (member) => member, toMember: (column) => column };
}

/**
 * Numbers with one decimal, stored in tenths.
 * @param maximum in tenths
 */
export function tenthsColumn(maximum: number): ColumnType<number, number> {
  const type = decimal(1);
  return scaledColumn('smallint', () => type, maximum);
}

/**
 * Weights in kilograms with up to three decimals, stored in grams.
 * @param maximum in grams
 */
export function weightColumn(maximum: number): ColumnType<number, number> {
  const type = decimal(3);
  return scaledColumn('integer', () => type, maximum);
}

/**
 * Amounts in the shop's currency, stored in its smallest unit.
 * @param maximum in the smallest unit
 */
export function amountColumn(maximum: number): ColumnType<number, number> {
  // Looking up the decimals takes longer than all other work for a row of an import.
  const types = new Map<string, FieldType>();
  const typeOf = (currency: string): FieldType => {
    const type = types.get(currency) ?? decimal(findDecimals(currency));
    types.set(currency, type);
    return type;
  };
  return scaledColumn('bigint', typeOf, maximum);
}

function scaledColumn(
  sql: ColumnType<number, number>['sql'],
  field: (currency: string) => FieldType,
  maximum: number,
): ColumnType<number, number> {
  return {
    sql,
    range: { from: 0, to: maximum },
    field,
    toColumn: (member, currency) => Number(field(currency).fromJson(member)),
    toMember: (column, currency) => Number(field(currency).toText(column)),
    faults: (member, currency) => {
      const type = field(currency);
      const units = type.fromJson(member);
      if (units === undefined) return [{ pointer: '', detail: `must be ${type.expects}` }];
      return Number(units) > maximum ? [{ pointer: '', detail: `must be <= ${type.toText(maximum)}` }] : [];
    },
  };
}

/**
 * Stores lists and objects as JSON text; NULL when they are empty.
 * @param empty undefined when the contract permits no empty value
 * @param ordered returns the value with its members in a fixed order, so that equal values have equal JSON text
 */
export function jsonColumn<Member extends object>(
  empty: Member | undefined,
  ordered: (member: Member) => object,
  faults?: (member: unknown) => readonly Fault[],
): ColumnType<Member, string | null> {
  const type = json();
  return {
    sql: 'text',
    field: () => type,
    toColumn: (member) => (Object.keys(member).length === 0 ? null : JSON.stringify(ordered(member))),
    toMember: (column) => JSON.parse(column),
    ...(empty && { empty }),
    ...(faults && { faults }),
  };
}
