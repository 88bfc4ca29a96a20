// The door of everything that touches PostgreSQL.
export { connectDatabase, type Database, type DatabaseOptions } from './connect.ts';
export { keepCurrency } from './keep-currency.ts';
export { knownMigrations, migrate, pendingMigrations } from './migrate.ts';
export { errorCode, isDatabaseUnavailable, unavailableStates, violatedConstraint } from './pg-errors.ts';
export { provisionDatabase, type SchemaName, schemas } from './provision.ts';
export { type Expiry, prune, startPruning } from './prune.ts';
export { openRecentReads, type RecentReads } from './recent-reads.ts';
export { sql } from './sql.ts';
export type { Queryable } from './staleness.ts';
export type { Transaction } from './transaction.ts';
export { untilMigrated } from './until-migrated.ts';
export { withClient } from './with-client.ts';
