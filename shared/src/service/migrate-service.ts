// The content of a service's migrate.ts: brings its schema up to date and exits.
import { migrate } from '../database/index.ts';
import { type Environment, readConfig, readLogLevel, readTogether, runProcess } from '../runtime/index.ts';
import { serviceVariables } from './config.ts';

/** Applies the missing migrations of the service and exits with 0 when the schema is up to date, otherwise with 1. */
export function migrateService(service: string, folder: string): Promise<void> {
  return runProcess(`${service}-migrate`, readSettings, async ({ log }, { database: { databaseUrl } }) => {
    const applied = await migrate({ url: databaseUrl, folder: `${folder}/migrations` });
    log.info({ applied }, applied.length > 0 ? 'migrations applied' : 'nothing to migrate');
    process.exit(0);
  });
}

function readSettings(environment: Environment) {
  return readTogether(environment, {
    logLevel: readLogLevel,
    database: (given) => readConfig(given, { databaseUrl: serviceVariables.databaseUrl }),
  });
}
