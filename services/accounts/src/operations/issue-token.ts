// POST /v1/tokens: log-in by e-mail and password, and renewal by refresh token.
import { bearerChallenge } from '@shop/shared/auth';
import { refuseFaults } from '@shop/shared/contract';
import type { OperationRequest } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import { Account, notErased } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { findHolders } from '../account/mailbox.ts';
import { inTransaction } from '../account/models.ts';
import { parseSessionClient } from '../account/session-client.ts';
import type { Context, Operation } from '../context.ts';
import { signAccessToken, signMachineToken } from '../session/access-token.ts';
import { accessTokenSeconds } from '../session/access-token-lifetime.ts';
import { logInMachine } from '../session/machine.ts';
import { type RefreshToken, rotate, startFamily } from '../session/refresh-token.ts';
import type { Waiter } from '../session/semaphore.ts';
import type { SigningKey } from '../session/signing-key.ts';
import { toWaiter } from '../session/waiter.ts';

type TokenRequest = Parameters<Operation<'issueToken'>>[0];

interface Granted {
  readonly account: Account;
  readonly refresh: RefreshToken;
  /** The time of the log-in in seconds since 1970; undefined for a log-in now. */
  readonly authTime: number | undefined;
}

/**
 * @throws Problem 400 with an `Idempotency-Key`; 401, the same for every wrong credential; 403 for a blocked account;
 *   503 when too many passwords are being checked
 */
export const issueToken: Operation<'issueToken'> = async (request, context) => {
  refuseFaults(request.faults, keyFaults(request));
  // The key is read first, so that a refresh token is not used up when no signing key is available.
  const key = await context.signingKeys.current();
  if (request.body.grant_type !== undefined) return issueMachineToken(request, context, key);
  // The contract requires e-mail and password in a request without a refresh token.
  const { email = '', password = '', refresh_token: token } = request.body;
  const { account, refresh, authTime } =
    token === undefined ? await logIn(request, context, email, password) : await renew(request, context, token);
  const { sessionId } = refresh;
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    body: {
      access_token: await signAccessToken(key, context.tokenIssuer, account, { sessionId, authTime }),
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      refresh_token: refresh.token,
    },
  };
};

/**
 * Issues an access token only. A machine needs no refresh token, because its secret serves the same purpose (RFC 6749
 * section 4.4.3).
 */
async function issueMachineToken(
  { id, body: { client_id: clientId = '', client_secret: secret = '' } }: TokenRequest,
  { database, tokenIssuer }: Context,
  key: SigningKey,
): ReturnType<Operation<'issueToken'>> {
  const machine = await logInMachine(database, id, clientId, secret);
  if (machine === undefined) throw invalidCredentials('The client id or the client secret is wrong.');
  const access_token = await signMachineToken(key, tokenIssuer, machine);
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    body: { access_token, token_type: 'Bearer', expires_in: accessTokenSeconds },
  };
}

/**
 * Returns a fault for an `Idempotency-Key`, which would require that a retry gets the same tokens. Tokens are not
 * stored.
 */
function keyFaults({ headers }: OperationRequest): Fault[] {
  if (headers['idempotency-key'] === undefined) return [];
  return [{ header: 'Idempotency-Key', detail: 'is not accepted here: tokens are not stored for a replay' }];
}

/**
 * Checks a log-in. The same steps run with and without an account: two queries, one check of a hash, one row in the
 * audit log.
 */
async function logIn(request: OperationRequest, context: Context, email: string, password: string): Promise<Granted> {
  // The gateway remembers from which networks each e-mail address has logged in.
  const waiter = toWaiter(request, request.headers['x-known-client'] === '1');
  const ids = await findHolders(context.database, email);
  const found = await withPassword(await Account.findAll({ where: { id: ids } }), password, context, waiter);
  const granted = await context.database.transaction(async (tx) => {
    // The row is read again with a lock, because the password may have changed while the given one was checked against
    // the old hash.
    const account =
      found !== undefined
        ? await Account.findOne({
            where: { id: found.id, passwordHash: found.passwordHash, ...notErased() },
            ...inTransaction(tx, 'SHARE'),
          })
        : null;
    const isBlocked = account !== null && account.blockedAt !== null;
    const action = account === null ? 'login-failed' : isBlocked ? 'login-blocked' : 'login-succeeded';
    await audit(tx, { action, accountId: found?.id ?? ids[0], requestId: request.id, detail: {} });
    if (account === null) return undefined;
    if (isBlocked) return 'blocked';
    const client = parseSessionClient(request.headers);
    const refresh = await startFamily(tx, account.id, client, context.refreshLifetimes);
    return { account, refresh, authTime: undefined };
  });
  if (granted === undefined) throw invalidCredentials('The e-mail address or the password is wrong.');
  // The password was correct, so only the account owner learns that the account exists.
  if (granted === 'blocked') throw new Problem('account-blocked', 'This account is blocked. Contact the shop.');
  return granted;
}

/** Returns the account with this password. Several have one mailbox only when they have shared it since before 1.2. */
async function withPassword(
  accounts: readonly Account[],
  password: string,
  { passwords }: Context,
  waiter: Waiter,
): Promise<Account | undefined> {
  for (const account of accounts) if (await passwords.matches(account.passwordHash, password, waiter)) return account;
  if (accounts.length === 0) await passwords.matches(undefined, password, waiter);
  return undefined;
}

async function renew(request: OperationRequest, context: Context, token: string): Promise<Granted> {
  const granted = await context.database.transaction(async (tx) => {
    const rotation = await rotate(tx, token, parseSessionClient(request.headers), context.refreshLifetimes);
    if (rotation.outcome === 'reused') {
      const { accountId } = rotation;
      await audit(tx, { action: 'refresh-token-reused', accountId, requestId: request.id, detail: {} });
    }
    if (rotation.outcome !== 'rotated') return undefined;
    const account = await Account.findOne({
      where: { id: rotation.accountId, blockedAt: null, ...notErased() },
      ...inTransaction(tx),
    });
    if (account === null) return undefined;
    return { account, refresh: rotation, authTime: rotation.authTime };
  });
  // The error is thrown after the COMMIT, because the revocation of a family must be stored when its token was used
  // twice.
  if (granted === undefined) throw invalidCredentials('The refresh token is not valid. Log in again.');
  return granted;
}

function invalidCredentials(detail: string): Problem {
  return new Problem('invalid-credentials', detail, { headers: { 'WWW-Authenticate': bearerChallenge() } });
}
