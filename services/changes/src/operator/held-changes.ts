// Lets operators see changes whose predecessor is missing. No service has to run.
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readDatabaseConfig } from '../config.ts';
import { type HeldChange, listHeldChanges } from '../feed/held-changes.ts';

export type { HeldChange };

/** Returns changes whose predecessor is missing, the oldest first. Of `environment` only DATABASE_URL is read. */
export function heldChanges(environment: Environment, limit: number): Promise<HeldChange[]> {
  const url = readDatabaseConfig(environment).databaseUrl;
  return withDatabase({ url, name: 'doctor' }, (database) => listHeldChanges(database, limit));
}
