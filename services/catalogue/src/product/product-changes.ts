// The history of products: enters each change, with its author, in the transaction of the change.
import { type CollectionSpec, json, none, ordered, text, time, uuid } from '@shop/shared/collection';
import { sql, type Transaction } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import type { MovementCause } from '../stock/stock-ledger.ts';
import type { WrittenRow } from './product-columns.ts';
import { toInput } from './product-input.ts';

/** A product before and after a change. */
export interface ProductChange {
  readonly productId: string;
  /** Undefined for a new product. */
  readonly before?: (WrittenRow & { readonly isArchived: boolean }) | undefined;
  readonly after: WrittenRow & { readonly isArchived: boolean };
  /** The reason of this change, when it differs from that of its cause. */
  readonly reason?: string | undefined;
}

/** A changed member, with its value before and after. A value is absent when the product did not have the member. */
export interface ChangedMember {
  readonly member: string;
  readonly old?: unknown;
  readonly new?: unknown;
}

/** Records the changes in one statement. The caller has locked the products. Equal products get no entry. */
export async function enterChanges(
  tx: Transaction,
  changes: readonly ProductChange[],
  currency: string,
  { actor, actorId, requestId, reason }: MovementCause,
): Promise<void> {
  const entries = changes
    .map((change) => ({ ...change, members: changedMembers(change, currency) }))
    .filter(({ members }) => members.length > 0);
  if (entries.length === 0) return;
  await sql(
    tx,
    `INSERT INTO product_changes (id, product_id, actor, actor_id, request_id, reason, changes, old_price_minor)
     SELECT id, product_id, $1, $2, $3, coalesce(reason, $4), changes, old_price_minor
     FROM unnest($5::uuid[], $6::uuid[], $7::text[], $8::json[], $9::bigint[])
       AS entry (id, product_id, reason, changes, old_price_minor)`,
    [
      actor,
      actorId ?? null,
      requestId ?? null,
      reason ?? null,
      entries.map(() => newId()),
      entries.map(({ productId }) => productId),
      entries.map((entry) => entry.reason ?? null),
      entries.map(({ members }) => JSON.stringify(members)),
      entries.map(({ before, after }) => {
        const oldPrice = before?.price_minor;
        return oldPrice === after.price_minor ? null : (oldPrice ?? null);
      }),
    ],
  );
}

function changedMembers({ before, after }: ProductChange, currency: string): ChangedMember[] {
  const old = before === undefined ? {} : membersOf(before, currency);
  const present = membersOf(after, currency);
  return [...new Set([...Object.keys(old), ...Object.keys(present)])]
    .filter((member) => JSON.stringify(old[member]) !== JSON.stringify(present[member]))
    .map((member) => ({ member, old: old[member], new: present[member] }));
}

/** Returns the members of an entry. `stock` is the number of units on hand. */
function membersOf(
  row: WrittenRow & { readonly isArchived: boolean },
  currency: string,
): Readonly<Record<string, unknown>> {
  return { ...toInput(row, currency), ...(row.isArchived && { archived: true }) };
}

/** The fields of an entry in the history that staff read. */
export const historySpec: CollectionSpec<unknown> = {
  name: 'product-history',
  from: 'product_changes',
  scope: { product: { column: 'product_id', cast: 'uuid' } },
  fields: {
    id: { type: uuid(), operators: none, column: 'id', sortable: true },
    createdAt: { type: time(), operators: ordered, column: 'created_at', sortable: true },
    by: { type: text(10), operators: none, column: 'actor' },
    staffId: { type: uuid(), operators: none, column: 'actor_id', nullable: true },
    requestId: { type: text(200), operators: none, column: 'request_id', nullable: true },
    reason: { type: text(500), operators: none, column: 'reason', nullable: true },
    changes: { type: json(), operators: none, column: 'changes' },
  },
  defaultSort: [
    { field: 'createdAt', direction: 'desc' },
    { field: 'id', direction: 'desc' },
  ],
};
