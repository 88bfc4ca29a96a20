// Helpers for the tests of accounts: they make accounts, and read rows and events.
import { expect } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import {
  type StartOptions,
  startServices,
  type TestAnswer,
  type TestClient,
  type TestServices,
  testSecret,
} from '@shop/shared/testing';
import type { Pool } from 'pg';

export interface TestAccounts {
  readonly services: TestServices;
  readonly client: TestClient;
  /** A pool with the service's own role. */
  readonly database: Pool;
}

export interface Holder {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** Access token of the tests' own issuer. */
  readonly token: string;
  readonly path: string;
}

export const password = 'a long and quiet river';
export const address = {
  street_address: '1 Rue Pasteur',
  city: 'Lyon',
  region: 'ARA',
  postal_code: '69007',
  country: 'France',
};
let registered = 0;

export async function startAccounts(options: StartOptions = {}): Promise<TestAccounts> {
  const services = await startServices(['accounts'], options);
  const { client, database } = services.service('accounts');
  return { services, client, database };
}

/** The version of an account in an entity tag, before the 39 digits of its id. */
export function versionOf({ headers }: TestAnswer): number {
  return Number(/^"(\d+)\d{39}"$/.exec(headers.etag ?? '')?.[1]);
}

/** An e-mail that no other test of the run uses. */
export function freshEmail(): string {
  registered += 1;
  return `holder-${process.pid}-${registered}@example.com`;
}

export async function register({ services, client }: TestAccounts, more: object = {}): Promise<Holder> {
  const email = freshEmail();
  const answer = await client.post('/v1/accounts', { body: { email, name: 'Kim Park', password, ...more } });
  expect(answer.status).toBe(201);
  const { id } = answer.body;
  const token = await services.issuer.sign({ accountId: id, loggedIn: true });
  return { id, email: answer.body.email, password, token, path: `/v1/accounts/${id}` };
}

export function logIn({ client }: TestAccounts, email: string, secret = password): Promise<TestAnswer> {
  return client.post('/v1/tokens', { body: { email, password: secret } });
}

export function refresh({ client }: TestAccounts, token: string): Promise<TestAnswer> {
  return client.post('/v1/tokens', { body: { refresh_token: token } });
}

/** A refresh token of a new log-in. */
export async function refreshTokenOf(accounts: TestAccounts, holder: Holder): Promise<string> {
  const answer = await logIn(accounts, holder.email);
  expect(answer.status).toBe(200);
  return answer.body.refresh_token;
}

export async function eventsOf({ database }: TestAccounts, accountId: string) {
  const { rows } = await database.query(
    `SELECT type, sequence, request_id, data FROM outbox
     WHERE subject = $1 AND type LIKE 'account.%' ORDER BY sequence`,
    [accountId],
  );
  return rows;
}

/** The audit entries of an account, without those about verification e-mails, which `countEmails` counts. */
export async function auditOf(
  { database }: TestAccounts,
  accountId: string,
): Promise<{ action: string; detail: object }[]> {
  const { rows } = await database.query(
    "SELECT action, detail FROM audit_log WHERE account_id = $1 AND action <> 'verification-sent' ORDER BY id",
    [accountId],
  );
  return rows;
}

export async function countAccounts({ database }: TestAccounts): Promise<number> {
  return (await database.query('SELECT count(*)::int AS n FROM accounts')).rows[0].n;
}

export function pointersOf(answer: TestAnswer): string[] {
  return answer.body.errors.map(({ pointer }) => pointer);
}

/** The token of the newest e-mail of this kind to the account, decrypted from its event. */
export async function emailTokenOf(
  { database }: TestAccounts,
  accountId: string,
  kind: 'email-verification' | 'email-change-undo' | 'password-reset',
): Promise<string> {
  const { rows } = await database.query<{ email: string; sealed: string }>(
    `SELECT data ->> 'email' AS email, data ->> 'sealedToken' AS sealed FROM outbox
     WHERE subject = $1 AND type = 'email-token.issued.v1' AND data ->> 'kind' = $2 ORDER BY id DESC LIMIT 1`,
    [accountId, kind],
  );
  const [newest] = rows;
  if (newest === undefined) throw new Error(`${kind} was not sent`);
  return createEmailTokenSeal([testSecret]).open(newest.sealed, { kind, accountId, email: newest.email });
}

/** How many e-mails of this kind were sent to the account. */
export async function countEmails({ database }: TestAccounts, accountId: string, kind: string): Promise<number> {
  const { rows } = await database.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM outbox
     WHERE subject = $1 AND type = 'email-token.issued.v1' AND data ->> 'kind' = $2`,
    [accountId, kind],
  );
  return rows[0]?.total ?? 0;
}

/** Verifies the address of the account, or the new address of its change. */
export async function verify(accounts: TestAccounts, accountId: string): Promise<TestAnswer> {
  const token = await emailTokenOf(accounts, accountId, 'email-verification');
  return accounts.client.post('/v1/email-verifications', { body: { token } });
}
