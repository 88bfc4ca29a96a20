// Encrypts the secrets of webhooks with the present key, so that a former one can be removed from WEBHOOK_KEYS.
import { createEncryption } from '@shop/shared/auth';
import { type Database, sql } from '@shop/shared/database';
import { type Log, type Secrets, startRepeating } from '@shop/shared/runtime';
import { openSecret, sealSecret, type Webhook } from './webhook.ts';

const everyHour = 3_600_000;

/** Begins now, and repeats it: a process with the former key may have added a webhook meanwhile. */
export function startResealing(database: Database, keys: Secrets, log: Log): () => Promise<void> {
  return startRepeating(
    everyHour,
    () => resealSecrets(database, keys),
    (error) =>
      log.warn({ err: error }, 'the secrets of webhooks were not encrypted again; this is tried again in an hour'),
  );
}

type Sealed = Pick<Webhook, 'id' | 'secret' | 'previousSecret'>;

async function resealSecrets(database: Database, keys: Secrets): Promise<void> {
  if (keys.length === 1) return;
  const all = createEncryption(keys, 'webhook secrets');
  const reseal = (id: string, secret: string): string => sealSecret(all, id, openSecret(all, id, secret));
  const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM webhooks ORDER BY id');
  for (const { id } of rows) {
    await database.transaction(async (tx) => {
      const [webhook] = await sql<Sealed>(
        tx,
        'SELECT id, secret, previous_secret AS "previousSecret" FROM webhooks WHERE id = $1 FOR NO KEY UPDATE',
        [id],
      );
      if (webhook === undefined) return;
      const { secret, previousSecret } = webhook;
      await sql(tx, 'UPDATE webhooks SET secret = $2, previous_secret = $3 WHERE id = $1', [
        id,
        reseal(id, secret),
        previousSecret === null ? null : reseal(id, previousSecret),
      ]);
    });
  }
}
