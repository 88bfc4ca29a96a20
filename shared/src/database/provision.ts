// Creates the database, one schema for each service, and the roles that own them. The server's administrator runs it.

import pg from 'pg';
import { type Login, readLogins, type ServiceName, serviceNames } from '../shop/index.ts';
import { passwordVerifier } from './password-verifier.ts';
import { withClient } from './with-client.ts';

/**
 * Each schema has a role of the same name, which owns it and has access to nothing else. Processes log in as this role,
 * or as a further login role that acts as it.
 */
export type SchemaName = ServiceName | 'events';
export const schemas: readonly SchemaName[] = [...serviceNames, 'events'];

const connectWithin = 10_000;

/** The key of the lock. Any number is possible, as long as every provisioning uses the same one. */
const lockKey = 7_205_759_403;

export interface Provisioning {
  /** The connection string of a role that may create databases and roles. */
  adminUrl: string;
  database: string;
  /** The password of each role, or its logins as `readLogins` reads them. */
  roles: Record<SchemaName, string>;
}

/**
 * Creates database, schemas and roles, or updates existing ones to the same state. Passwords are always set. Logins
 * that are not given are disabled: they cannot connect any more, and their open connections continue. Calls can be
 * repeated and run concurrently. The server gets verifiers instead of printable ASCII passwords, so that its log of a
 * failure does not contain these passwords.
 * @returns the connection string of the first login of each role
 * @throws the driver's error when the server is unavailable or the administrator lacks a permission
 */
export async function provisionDatabase({
  adminUrl,
  database,
  roles,
}: Provisioning): Promise<Record<SchemaName, string>> {
  await withClient({ url: adminUrl, connectWithin }, async (client) => {
    // Roles belong to the whole server, so only one process provisions a server at a time.
    await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) {
      const name = pg.escapeIdentifier(database);
      await client.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0 ${await toLocale(client)}`);
    }
    await withClient({ url: withDatabase(adminUrl, database), connectWithin }, async (inside) => {
      await inside.query('BEGIN');
      await inside.query(provisioningSql(database, roles));
      await inside.query('COMMIT');
    });
  });
  const url = new URL(withDatabase(adminUrl, database));
  const urlOf = (role: SchemaName): string => {
    const [login] = readLogins(role, roles[role]);
    url.username = login.name;
    url.password = login.password;
    return url.href;
  };
  return Object.fromEntries(schemas.map((role) => [role, urlOf(role)])) as Record<SchemaName, string>;
}

/** Returns the locale of a new database: by code point, which no update of a library changes. */
async function toLocale(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  return (rows[0]?.version ?? 0) >= 170_000
    ? "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
    : "LOCALE_PROVIDER libc LOCALE 'C'";
}

function provisioningSql(database: string, roles: Record<SchemaName, string>): string {
  const name = pg.escapeIdentifier(database);
  const statements = [`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`, 'REVOKE ALL ON SCHEMA public FROM PUBLIC'];
  for (const role of schemas) {
    const logins = readLogins(role, roles[role]);
    const own = logins.find(({ name: login }) => login === role);
    const others = logins.filter((login) => login !== own);
    statements.push(
      `DO $$ BEGIN
         IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role}; END IF;
       END $$`,
      own === undefined
        ? `ALTER ROLE ${role} NOLOGIN PASSWORD NULL`
        : `ALTER ROLE ${role} LOGIN PASSWORD ${pg.escapeLiteral(passwordVerifier(own.password))}`,
      ...settingsOf(name, role, role),
      `GRANT CONNECT ON DATABASE ${name} TO ${role}`,
      // Only a member of a role may make it the owner of a schema. An administrator without superuser rights is not a
      // member by default.
      `GRANT ${role} TO CURRENT_USER`,
      `CREATE SCHEMA IF NOT EXISTS ${role} AUTHORIZATION ${role}`,
      `REVOKE ${role} FROM CURRENT_USER`,
      ...others.flatMap((login) => furtherLogin(name, role, login)),
      // The names contain nothing that has to be quoted.
      `DO $$ DECLARE ended text; BEGIN
         FOR ended IN SELECT rolname FROM pg_roles WHERE rolname ~ '^${role}_[0-9]+$'
           AND rolname <> ALL ('{${others.map((login) => login.name).join(',')}}')
         LOOP EXECUTE 'DROP ROLE ' || ended; END LOOP;
       END $$`,
    );
  }
  return statements.join(';\n');
}

/**
 * Returns the statements for a login role with sessions that act as `role`, so that the role owns everything they
 * create.
 */
function furtherLogin(database: string, role: string, { name, password }: Login): string[] {
  return [
    `DO $$ BEGIN
       IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${name}') THEN CREATE ROLE ${name}; END IF;
     END $$`,
    `ALTER ROLE ${name} LOGIN PASSWORD ${pg.escapeLiteral(passwordVerifier(password))}`,
    `GRANT ${role} TO ${name}`,
    ...settingsOf(database, name, role),
    `ALTER ROLE ${name} IN DATABASE ${database} SET role = ${role}`,
  ];
}

function settingsOf(database: string, login: string, role: string): string[] {
  return [
    `ALTER ROLE ${login} IN DATABASE ${database} SET search_path = ${role}`,
    `ALTER ROLE ${login} IN DATABASE ${database} SET timezone = 'UTC'`,
  ];
}

function withDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}
