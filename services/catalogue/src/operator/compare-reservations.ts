// Reads reservations for the comparison with the orders after a failover.
import type { Database } from '@shop/shared/database';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import type pg from 'pg';
import type { ReservationState } from '../reservation.ts';
import type { OrderedUnits } from '../shrink-reservation.ts';

export interface KnownReservation {
  readonly id: string;
  readonly accountId: string;
  readonly state: ReservationState;
  readonly orderId: string | null;
  readonly lines: readonly OrderedUnits[];
}

interface Movement {
  readonly id: string;
  readonly reservationId: string | null;
  readonly isRecent: boolean;
}

const batchSize = 1_000;

// Movements are read from the newest one backwards, because no index has their time.
const moved = `
  SELECT id, reservation_id AS "reservationId", created_at >= $2 AS "isRecent" FROM stock_ledger
  WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT ${batchSize}`;

/**
 * Calls `use` with the ids of the reservations that moved stock since a time, in batches. A reservation may occur in
 * several batches. Of `environment` only DATABASE_URL is read.
 */
export function eachMovedReservation(
  environment: Environment,
  since: string,
  use: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  return inDatabase(environment, async ({ pool }) => {
    for (let last: string | null = null; ; ) {
      const { rows }: pg.QueryResult<Movement> = await pool.query<Movement>(moved, [last, since]);
      const recent = rows.filter(({ isRecent }) => isRecent);
      const ids = new Set(recent.flatMap(({ reservationId }) => reservationId ?? []));
      if (ids.size > 0) await use([...ids]);
      if (recent.length === 0 || rows.length < batchSize) return;
      last = rows.at(-1)?.id ?? null;
    }
  });
}

/** The reservations with these ids that exist. Of `environment` only DATABASE_URL is read. */
export function readReservations(environment: Environment, ids: readonly string[]): Promise<KnownReservation[]> {
  return inDatabase(environment, async ({ pool }) => {
    const { rows } = await pool.query<KnownReservation>(
      `SELECT id, account_id AS "accountId", state, order_id AS "orderId",
         (SELECT coalesce(json_agg(json_build_object('productId', product_id, 'quantity', quantity)), '[]')
          FROM reservation_lines WHERE reservation_id = id) AS lines
       FROM reservations WHERE id = ANY ($1::uuid[])`,
      [ids],
    );
    return rows;
  });
}

function inDatabase<T>(environment: Environment, use: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'doctor' }, use);
}
