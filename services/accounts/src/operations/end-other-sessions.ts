// DELETE /v1/sessions: ends all sessions of the caller's account except the current one.
import { requireCaller } from '@shop/shared/http';
import { Account } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { inTransaction } from '../account/models.ts';
import type { Operation } from '../context.ts';
import { endAllFamilies } from '../session/refresh-token.ts';

/** A token without a session revokes all sessions, because none of them is the current one. */
export const endOtherSessions: Operation<'endOtherSessions'> = async (request, { database }) => {
  const { accountId, sessionId } = requireCaller(request);
  await database.transaction(async (tx) => {
    // Without the lock, two requests could lock the families in different orders and wait for each other.
    await Account.findByPk(accountId, inTransaction(tx, 'UPDATE'));
    const sessions = await endAllFamilies(tx, accountId, sessionId);
    if (sessions === 0) return;
    await audit(tx, { action: 'sessions-ended', accountId, requestId: request.id, detail: { sessions } });
  });
  return { status: 204 };
};
