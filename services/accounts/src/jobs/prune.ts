// The retention of tokens and of the audit log.
import type { Expiry } from '@shop/shared/database';
import { longestTokenSeconds } from '../session/access-token-lifetime.ts';

/**
 * Returns the retention rules. A used token is stored for as long as an unused one would have been valid, and the audit
 * log for a year.
 */
export function expiredAccountRows(refreshTokenDays: number): readonly Expiry[] {
  return [
    { table: 'refresh_tokens', since: 'used_at', hours: refreshTokenDays * 24 },
    // The last access token of an expired family is still valid. It can be revoked only while the row of the family
    // exists.
    // Families are deleted after the used tokens, because deleting a family deletes its tokens, and few tokens remain
    // then.
    { table: 'refresh_families', since: 'expires_at', hours: longestTokenSeconds / 3_600 },
    { table: 'ended_sessions', since: 'ended_at', hours: longestTokenSeconds / 3_600 },
    { table: 'machine_secrets', since: 'expires_at', hours: 1 },
    { table: 'email_tokens', since: 'expires_at', hours: 0 },
    { table: 'audit_log', since: 'created_at', hours: 366 * 24 },
  ];
}
