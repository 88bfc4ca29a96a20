// The recordings that the consumers of the catalogue keep agree with the real process.
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { EventType, Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventOf, messageOf, type ProviderStates, recordedEvents } from '@shop/shared/testing';
import { consumerContractsSuite } from '@shop/shared/testing/consumer-contracts';
import { type Inventory, startInventory } from './inventory.ts';
import { addProducts, staffToken } from './products.ts';

const ofOrders = recordedEvents({ consumer: 'catalogue', provider: 'orders' });
let inventory: Inventory;
let transport: Transport;

beforeAll(async () => {
  inventory = await startInventory();
  transport = await connectTestTransport(inventory.services.database.urls.events);
});
afterAll(async () => {
  await transport?.close();
  await inventory?.stop();
});

/** Creates the products. */
async function onHand(lamps: number, status = 'active'): Promise<Record<string, string>> {
  const [lamp = '', chair = ''] = await addProducts(inventory.services, [
    { name: 'Desk lamp', price: 19.99, stock: lamps, status },
    { name: 'Chair', price: 120.5, stock: 1 },
  ]);
  return { lamp, chair };
}

/** Reserves two lamps and a chair. */
async function reserved(lamps = 2, status = 'active'): Promise<Record<string, string>> {
  const { lamp = '', chair = '' } = await onHand(lamps, status);
  const [reservation, account] = [newId(), newId()];
  expect((await inventory.reserve(reservation, { [lamp]: 2, [chair]: 1 }, account)).status).toBe(200);
  return { lamp, chair, reservation, account };
}

/** Reserves, and sends recorded events of orders about the reservation. */
async function after(...types: EventType[]): Promise<Record<string, string>> {
  const values = new Map(Object.entries(await reserved()));
  for (const type of types) await transport.publish([messageOf(eventOf(ofOrders, type), values)]);
  return Object.fromEntries(values);
}

/** Creates a product of which one unit is on hand, and sends requests about it. */
async function cup(...requests: (readonly ['PATCH' | 'DELETE', object?])[]): Promise<Record<string, string>> {
  const [id = ''] = await addProducts(inventory.services, [
    { name: 'Cup', stock: 1, lowStockThreshold: 0, status: 'available' },
  ]);
  const token = await staffToken(inventory.services);
  const { client } = inventory.services.service('catalogue');
  for (const [method, body] of requests)
    expect((await client.call(method, `/v1/products/${id}`, { token, body })).status).toBeLessThan(300);
  return { cup: id };
}

const states: ProviderStates = {
  'a product is created': () => cup(),
  'a product becomes pending': () => cup(['PATCH', { status: 'pending' }]),
  'a product is archived': () => cup(['DELETE']),
  'the last unit of a product is removed': () => cup(['PATCH', { stock: 0 }]),
  'two lamps and a chair are on hand': () => onHand(2),
  'one lamp is on hand': () => onHand(1),
  'the lamp is not for sale': () => onHand(2, 'pending'),
  'two lamps and a chair are reserved': () => reserved(),
  'a lamp is reserved that has to be ordered first': () => reserved(1, 'backorder'),
  async 'the reservation was released'() {
    const { reservation = '', ...others } = await reserved();
    expect((await inventory.release(reservation)).status).toBe(204);
    return { reservation, ...others };
  },
  async 'the account holds two orders'() {
    const account = newId();
    const cup = await inventory.product(2);
    for (const id of [newId(), newId()])
      expect((await inventory.reserve(id, { [cup]: 1 }, account, { orders: 2 })).status).toBe(200);
    return { ...(await onHand(2)), account };
  },
  'an order was cancelled': () => after('order.created.v1', 'order.cancelled.v1'),
  'a lamp of an order came back': () => after('return.received.v1'),
  'a lamp of an order was cancelled': () => after('order.created.v1', 'order.lines-cancelled.v1'),
};

consumerContractsSuite('catalogue', states, () => inventory.services);
