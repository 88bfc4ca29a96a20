// Repairs reservations that a failover has separated from their orders, each in a transaction of its own.
import { sql, type Transaction } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { confirmReservations, giveStockBack, lockReservation } from '../reservation.ts';
import { takeStock } from '../reserve-stock.ts';
import { type OrderedUnits, shrinkReservation } from '../shrink-reservation.ts';

/** The order of a reservation. */
export interface ReservedOrder {
  readonly reservationId: string;
  readonly orderId: string;
  readonly accountId: string;
}

/**
 * Releases the units of a reservation that its order does not have. The order of a reservation without units must be
 * cancelled, or be resolved in orders, so that no later order can use the reservation. Of `environment` only
 * DATABASE_URL is read.
 * @param lines the units that the order has
 * @param reason the entry in the stock ledger when all units are released
 * @returns whether the reservation had stock. A reservation that has ended keeps its state.
 */
export function releaseUnits(
  environment: Environment,
  { reservationId, orderId }: Pick<ReservedOrder, 'reservationId' | 'orderId'>,
  lines: readonly OrderedUnits[],
  reason: string,
): Promise<boolean> {
  return inTransaction(environment, async (tx) => {
    const reservation = await lockReservation(tx, reservationId);
    if (reservation?.state !== 'held' && reservation?.state !== 'confirmed') return false;
    const cause = { actor: 'operator', reason } as const;
    if (lines.length === 0) await giveStockBack(tx, reservationId, orderId, cause);
    else await shrinkReservation(tx, reservationId, orderId, lines, cause);
    return true;
  });
}

/**
 * Gives a confirmed reservation of a lost order to the order that has it in orders. Of `environment` only DATABASE_URL
 * is read.
 */
export function handOverReservation(
  environment: Environment,
  { reservationId, orderId }: Pick<ReservedOrder, 'reservationId' | 'orderId'>,
  newOrderId: string,
): Promise<void> {
  return inTransaction(environment, async (tx) => {
    await sql(tx, "UPDATE reservations SET order_id = $3 WHERE id = $1 AND order_id = $2 AND state = 'confirmed'", [
      reservationId,
      orderId,
      newOrderId,
    ]);
  });
}

/** Seconds. The reservation is confirmed in the same transaction, so it does not expire. */
const expiry = 60;

/**
 * Reserves stock again for an order whose reservation does not exist any more. It does not count towards the limits of
 * the account. Of `environment` only DATABASE_URL is read.
 * @param reason the entry in the stock ledger
 * @returns the problem when a line cannot be reserved; undefined when the stock is reserved, also by another process
 */
export function restoreReservation(
  environment: Environment,
  { reservationId, orderId, accountId }: ReservedOrder,
  lines: readonly OrderedUnits[],
  reason: string,
): Promise<Problem | undefined> {
  return inTransaction(environment, async (tx) => {
    await takeStock(tx, { reservationId, accountId, lines }, expiry, { actor: 'operator', reason });
    await confirmReservations(tx, [{ reservationId, orderId }]);
    return undefined;
  }).catch((error: unknown) => {
    if (error instanceof Problem && error.status < 500) return error;
    throw error;
  });
}

function inTransaction<T>(environment: Environment, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'doctor' }, (database) => database.transaction(work));
}
