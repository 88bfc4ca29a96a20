// POST /v1/tokens/revoke: the log-out of whoever bears the refresh token.
import type { OperationRequest, Reply } from '@shop/shared/http';
import type { Context } from './context.ts';
import { endFamily } from './refresh-token.ts';

/** 204 for any token, also for one that means nothing: what the client asked for already holds (RFC 7009 section 2.2). */
export async function revokeToken(request: OperationRequest, { database }: Context): Promise<Reply> {
  const { refresh_token: token } = request.body as { readonly refresh_token: string };
  await database.transaction((tx) => endFamily(tx, token));
  return { status: 204 };
}
