// The feed has a change for every event in the recordings in contracts/. The other services do not run.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import {
  connectTestTransport,
  eventually,
  messageOf,
  recordedEvents,
  startServices,
  type TestServices,
  type Values,
} from '@shop/shared/testing';

let services: TestServices;
let transport: Transport;

beforeAll(async () => {
  services = await startServices(['changes']);
  transport = await connectTestTransport(services.database.urls.events);
});
afterAll(async () => {
  await transport?.close();
  await services?.stop();
});

/** The address of the resource, by the beginning of the type of the event. */
const resources: Readonly<Record<string, readonly [collection: string, placeholder: string]>> = {
  account: ['accounts', 'account'],
  invoice: ['orders', 'order'],
  order: ['orders', 'order'],
  product: ['products', 'cup'],
  refund: ['orders', 'order'],
  return: ['returns', 'return'],
  setting: ['discounts', 'setting'],
  stock: ['products', 'cup'],
};

it.each(recordedEvents({ consumer: 'changes' }))(
  'the feed has a change for $type of $provider, given $given, with the address of its resource',
  async (event) => {
    const { client } = services.service('changes');
    const { body: start } = await client.get('/v1/changes?cursor=now');
    const values: Values = new Map();
    const message = messageOf(event, values);
    expect(await transport.publish([message])).toEqual(['confirmed']);
    const scopes = ['accounts:support', 'orders:read-all', 'catalogue:write', 'settings:write'];
    const token = await services.issuer.sign({ scopes });
    const [collection = '', placeholder = ''] = resources[event.type.split('.')[0] ?? ''] ?? [];
    await eventually(async () => {
      const { body } = await client.get(`/v1/changes?cursor=${start.nextCursor}`, { token });
      expect(body.items).toMatchObject([
        {
          id: message.id,
          type: event.type,
          source: `/${event.provider}`,
          resource: `/v1/${collection}/${values.get(placeholder)}`,
        },
      ]);
    });
  },
);

it('no recorded event becomes a dead letter of the feed', async () => {
  expect(await transport.deadLetters('changes.feed', 100)).toEqual([]);
});
