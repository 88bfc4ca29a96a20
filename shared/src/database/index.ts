// Access to PostgreSQL.

export { assertCurrency, storedCurrency } from './assert-currency.ts';
export { checkLocale, localeFault, readLocale } from './check-locale.ts';
export { connectDatabase, type Database, type DatabaseOptions } from './connect.ts';
export { knownMigrations, migrate, pendingMigrations } from './migrate.ts';
export { errorCode, isDatabaseUnavailable, isTimeout, unavailableStates, violatedConstraint } from './pg-errors.ts';
export { PrimaryClient, timelineSql } from './primary-client.ts';
export { provisionDatabase, type SchemaName, schemas } from './provision.ts';
export { type Expiry, prune, startPruning } from './prune.ts';
export { openReadReplica, type ReadReplica } from './read-replica.ts';
export type { Queryable } from './replica-lag.ts';
export { sql } from './sql.ts';
export type { Transaction } from './transaction.ts';
export { untilAvailable } from './until-available.ts';
export { untilMigrated } from './until-migrated.ts';
export { withClient } from './with-client.ts';
