// Customers' accounts, registered over the API, with tokens that are valid for the whole test.
import { grantScopes, type StaffScope, verifyEmailAsOperator } from '@shop/accounts/operator';
import { importPKCS8, SignJWT } from 'jose';
import type pg from 'pg';
import { createKeyEncryption } from '../../../services/accounts/src/session/key-encryption.ts';
import { type Buyer, type Journal, untilClear } from './journal.ts';

export interface Identity {
  readonly issuer: string;
  readonly audience: string;
  readonly keySecret: string;
}

/** The password of every account. */
export const password = 'a long password for tests';

/**
 * Repeats the registration until its reply is clear.
 * @returns the account's id
 */
export async function register(journal: Journal, gatewayUrl: string, name: string): Promise<string> {
  const email = `${name}@example.com`;
  const body = { email, password, name };
  const answer = await untilClear(journal, 'register', `${gatewayUrl}/v1/accounts`, { key: `register-${name}`, body });
  if (answer.status !== 201) throw new Error(`${name} could not register: ${answer.status} ${answer.body}`);
  const accountId = (JSON.parse(answer.body) as { id: string }).id;
  journal.accounts.push({ email, accountId });
  return accountId;
}

/** Verifies the address of the account, as an operator does, so that e-mails about its orders are sent. */
export async function verify(databaseUrl: string, name: string): Promise<void> {
  await verifyEmailAsOperator({ DATABASE_URL: databaseUrl }, `${name}@example.com`);
}

/** Grants the account scopes, as an operator does. */
export async function grant(databaseUrl: string, name: string, scopes: readonly StaffScope[]): Promise<void> {
  await grantScopes({ DATABASE_URL: databaseUrl }, `${name}@example.com`, scopes);
}

const hour = 3_600;

/**
 * Returns an access token that is signed with the shop's own key. It differs from the tokens of accounts only in its
 * times: it is three hours old and valid for a day, so that it is valid for every clock of the test.
 */
export async function signToken(
  admin: pg.Pool,
  { issuer, audience, keySecret }: Identity,
  accountId: string,
  scopes: readonly string[] = [],
): Promise<Buyer> {
  const { rows } = await admin.query<{ kid: string; private_key: string }>(
    "SELECT kid, private_key FROM accounts.signing_keys WHERE state = 'current'",
  );
  const [row] = rows;
  if (row === undefined) throw new Error('accounts has no signing key');
  const key = await importPKCS8(createKeyEncryption([keySecret]).decrypt(row.private_key, row.kid), 'ES256');
  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({ accountId, scope: scopes.join(' ') })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: row.kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(accountId)
    .setIssuedAt(now - 3 * hour)
    .setExpirationTime(now + 24 * hour)
    .setJti(`outages-${accountId}`)
    .sign(key);
  return { accountId, token };
}
