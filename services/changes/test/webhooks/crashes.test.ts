// At least once: kills and stops in the middle of a batch, and two senders.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createEncryption } from '@shop/shared/auth';
import { connectDatabase } from '@shop/shared/database';
import type { Log } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { ChangeReader } from '../../src/feed/change-reader.ts';
import { networkList } from '../../src/webhooks/address-rules.ts';
import { openPresentScopes } from '../../src/webhooks/present-scopes.ts';
import { startSender } from '../../src/webhooks/sender.ts';
import { openSigningKey } from '../../src/webhooks/signing-keys.ts';
import type { Receiver } from './receiver.ts';
import { type SendingShop, startSendingShop } from './sending-shop.ts';

let shop: SendingShop;
beforeAll(async () => {
  shop = await startSendingShop();
});
afterAll(() => shop?.stop());

/** Answers after a moment, so that requests are in progress when the process ends. */
const slow: Parameters<Receiver['answer']>[0] = (_request, response) => {
  setTimeout(() => response.writeHead(204).end(), 30);
  return undefined;
};

const got = (receiver: Receiver): Set<string> =>
  new Set(receiver.changes().map(({ event }) => `${event.subject} ${event.sequence}`));

/** Every second version of a subject that arrives for the first time is the next one. */
function expectOrder(receiver: Receiver): void {
  for (const requests of Map.groupBy(receiver.changes(), ({ event }) => event.subject).values()) {
    let newest = 0;
    for (const { event } of requests) {
      expect(Number(event.sequence)).toBeLessThanOrEqual(newest + 1);
      newest = Math.max(newest, Number(event.sequence));
    }
  }
}

it('after kills in the middle of batches no change is missing, and those of a subject arrive in order', async () => {
  const receiver = await shop.receiver();
  await shop.add(receiver.url);
  receiver.answer(slow);
  const changes = shop.services.service('changes');
  const products = await shop.create(40);
  for (const product of products) await shop.update(product, 2, 3);
  for (const share of [20, 50, 80]) {
    await eventually(() => expect(got(receiver).size).toBeGreaterThan(share));
    await changes.kill('SIGKILL');
    // The lease of the process that died.
    await changes.database.query('UPDATE webhooks SET leased_until = now()');
    await changes.restart();
  }
  await eventually(() => expect(got(receiver).size).toBe(120), 20_000);
  expectOrder(receiver);
});

it('a process that stops finishes the requests in progress, and the next one continues without a repetition', async () => {
  const receiver = await shop.receiver();
  await shop.add(receiver.url);
  receiver.answer(slow);
  const changes = shop.services.service('changes');
  await shop.create(60);
  await eventually(() => expect(receiver.changes().length).toBeGreaterThan(10));
  await changes.kill();
  const { rows } = await changes.database.query('SELECT FROM webhooks WHERE leased_until > now()');
  expect(rows).toEqual([]);
  expect(got(receiver).size).toBeLessThan(60);
  await changes.restart();
  await eventually(() => expect(got(receiver).size).toBe(60));
  expect(receiver.changes()).toHaveLength(60);
});

it('two senders send each change once', async () => {
  const receiver = await shop.receiver();
  await shop.add(receiver.url);
  receiver.answer(slow);
  const log = { warn() {}, error() {}, info() {} } as unknown as Log;
  const database = connectDatabase({ url: shop.services.database.urls.changes ?? '', name: 'changes', log });
  const reader = new ChangeReader(database, log);
  const keys = [Buffer.alloc(32, 9).toString('base64url')] as const;
  const sender = startSender({
    ...{ database, reader, log, encryption: createEncryption(keys, 'webhook secrets'), key: openSigningKey(keys) },
    ...{ presentScopes: openPresentScopes(undefined), allowed: networkList('WEBHOOKS_ALLOW').parse('127.0.0.0/8') },
    ...{ ownOrigin: 'https://shop.test' },
  });
  const products: string[] = [];
  for (let round = 0; round < 10; round += 1) products.push(...(await shop.create(10)));
  for (const product of products) await shop.update(product, 2);
  await eventually(() => expect(got(receiver).size).toBe(200), 20_000);
  expect(receiver.changes()).toHaveLength(200);
  expectOrder(receiver);
  await sender.close();
  await reader.close();
  await database.close();
});
