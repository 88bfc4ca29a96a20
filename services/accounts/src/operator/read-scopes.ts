// The present scopes of accounts and machines, for commands of other services.
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readDatabaseConfig } from '../config.ts';
import { type PresentScopes, readPresentScopes } from '../session/present-scopes.ts';

/**
 * Leaves out unknown, blocked and erased accounts, and revoked machines.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 */
export function readScopesAsOperator(environment: Environment, callerIds: readonly string[]): Promise<PresentScopes[]> {
  const url = readDatabaseConfig(environment).databaseUrl;
  return withDatabase({ url, name: 'accounts scopes' }, ({ pool }) => readPresentScopes(pool, callerIds));
}
