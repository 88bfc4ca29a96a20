// What every service and each of its commands is started and configured by.
export { callerVariables, serviceVariables } from './config.ts';
export { migrateService } from './migrate-service.ts';
export { runCommand, type Say, withDatabase } from './run-command.ts';
export { startService } from './start-service.ts';
