// Checks a line of a file by the rules of POST /v1/products. The result is a product or a list of faults.
import { fileURLToPath } from 'node:url';
import { loadContract } from '@shop/shared/contract';
import type { Fault } from '@shop/shared/problem';
import { type ProductInput, productFaults, toRow, type WrittenRow } from '../product-input.ts';
import type { ProductLine } from './json-line.ts';

/** Columns that stay unchanged when the line does not have their member. All other absent members are removed. */
const kept = {
  status: 'status',
  stock: 'stock',
  lowStockThreshold: 'low_stock_threshold',
  images: 'images',
  attributes: 'attributes',
} as const;

/** The content of a line. */
export interface ImportedProduct {
  readonly line: number;
  readonly externalKey: string;
  readonly row: WrittenRow;
  /** The columns that a known product keeps. */
  readonly kept: readonly (typeof kept)[keyof typeof kept][];
}

/** A line that was refused. */
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

  return ({ line, value, faults: unreadable }) => {
    if (unreadable !== undefined) return { line, code: 'invalid-request', reasons: unreadable.map(toReason) };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { line, code: 'invalid-request', reasons: ['must be a JSON object'] };
    }
    const { externalKey, ...body } = value as Readonly<Record<string, unknown>>;
    const key = typeof externalKey === 'string' ? externalKey : undefined;
    const { faults } = creation.check({ url: creation.path, path: {}, headers: {}, body });
    const named = body.sku === undefined ? [] : [{ pointer: '/sku', detail: 'must be written as externalKey' }];
    const found = [...keyFaults(externalKey), ...named, ...faults];
    // A fault is dropped when the contract already found one at the same pointer.
    const further = productFaults(body, currency).filter(
      ({ pointer }) => !found.some((fault) => fault.pointer === pointer),
    );
    const reasons = [...found, ...further].map(toReason);
    if (key === undefined || reasons.length > 0) {
      return { line, ...(key === undefined ? {} : { externalKey: key }), code: 'invalid-request', reasons };
    }
    return {
      line,
      externalKey: key,
      row: toRow({ ...(body as unknown as ProductInput), sku: key }, currency),
      kept: Object.entries(kept).flatMap(([member, column]) => (body[member] === undefined ? [column] : [])),
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
