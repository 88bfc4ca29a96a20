// Creates the shop's database, its schemas and the roles that own them, and exits. A second run changes only the
// passwords.
import { provisionDatabase, type SchemaName, schemas } from '@shop/shared/database';
import {
  type Environment,
  readConfig,
  readLogLevel,
  readTogether,
  runProcess,
  secret,
  string,
  url,
} from '@shop/shared/runtime';

await runProcess('provision', readSettings, async ({ log }, { setup: { adminUrl, database, ...roles } }) => {
  await provisionDatabase({ adminUrl, database, roles: roles as Record<SchemaName, string> });
  log.info({ database, schemas }, 'provisioned');
  process.exit(0);
});

function readSettings(environment: Environment) {
  return readTogether(environment, {
    logLevel: readLogLevel,
    setup: (given) =>
      readConfig(given, {
        /** A role that may create databases and roles. */
        adminUrl: url('DATABASE_ADMIN_URL', ['postgres', 'postgresql']),
        database: string('DATABASE_NAME', 'shop'),
        ...Object.fromEntries(schemas.map((role) => [role, secret(`${role.toUpperCase()}_PASSWORD`)])),
      }),
  });
}
