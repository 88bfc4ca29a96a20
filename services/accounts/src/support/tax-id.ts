// The tax id that staff sets for an account.
import { toNode } from '@shop/shared/contract';
import { sql, type Transaction } from '@shop/shared/database';
import type { Fault } from '@shop/shared/problem';
import { countryExpected, isCountry } from '@shop/shared/shop';
import { detailColumns } from '../account/account.ts';
import type { TaxId } from '../account/account-columns.ts';
import { appendAccountUpdates, type ChangedAccount } from '../account/account-events.ts';
import { audit } from '../account/audit.ts';
import type { SupportRequest } from './support.ts';

/** Returns the faults of a change that its schema cannot express. The body may violate the contract. */
export function taxIdFaults(body: unknown): Fault[] {
  const { country } = toNode(toNode(body).tax_id);
  if (typeof country !== 'string' || isCountry(country)) return [];
  return [{ pointer: '/tax_id/country', detail: `must be ${countryExpected}` }];
}

/**
 * Sets the tax id, or removes it with null. An account that has it already stays as it is. The caller has locked its
 * row.
 */
export async function changeTaxId(
  tx: Transaction,
  accountId: string,
  taxId: TaxId | null,
  request: SupportRequest,
): Promise<void> {
  const { requestId, author } = request;
  const [before] = await sql<{ taxId: TaxId | null }>(tx, 'SELECT tax_id AS "taxId" FROM accounts WHERE id = $1', [
    accountId,
  ]);
  const from = before?.taxId ? { from: before.taxId } : {};
  const entry = { accountId, requestId, author };
  if (taxId === null) await audit(tx, { action: 'tax-id-removed', ...entry, detail: from });
  else await audit(tx, { action: 'tax-id-set', ...entry, detail: { ...from, to: taxId } });
  const changed = await sql<ChangedAccount>(
    tx,
    `UPDATE accounts SET tax_id = $2::jsonb, version = version + 1, updated_at = now()
     WHERE id = $1 AND tax_id IS DISTINCT FROM $2::jsonb RETURNING ${detailColumns}, version`,
    [accountId, taxId === null ? null : JSON.stringify(taxId)],
  );
  await appendAccountUpdates(tx, changed, request);
}
