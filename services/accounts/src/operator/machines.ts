// Operators create machines, rotate their secrets and revoke them.
import { type Database, sql, type Transaction, violatedConstraint } from '@shop/shared/database';
import { type Environment, newId, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { operatorCommand } from '@shop/shared/shop';
import { audit } from '../account/audit.ts';
import { readDatabaseConfig } from '../config.ts';
import { addSecret, deleteSecrets } from '../session/machine.ts';
import type { StaffScope } from './staff-scopes.ts';

export interface Machine {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly StaffScope[];
  readonly createdAt: Date;
  /** The last time at which a token was obtained with a secret that is still stored. */
  readonly lastUsedAt: Date | null;
  /** The time at which the previous secret expires; null without a previous secret. */
  readonly formerSecretUntil: Date | null;
  readonly revokedAt: Date | null;
}

export interface MachineSecret {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly StaffScope[];
  /** The secret. It is returned only here. */
  readonly clientSecret: string;
}

/** Hours for which the previous secret stays valid after a rotation. */
const overlapHours = 24;

/**
 * Creates a machine with a secret.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @throws StartError when a machine has this name
 */
export function createMachine(
  environment: Environment,
  name: string,
  scopes: readonly StaffScope[],
): Promise<MachineSecret> {
  return inAccounts(environment, (database) =>
    database.transaction(async (tx) => {
      const clientId = newId();
      const held = [...new Set(scopes)].sort();
      await sql(tx, 'INSERT INTO machines (id, name, scopes) VALUES ($1, $2, $3::text[])', [
        clientId,
        name,
        held,
      ]).catch((error: unknown) => {
        throw violatedConstraint(error) === 'machines_name'
          ? new StartError(`there is a machine ${name} already: rotate or revoke it, or choose another name`)
          : error;
      });
      const clientSecret = await addSecret(tx, clientId);
      await record(tx, 'machine-created', clientId, { name, scopes: held });
      return { clientId, name, scopes: held, clientSecret };
    }),
  );
}

/**
 * Creates a new secret for the machine. The previous one stays valid for 24 hours. With `now`, it and its access tokens
 * are revoked immediately. Earlier secrets are always revoked.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @throws StartError when no machine has this name
 */
export function rotateMachine(environment: Environment, name: string, now: boolean): Promise<MachineSecret> {
  return inAccounts(environment, (database) =>
    database.transaction(async (tx) => {
      const machine = await requireMachine(tx, name);
      const { clientId } = machine;
      if (now) await deleteSecrets(tx, clientId, 'all');
      else {
        await deleteSecrets(tx, clientId, 'former');
        await sql(
          tx,
          `UPDATE machine_secrets SET expires_at = now() + ${overlapHours} * interval '1 hour'
           WHERE machine_id = $1 AND expires_at IS NULL`,
          [clientId],
        );
      }
      const clientSecret = await addSecret(tx, clientId);
      await record(tx, 'machine-rotated', clientId, { name, now });
      return { ...machine, clientSecret };
    }),
  );
}

/**
 * Deletes the secrets of the machine. Its access tokens become invalid within 2 s.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @throws StartError when no machine has this name
 */
export function revokeMachine(environment: Environment, name: string): Promise<{ readonly clientId: string }> {
  return inAccounts(environment, (database) =>
    database.transaction(async (tx) => {
      const { clientId } = await requireMachine(tx, name);
      await deleteSecrets(tx, clientId, 'all');
      await sql(tx, 'UPDATE machines SET revoked_at = now() WHERE id = $1', [clientId]);
      await record(tx, 'machine-revoked', clientId, { name });
      return { clientId };
    }),
  );
}

/**
 * Lists all machines by name, including revoked ones.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 */
export function listMachines(environment: Environment): Promise<Machine[]> {
  return inAccounts(environment, async ({ pool }) => {
    const { rows } = await pool.query<Machine>(
      `SELECT m.id AS "clientId", name, scopes, m.created_at AS "createdAt", max(last_used_at) AS "lastUsedAt",
         max(expires_at) FILTER (WHERE expires_at > now()) AS "formerSecretUntil", revoked_at AS "revokedAt"
       FROM machines AS m LEFT JOIN machine_secrets ON machine_id = m.id
       GROUP BY m.id ORDER BY name, m.id`,
    );
    return rows;
  });
}

async function requireMachine(tx: Transaction, name: string): Promise<Omit<MachineSecret, 'clientSecret'>> {
  const [machine] = await sql<Omit<MachineSecret, 'clientSecret'>>(
    tx,
    'SELECT id AS "clientId", name, scopes FROM machines WHERE name = $1 AND revoked_at IS NULL FOR UPDATE',
    [name],
  );
  if (machine !== undefined) return machine;
  throw new StartError(
    `there is no machine ${name}: ${operatorCommand('shop', 'machines list')} shows those that are there`,
  );
}

type MachineAction = 'machine-created' | 'machine-rotated' | 'machine-revoked';

function record(
  tx: Transaction,
  action: MachineAction,
  accountId: string,
  detail: Readonly<Record<string, string | boolean | readonly string[]>>,
): Promise<void> {
  return audit(tx, { action, accountId, requestId: undefined, detail });
}

function inAccounts<Result>(environment: Environment, use: (database: Database) => Promise<Result>): Promise<Result> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'accounts machines' }, use);
}
