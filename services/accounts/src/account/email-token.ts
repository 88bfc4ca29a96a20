// Tokens that are sent by e-mail. Each proves that its bearer reads the e-mails of one address, and can be used once.
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent, type EventPayloads } from '@shop/shared/events';
import { idempotent, type OperationRequest, type Result } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { clientNetwork } from '@shop/shared/runtime';
import { emailKey } from '@shop/shared/shop';
import type { Context } from '../context.ts';
import { Account, notErased, toLocale } from './account.ts';
import { audit } from './audit.ts';
import { inTransaction } from './models.ts';
import { parseSessionClient } from './session-client.ts';

export type EmailTokenPurpose = EventPayloads['email-token.issued.v1']['kind'];

/** Hours for which a token is valid. */
const lifetimes: Readonly<Record<EmailTokenPurpose, number>> = {
  'email-verification': 24,
  'email-change-undo': 7 * 24,
  'password-reset': 0.5,
};
const tokenBytes = 32;

/** The data that an operation needs to send a token. The command line has no client request to pass. */
export interface TokenSender {
  readonly request: {
    readonly id: string;
    readonly traceparent: string | undefined;
    /** Headers of the customer's request or of an unauthenticated client; absent for staff. */
    readonly headers?: IncomingHttpHeaders;
  };
  readonly context: Pick<Context, 'emailTokenSeal'>;
}

/** The account of a token. Its row is locked. */
export type TokenHolder = Pick<Account, 'id' | 'email' | 'emailVerified' | 'name' | 'locale' | 'version'>;

/**
 * Stores the digest of a new token, and appends the event that makes notifications send it. A new token replaces the
 * previous one of the same purpose. Tokens that undo a change are not replaced, because each previous address has its
 * own. The caller has locked the row of the account.
 */
export async function sendEmailToken(
  tx: Transaction,
  { request, context }: TokenSender,
  account: TokenHolder,
  purpose: EmailTokenPurpose,
  address: string,
): Promise<void> {
  const { id: accountId, name } = account;
  const locale = toLocale(account);
  const email = address.trim();
  if (purpose !== 'email-change-undo') await voidEmailTokens(tx, accountId, [purpose]);
  const token = randomBytes(tokenBytes).toString('base64url');
  const [stored] = await sql<{ expiresAt: Date }>(
    tx,
    `INSERT INTO email_tokens (digest, account_id, purpose, email, expires_at, email_key)
     VALUES ($1, $2, $3, $4, now() + $5 * interval '1 hour', $6) RETURNING expires_at AS "expiresAt"`,
    [
      digestOf(token),
      accountId,
      purpose,
      address,
      lifetimes[purpose],
      purpose === 'email-change-undo' ? emailKey(address) : null,
    ],
  );
  if (stored === undefined) throw new Error('a stored token has a time');
  const sealedToken = context.emailTokenSeal.seal(token, { kind: purpose, accountId, email });
  await appendEvent(tx, {
    type: 'email-token.issued.v1',
    subject: accountId,
    sequence: account.version,
    data: {
      accountId,
      kind: purpose,
      email,
      addressState: stateOf(purpose, address, account),
      ...networkOf(request.headers),
      name,
      ...locale,
      sealedToken,
      expiresAt: stored.expiresAt.toISOString(),
    },
    requestId: request.id,
    traceparent: request.traceparent,
  });
}

function stateOf(purpose: EmailTokenPurpose, address: string, { email, emailVerified }: TokenHolder) {
  if (purpose === 'email-change-undo' || (address === email && emailVerified)) return 'verified';
  return address === email ? 'registered' : 'requested';
}

function networkOf(headers: IncomingHttpHeaders = {}): { clientNetwork?: string } {
  const { address } = parseSessionClient(headers);
  return address === null ? {} : { clientNetwork: clientNetwork(address) };
}

export async function voidEmailTokens(
  tx: Transaction,
  accountId: string,
  purposes: readonly EmailTokenPurpose[],
): Promise<void> {
  await sql(tx, 'DELETE FROM email_tokens WHERE account_id = $1 AND purpose = ANY ($2::text[])', [accountId, purposes]);
}

export interface UsedToken {
  /** The account, whose row is locked until the transaction ends. */
  readonly account: Account;
  /** The address that the token was sent to. */
  readonly email: string;
  readonly createdAt: Date;
}

/**
 * Runs `use` with the account of the token in one transaction, and returns 204. Concurrent requests with one token wait
 * for the row of the account, so only the first of them finds the token. A rejected token is recorded.
 * @throws Problem 400 `invalid-token`, the same for an unknown, used, replaced and expired token, and for a token of an
 * account that is due for erasure
 */
export async function useEmailToken(
  request: OperationRequest,
  context: Context,
  purpose: EmailTokenPurpose,
  token: string,
  use: (tx: Transaction, used: UsedToken) => Promise<void>,
): Promise<Result<never>> {
  try {
    return await idempotent<never>(request, context, async (tx) => {
      const used = await takeToken(tx, purpose, digestOf(token));
      if (used === undefined) throw invalidToken();
      await use(tx, used);
      return { status: 204 };
    });
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid-token') await recordRefusal(request, context, purpose);
    throw error;
  }
}

/**
 * Returns when the token is valid, so that no password is hashed for an invalid token.
 * @throws Problem 400 `invalid-token`
 */
export async function requireUsable(
  request: OperationRequest,
  context: Context,
  purpose: EmailTokenPurpose,
  token: string,
): Promise<void> {
  const { rows } = await context.database.pool.query(
    'SELECT FROM email_tokens WHERE digest = $1 AND purpose = $2 AND expires_at > now()',
    [digestOf(token), purpose],
  );
  if (rows.length > 0) return;
  await recordRefusal(request, context, purpose);
  throw invalidToken();
}

export function invalidToken(): Problem {
  return new Problem('invalid-token', 'The token is not valid. Ask for a new e-mail.', {
    errors: [{ pointer: '/token', detail: 'is not valid' }],
  });
}

/**
 * Deletes the token and returns its account. The account is locked first, because every operation locks in this order.
 */
async function takeToken(tx: Transaction, purpose: EmailTokenPurpose, digest: string): Promise<UsedToken | undefined> {
  const [found] = await sql<{ accountId: string }>(
    tx,
    'SELECT account_id AS "accountId" FROM email_tokens WHERE digest = $1 AND purpose = $2',
    [digest, purpose],
  );
  const where = found && { id: found.accountId, ...notErased() };
  const account = where && (await Account.findOne({ where, ...inTransaction(tx, 'UPDATE') }));
  if (!account) return undefined;
  const [taken] = await sql<{ email: string; createdAt: Date }>(
    tx,
    `DELETE FROM email_tokens WHERE digest = $1 AND purpose = $2 AND expires_at > now()
     RETURNING email, created_at AS "createdAt"`,
    [digest, purpose],
  );
  return taken && { account, ...taken };
}

async function recordRefusal(request: OperationRequest, context: Context, purpose: EmailTokenPurpose): Promise<void> {
  const entry = { action: 'email-token-refused', accountId: undefined, requestId: request.id } as const;
  await context.database.transaction((tx) => audit(tx, { ...entry, detail: { purpose } }));
}

/**
 * Returns an unsalted digest. It is sufficient, because a token has 256 random bits. The token is looked up by index,
 * so no comparison reveals a part of it.
 */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
