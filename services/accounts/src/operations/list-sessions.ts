// GET /v1/sessions: the caller's own sessions.
import { requireCaller } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import type { components } from '../generated.ts';

interface SessionRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly current: boolean;
}

/** The maximum number of listed sessions, because an account can have any number of them. */
const maximum = 100;

/** Lists the current session first, and then the others by their last use. */
export const listSessions: Operation<'listSessions'> = async (request, { database }) => {
  const { accountId, sessionId } = requireCaller(request);
  const { rows } = await database.pool.query<SessionRow>(
    `SELECT id, created_at AS "createdAt", coalesce(last_used_at, created_at) AS "lastUsedAt", address,
       user_agent AS "userAgent", id::text IS NOT DISTINCT FROM $2 AS current
     FROM refresh_families WHERE account_id = $1 AND expires_at > now()
     ORDER BY current DESC, "lastUsedAt" DESC, id DESC LIMIT ${maximum}`,
    [accountId, sessionId ?? null],
  );
  return { status: 200, body: { items: rows.map(toSession) } };
};

function toSession(row: SessionRow): components['schemas']['Session'] {
  return {
    id: row.id,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt.toISOString(),
    ...(row.address !== null && { address: row.address }),
    ...(row.userAgent !== null && { user_agent: row.userAgent }),
    current: row.current,
  };
}
