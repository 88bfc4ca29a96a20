// A separate database for each test file, cloned from a template with the migrations of the services.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { migrate, withClient } from '../database/index.ts';
import { provisionDatabase, type SchemaName, schemas } from '../database/provision.ts';
import type { ServiceName } from '../shop/index.ts';
import { adminUrlVariable, localeVariable } from './run-state.ts';

export interface TestDatabase {
  /** The connection string of each database role. */
  readonly urls: Readonly<Record<SchemaName, string>>;
  /** The connection string of the superuser, for this database. */
  readonly adminUrl: string;
  drop(): Promise<void>;
}

const templateLock = 5_201_337;
const password = 'only-for-tests';
const roles = Object.fromEntries(schemas.map((name) => [name, password])) as Record<SchemaName, string>;

/** Returns the folder of a service in the checkout. */
export function serviceFolder(service: ServiceName): string {
  return fileURLToPath(new URL(`../../../services/${service}`, import.meta.url));
}

/**
 * Gives the databases that this test file creates another locale than that of the server.
 * @param locale a locale of the C library, such as `C`, with which PostgreSQL knows the capital letters of ASCII only
 */
export function useLocale(locale: string): void {
  process.env[localeVariable] = locale;
}

/** Creates a database with the migrated schemas of the services. The first call creates the template. */
export async function createTestDatabase(services: readonly ServiceName[]): Promise<TestDatabase> {
  const adminUrl = process.env[adminUrlVariable];
  if (adminUrl === undefined) throw new Error(`${adminUrlVariable} is not set: run the tests through npm test`);
  const locale = process.env[localeVariable] ?? '';
  const template = ['template', ...[...services].sort(), locale.toLowerCase()].join('_');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withClient({ url: adminUrl }, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [templateLock]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (rowCount === 0) {
      if (locale !== '') {
        await client.query(
          `CREATE DATABASE ${template} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE '${locale}'`,
        );
      }
      await createTemplate(adminUrl, template, services);
    }
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  });
  const urls = await provisionDatabase({ adminUrl, database: name, roles });
  return {
    urls,
    adminUrl: Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href,
    drop: () => dropDatabase(adminUrl, name),
  };
}

async function createTemplate(adminUrl: string, template: string, services: readonly ServiceName[]): Promise<void> {
  try {
    const urls = await provisionDatabase({ adminUrl, database: template, roles });
    for (const service of services)
      await migrate({ url: urls[service], folder: `${serviceFolder(service)}/migrations` });
  } catch (error) {
    await dropDatabase(adminUrl, template);
    throw error;
  }
}

async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await withClient({ url: adminUrl }, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
}
