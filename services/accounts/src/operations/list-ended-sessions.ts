// GET /internal/ended-sessions: for the verifiers of access tokens.

import type { Operation } from '../context.ts';
import { longestTokenSeconds } from '../session/access-token-lifetime.ts';
import { readEndedSessions } from '../session/ended-session.ts';

export const listEndedSessions: Operation<'listEndedSessions'> = async (request, { database }) => {
  const { since = '0' } = request.query;
  const { sessionIds, next } = await readEndedSessions(database, since);
  return { status: 200, body: { sessionIds: [...sessionIds], next, keepSeconds: longestTokenSeconds } };
};
