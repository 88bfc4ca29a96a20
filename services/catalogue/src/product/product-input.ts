// A product in a request, and its columns in the database.
import { refuseFaults, toNode } from '@shop/shared/contract';
import type { Fault } from '@shop/shared/problem';
import { type ProductInput, type WrittenRow, writtenLines } from './product-columns.ts';

/** The maximum number of attributes. A merge patch can add up to this number to those that the product has. */
const mostAttributes = 50;

/** Checks that a schema cannot express: the decimals of numbers, the addresses of images, and the currency. */
export function productFaults(body: unknown, currency: string): Fault[] {
  const given = toNode(body);
  const faults = writtenLines.flatMap(({ member, type }): Fault[] => {
    const value = given[member] ?? undefined;
    const found = value === undefined ? [] : (type.faults?.(value, currency) ?? []);
    return found.map(({ pointer = '', detail }) => ({ pointer: `/${member}${pointer}`, detail }));
  });
  if ((given.currency ?? currency) === currency) return faults;
  return [...faults, { pointer: '/currency', detail: `must be ${currency}: all prices of this shop are` }];
}

/** @throws Problem `invalid-request` when a merge patch results in too many attributes */
export function refuseSurplusAttributes({ attributes = {} }: ProductInput): void {
  const count = Object.keys(attributes).length;
  if (count <= mostAttributes) return;
  const detail = `must not have more than ${mostAttributes} members; with this change the product would have ${count}`;
  refuseFaults([], [{ pointer: '/attributes', detail }]);
}

/** Returns the row of a valid input. */
export function toRow(input: ProductInput, currency: string): WrittenRow {
  const columns = writtenLines.map(({ member, column, type, initial = null }) => {
    const value = input[member];
    return [column, value === undefined ? initial : type.toColumn(value, currency)];
  });
  return Object.fromEntries(columns) as WrittenRow;
}

/** Returns the input that corresponds to a row, as the target of a merge patch, or only the members of some lines. */
export function toInput(row: WrittenRow, currency: string, lines = writtenLines): ProductInput {
  const members = lines.flatMap(({ member, column, type }) => {
    const value = row[column];
    return value === null ? [] : [[member, type.toMember(value, currency)]];
  });
  return Object.fromEntries(members) as unknown as ProductInput;
}

export function columnValues(row: WrittenRow): (string | number | boolean | null)[] {
  return writtenLines.map(({ column }) => row[column]);
}
