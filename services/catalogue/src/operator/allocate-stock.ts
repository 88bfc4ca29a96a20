// Lets operators assign units on hand to an order that is about to ship, by the rules of the internal operation.
import { Problem } from '@shop/shared/problem';
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readCommandConfig } from '../config.ts';
import { allocateReservation } from '../stock/allocation.ts';
import type { OrderedUnits } from '../stock/shrink-reservation.ts';

/** Returns the problem when units of the reservation are not on hand; undefined when the units are assigned. */
export async function allocateStock(
  environment: Environment,
  reservationId: string,
  ordered: readonly OrderedUnits[] | undefined,
): Promise<Problem | undefined> {
  const { databaseUrl: url } = readCommandConfig(environment);
  return withDatabase({ url, name: 'allocate stock' }, async (database) => {
    try {
      await database.transaction((tx) => allocateReservation(tx, reservationId, ordered));
      return undefined;
    } catch (error) {
      if (error instanceof Problem && error.code === 'stock-missing') return error;
      throw error;
    }
  });
}
