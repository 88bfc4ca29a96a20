// A former key of WEBHOOK_KEYS can be removed after a start with both keys.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createEncryption } from '@shop/shared/auth';
import { eventually } from '@shop/shared/testing';
import { type SendingShop, startSendingShop } from './sending-shop.ts';
import { webhookKey as formerKey } from './webhook-shop.ts';

const presentKey = Buffer.alloc(32, 10).toString('base64url');
const [former, present] = [formerKey, presentKey].map((key) => createEncryption([key], 'webhook secrets'));

let shop: SendingShop;
beforeAll(async () => {
  shop = await startSendingShop({ WEBHOOK_KEYS: `${presentKey},${formerKey}` });
});
afterAll(() => shop?.stop());

it('a start encrypts the secrets of webhooks with the first key again', async () => {
  const { url } = await shop.receiver();
  const { id, secret } = await shop.add(url);
  const { database, restart } = shop.services.service('changes');
  await database.query('UPDATE webhooks SET secret = $2, previous_secret = $3 WHERE id = $1', [
    id,
    former?.encrypt(secret, id),
    former?.encrypt('the secret before', id),
  ]);
  await restart();
  await eventually(async () => {
    const { rows } = await database.query('SELECT secret, previous_secret AS previous FROM webhooks WHERE id = $1', [
      id,
    ]);
    expect(present?.decrypt(rows[0].secret, id)).toBe(secret);
    expect(present?.decrypt(rows[0].previous, id)).toBe('the secret before');
  });
});
