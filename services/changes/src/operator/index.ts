// The operator's functions for the feed. The command line calls these functions in its own process.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { type HeldChange, listHeldChanges } from '../feed/held-changes.ts';

export type { HeldChange };

/** Returns changes whose predecessor is missing, the oldest first. Of `environment` only DATABASE_URL is read. */
export function heldChanges(environment: Environment, limit: number): Promise<HeldChange[]> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'doctor' }, (database) => listHeldChanges(database, limit));
}
