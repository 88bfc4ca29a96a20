// DELETE /v1/sessions/{sessionId}
import { requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { audit } from '../account/audit.ts';
import type { Operation } from '../context.ts';
import { endFamilyById } from '../session/refresh-token.ts';

/**
 * @throws Problem 404 for an unknown session and for a session of another account, so that the response does not reveal
 * it
 */
export const endSession: Operation<'endSession'> = async (request, { database }) => {
  const { accountId } = requireCaller(request);
  const ended = await database.transaction(async (tx) => {
    const sessions = await endFamilyById(tx, accountId, request.path.sessionId);
    if (sessions > 0) {
      await audit(tx, { action: 'sessions-ended', accountId, requestId: request.id, detail: { sessions } });
    }
    return sessions;
  });
  if (ended === 0) throw new Problem('not-found', 'There is no such session.');
  return { status: 204 };
};
