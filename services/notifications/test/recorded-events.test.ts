// Every event in the recordings in contracts/ leads to its e-mail. The other services do not run.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import {
  connectTestTransport,
  eventually,
  messageOf,
  recordedEvents,
  startServices,
  type TestServices,
  testSecret,
  type Values,
} from '@shop/shared/testing';

const recorded = recordedEvents({ consumer: 'notifications' });
const account = newId();
const email = 'ada@example.org';
let services: TestServices;
let transport: Transport;
let values: Values;

beforeAll(async () => {
  services = await startServices(['notifications']);
  transport = await connectTestTransport(services.database.urls.events);
  const about = { kind: 'email-verification', accountId: account, email } as const;
  const sealedToken = createEmailTokenSeal([testSecret]).seal('the-token', about);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  values = new Map(Object.entries({ account, email, sealedToken, expiresAt }));
});
afterAll(async () => {
  await transport?.close();
  await services?.stop();
});

async function rows(text: string): Promise<unknown[]> {
  return (await services.service('notifications').database.query(text, [account])).rows;
}

/** Sends recorded events. Each event about the account has the next version of the account. */
async function send(isChosen: (type: string) => boolean): Promise<void> {
  const messages = recorded
    .filter(({ type }) => isChosen(type))
    .map((event, index) => messageOf(event, values, event.provider === 'accounts' ? index + 1 : 1));
  expect(await transport.publish(messages)).toEqual(messages.map(() => 'confirmed'));
}

it('the notifications service adds the e-mail of each event', async () => {
  await send((type) => type !== 'account.erased.v1');
  await eventually(async () =>
    expect(
      await rows(
        'SELECT split_part(kind, \' \', 1) AS kind FROM notifications WHERE account_id = $1 ORDER BY kind COLLATE "C"',
      ),
    ).toEqual(
      [
        'email-verification',
        'order-cancelled',
        'order-lines-cancelled',
        'order-paid',
        'order-received',
        'order-refund-due',
        'order-refunded',
        'order-return-approved',
        'order-return-received',
        'order-return-refused',
        'order-return-requested',
        'order-shipped',
        'password-changed',
        'webhook-failing',
      ].map((kind) => ({ kind })),
    ),
  );
  const sent = "SELECT FROM notifications WHERE account_id = $1 AND status = 'failed'";
  expect(await rows(sent)).toEqual([]);
});

it('the notifications service adds an e-mail about each of several returns of an order', async () => {
  const event = recorded.find(({ type }) => type === 'return.approved.v1');
  if (event === undefined) throw new Error('there is a recorded return');
  const messages = [newId(), newId()].map((id) => messageOf(event, new Map([...values, ['return', id]]), 2));
  expect(await transport.publish(messages)).toEqual(['confirmed', 'confirmed']);
  await eventually(async () =>
    expect(
      await rows("SELECT FROM notifications WHERE account_id = $1 AND kind LIKE 'order-return-approved %'"),
    ).toHaveLength(3),
  );
});

it('the notifications service sends the token of the recorded event, decrypted', async () => {
  await eventually(async () =>
    expect(
      await rows("SELECT status FROM notifications WHERE account_id = $1 AND kind LIKE 'email-verification%'"),
    ).toEqual([{ status: 'sent' }]),
  );
});

it('the notifications service erases the account', async () => {
  await send((type) => type === 'account.erased.v1');
  await eventually(async () => expect(await rows('SELECT FROM erased_accounts WHERE account_id = $1')).toHaveLength(1));
});

it('the notifications service makes no recorded event a dead letter', async () => {
  expect(await transport.deadLetters('notifications.mail', 100)).toEqual([]);
});
