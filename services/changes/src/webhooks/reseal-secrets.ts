// Encrypts the secrets of webhooks with the present key, so that a former one can be removed from WEBHOOK_KEYS.
import type { Encryption } from '@shop/shared/auth';
import { type Database, sql } from '@shop/shared/database';
import { type Log, startRepeating } from '@shop/shared/runtime';
import type { Webhook } from './webhook.ts';

const everyHour = 3_600_000;

/** Begins now, and repeats it: a process with the former key may have added a webhook meanwhile. */
export function startResealing(database: Database, encryption: Encryption, log: Log): () => Promise<void> {
  return startRepeating(
    everyHour,
    () => resealSecrets(database, encryption),
    (error) =>
      log.warn({ err: error }, 'the secrets of webhooks were not encrypted again; this is tried again in an hour'),
  );
}

type Sealed = Pick<Webhook, 'id' | 'secret' | 'previousSecret'>;

async function resealSecrets(database: Database, encryption: Encryption): Promise<void> {
  const reseal = (id: string, secret: string): string => encryption.encrypt(encryption.decrypt(secret, id), id);
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
