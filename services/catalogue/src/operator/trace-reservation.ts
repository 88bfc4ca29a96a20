// The history of the stock of one order in the catalogue, for operators.
import type { HistoryStep } from '@shop/shared/events';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { readReservationTrace } from '../stock/reservation-trace.ts';

/**
 * Returns the steps of a reservation by time; empty when it does not exist. Of `environment` only DATABASE_URL is read.
 */
export async function traceReservation(environment: Environment, reservationId: string): Promise<HistoryStep[]> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'trace' }, ({ pool }) => readReservationTrace(pool, reservationId));
}
