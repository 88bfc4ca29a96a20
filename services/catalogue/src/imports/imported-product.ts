// Checks a line of a file by the rules of POST /v1/products. The result is a product or a list of faults.
import { fileURLToPath } from 'node:url';
import { loadContract } from '@shop/shared/contract';
import type { Fault } from '@shop/shared/problem';
import { type ProductInput, type WrittenColumn, type WrittenRow, writtenLines } from '../product/product-columns.ts';
import { productFaults, toRow } from '../product/product-input.ts';
import type { ProductLine } from './json-line.ts';

/** The required members that a file may lack. A new product needs them, so these values are never written. */
const placeholders = Object.fromEntries(
  writtenLines.filter(({ required }) => required).map(({ member, type }) => [member, type.sql === 'text' ? '' : 0]),
);

/** The content of a line. */
export interface ImportedProduct {
  readonly line: number;
  readonly externalKey: string;
  readonly row: WrittenRow;
  /** The columns that stay unchanged for a known product. */
  readonly kept: readonly WrittenColumn[];
  /** The reasons for which the line creates no product; empty when it can. */
  readonly incomplete: readonly string[];
}

/** A line that the import rejected. */
export interface RefusedLine {
  readonly line: number;
  readonly externalKey?: string;
  readonly code: 'invalid-request' | 'insufficient-stock';
  readonly reasons: readonly string[];
}

export type CheckLine = (line: ProductLine) => ImportedProduct | RefusedLine;

const longestKey = 200;

/** @param currency of the shop, ISO 4217 */
export function createLineCheck(currency: string): CheckLine {
  const document = fileURLToPath(new URL('../../openapi.yaml', import.meta.url));
  const creation = loadContract(document).operations.find(({ operationId }) => operationId === 'createProduct');
  if (creation === undefined) throw new Error('the contract has no createProduct');

  return ({ line, value, faults: unreadable = [], lacking = [] }) => {
    if (value === undefined) return { line, code: 'invalid-request', reasons: unreadable.map(toReason) };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { line, code: 'invalid-request', reasons: ['must be a JSON object'] };
    }
    const { externalKey, ...body } = value as Readonly<Record<string, unknown>>;
    const key = typeof externalKey === 'string' ? externalKey : undefined;
    const { faults } = creation.check({ url: creation.path, path: {}, headers: {}, body });
    const named = body.sku === undefined ? [] : [{ pointer: '/sku', detail: 'must be written as externalKey' }];
    const isLacking = ({ pointer = '' }: Fault): boolean => {
      return pointer !== '/externalKey' && lacking.includes(pointer.slice(1));
    };
    // Of several faults at the same pointer, only the first is reported.
    const found = [
      ...unreadable,
      ...keyFaults(externalKey),
      ...named,
      ...faults,
      ...productFaults(body, currency),
    ].filter(({ pointer }, index, all) => all.findIndex((fault) => fault.pointer === pointer) === index);
    const reasons = found.filter((fault) => !isLacking(fault)).map(toReason);
    if (key === undefined || reasons.length > 0) {
      return { line, ...(key === undefined ? {} : { externalKey: key }), code: 'invalid-request', reasons };
    }
    return {
      line,
      externalKey: key,
      row: toRow({ ...placeholders, ...(body as unknown as ProductInput), sku: key }, currency),
      kept: writtenLines.flatMap(({ member, column, keptByImport }) =>
        body[member] === undefined && (keptByImport === true || lacking.includes(member)) ? [column] : [],
      ),
      incomplete: found.filter(isLacking).map(toReason),
    };
  };
}

function keyFaults(key: unknown): Fault[] {
  const pointer = '/externalKey';
  if (key === undefined) return [{ pointer, detail: 'is required' }];
  if (typeof key !== 'string') return [{ pointer, detail: 'must be string' }];
  if (key.trim() === '') return [{ pointer, detail: 'must not be blank' }];
  return [...key].length > longestKey ? [{ pointer, detail: `must not have more than ${longestKey} characters` }] : [];
}

function toReason({ pointer = '', detail }: Fault): string {
  return pointer === '' ? detail : `${pointer.slice(1)} ${detail}`;
}
