// Settings that may exist only once. The caller's transaction has increased the version, so no other change runs.
import { sql, type Transaction } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { plainRegion } from '../pricing/destination.ts';
import type { TaxRateBody } from './setting-kinds.ts';

/** @throws Problem 409 that names the other discount */
export async function refuseTakenCode(tx: Transaction, id: string, comparedCode: string): Promise<void> {
  const [other] = await sql<{ id: string }>(
    tx,
    'SELECT id FROM pricing_settings WHERE code = $1 AND archived_at IS NULL AND id <> $2',
    [comparedCode, id],
  );
  if (other === undefined) return;
  const detail = 'Another discount has this code. Nothing was changed. Change or archive it, or use another code.';
  throw new Problem('discount-code-exists', detail, {
    errors: [{ pointer: '/code', detail: `is the code of the discount ${other.id}` }],
  });
}

/**
 * Two rates for the same place, category and time would be ambiguous.
 * @throws Problem 409 that names the other rate
 */
export async function refuseTakenRate(tx: Transaction, id: string, rate: TaxRateBody): Promise<void> {
  const others = await sql<{ id: string; body: TaxRateBody }>(
    tx,
    `SELECT id, body FROM pricing_settings WHERE kind = 'tax-rate' AND archived_at IS NULL AND id <> $1`,
    [id],
  );
  const key = keyOf(rate);
  const other = others.find(({ body }) => keyOf(body) === key);
  if (other === undefined) return;
  const detail =
    'Another rate has the same country, region, category and beginning. Nothing was changed. Change or archive it.';
  throw new Problem('tax-rate-exists', detail, {
    errors: [{ pointer: '/country', detail: `has the tax rate ${other.id} for the same region, category and time` }],
  });
}

function keyOf({ country, region, category, from }: TaxRateBody): string {
  return JSON.stringify([country, plainRegion(region) ?? null, category, from ?? null]);
}
