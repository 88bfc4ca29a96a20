// Functions for payments and refunds: they read the reported amount, check a repeated reference, and write the receipt.
import { refuseFaults, toNode } from '@shop/shared/contract';
import type { OperationRequest, Result } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import type { components } from '../generated.ts';
import type { Orders } from './order.ts';
import type { LedgerEntry } from './payment-ledger.ts';

type Receipt = components['schemas']['MoneyReceipt'];

/** @throws Problem 400 for another currency than the shop's, an amount of zero, or too many decimals */
export function readAmount({ body, faults }: OperationRequest, { money, currency }: Orders): number {
  const reported = toNode(body);
  const minor = money.fromJson(reported.amount);
  const found: Fault[] = [];
  if (typeof minor !== 'number') found.push({ pointer: '/amount', detail: `must be ${money.expects}` });
  else if (minor <= 0) found.push({ pointer: '/amount', detail: 'must be more than 0' });
  if (reported.currency !== currency) found.push({ pointer: '/currency', detail: `must be ${currency}` });
  refuseFaults(faults, found);
  return Number(minor);
}

/** @throws Problem 422 when the reference belongs to another amount or order */
export function requireSame(
  entry: LedgerEntry,
  { orderId, amountMinor }: Pick<LedgerEntry, 'orderId' | 'amountMinor'>,
): void {
  const faults: Fault[] = [];
  if (entry.orderId !== orderId) faults.push({ parameter: 'orderId', detail: 'is not the order of this reference' });
  if (entry.amountMinor !== amountMinor)
    faults.push({ pointer: '/amount', detail: 'is not the amount of this reference' });
  if (faults.length === 0) return;
  throw new Problem('reference-reused', 'This reference was recorded with another content. Nothing was changed.', {
    errors: faults,
  });
}

/** Returns the response to a report. It is the same for each retry. */
export function receipt(
  { money, currency }: Orders,
  reference: string,
  entry: LedgerEntry,
  outcome: Receipt['outcome'],
): Result<Receipt> {
  const amount = Number(money.toJson(entry.amountMinor));
  const { orderId, at } = entry;
  return {
    status: 200,
    body: { orderId, reference, amount, currency, recordedAt: at.toISOString(), outcome },
  };
}
