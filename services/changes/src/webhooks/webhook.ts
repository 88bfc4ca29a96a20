// A webhook as the table stores it, and as its owner sees it.
import { randomBytes } from 'node:crypto';
import type { Encryption } from '@shop/shared/auth';
import { type ChangeFilter, toFilter } from '../feed/change.ts';
import type { Kind } from '../feed/changed-resource.ts';
import type { components } from '../generated.ts';

/** A row of `webhooks`. */
export interface Webhook {
  readonly id: string;
  readonly version: number;
  /** The account or the machine that added it. */
  readonly ownerId: string;
  readonly isMachine: boolean;
  /** The scopes of the owner's token at the last change of the webhook. */
  readonly scopes: readonly string[];
  readonly url: string;
  readonly types: readonly Kind[];
  readonly collapse: boolean;
  /** Encrypted with the id of the webhook as label. `openSecrets` returns them. */
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly previousUntil: Date | null;
  readonly status: components['schemas']['Webhook']['status'];
  /** The changes up to this position are sent, except those of parked subjects. */
  readonly epoch: string;
  readonly position: number;
  /** The changes up to this position were not sent, because the webhook was added or reset after them. */
  readonly firstPosition: number;
  readonly isPingDue: boolean;
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly noticedHours: number;
  readonly nextAttemptAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The SELECT list of a `Webhook`. */
export const webhookColumns = `id, version, owner_id AS "ownerId", is_machine AS "isMachine", scopes, url, types, collapse, secret,
  previous_secret AS "previousSecret", previous_until AS "previousUntil", status, epoch, position, first_position AS "firstPosition", is_ping_due AS "isPingDue",
  failures, failing_since AS "failingSince", noticed_hours AS "noticedHours", next_attempt_at AS "nextAttemptAt",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The scope without which a webhook is neither changed nor sent. */
export const webhookScope = 'webhooks:write';

export function toWebhookView(webhook: Webhook): components['schemas']['Webhook'] {
  const { id, url, types, collapse, status, failingSince, createdAt, updatedAt } = webhook;
  return {
    id,
    url,
    types: [...types],
    collapse,
    status,
    ...(failingSince !== null && { failingSince: failingSince.toISOString() }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Returns what the owner follows with these scopes. */
export function followedBy(
  { ownerId, isMachine, types }: Pick<Webhook, 'ownerId' | 'isMachine' | 'types'>,
  scopes: ReadonlySet<string>,
): ChangeFilter {
  return toFilter({ accountId: ownerId, isMachine, scopes }, types);
}

/** Returns a secret of Standard Webhooks: `whsec_` and 32 random bytes in Base64. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Returns the secrets that sign a request now: the present one, and for 24 hours after a rotation the one before it. */
export function openSecrets(
  encryption: Encryption,
  webhook: Pick<Webhook, 'id' | 'secret' | 'previousSecret' | 'previousUntil'>,
): string[] {
  const { id, secret, previousSecret, previousUntil } = webhook;
  const isPreviousValid = previousSecret !== null && previousUntil !== null && previousUntil.getTime() > Date.now();
  return [secret, ...(isPreviousValid ? [previousSecret] : [])].map((sealed) => encryption.decrypt(sealed, id));
}
