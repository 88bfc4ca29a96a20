// Starts and configures a service and its operator's functions.
export { callerVariables, serviceVariables } from './config.ts';
export { type Erased, recordErasure, startErasing } from './erasure.ts';
export { migrateService } from './migrate-service.ts';
export { startService } from './start-service.ts';
export { withDatabase } from './with-database.ts';
