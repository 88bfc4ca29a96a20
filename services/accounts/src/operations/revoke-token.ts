import type { Operation } from '../context.ts';
import { endFamily } from '../session/refresh-token.ts';

/** 204 for any token, also for an unknown token, because it is not valid either (RFC 7009 section 2.2). */
export const revokeToken: Operation<'revokeToken'> = async (request, { database }) => {
  const { refresh_token: token } = request.body;
  await database.transaction((tx) => endFamily(tx, token));
  return { status: 204 };
};
