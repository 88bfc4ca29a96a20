// The calls from the catalogue to orders, and the events of orders that it handles, against the recordings in
// contracts/orders.yaml. Orders does not run.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import {
  connectTestTransport,
  eventually,
  messageOf,
  type RecordedService,
  recordedEvents,
  startRecordedService,
} from '@shop/shared/testing';
import { type Inventory, startInventory } from './inventory.ts';

const recorded = recordedEvents({ consumer: 'catalogue', provider: 'orders' });
let orders: RecordedService;
let inventory: Inventory;
let transport: Transport;

beforeAll(async () => {
  orders = await startRecordedService('catalogue', 'orders');
  inventory = await startInventory({ environment: { ORDERS_URL: orders.url } });
  transport = await connectTestTransport(inventory.services.database.urls.events);
});
afterAll(async () => {
  await transport?.close();
  await inventory?.stop();
  await orders?.close();
});

interface Reserved {
  readonly reservation: string;
  readonly account: string;
  readonly lamp: string;
  readonly chair: string;
}

/** Reserves two lamps and a chair. */
async function reserved(): Promise<Reserved> {
  const [reservation, account] = [newId(), newId()];
  const [lamp, chair] = [await inventory.product(2), await inventory.product(1)];
  const items = { [lamp]: 2, [chair]: 1 };
  expect((await inventory.reserve(reservation, items, account, { orders: 2 })).status).toBe(200);
  return { reservation, account, lamp, chair };
}

describe('a reservation past its expiry', () => {
  it.each([
    ['an order has the reservation', 'confirmed'],
    ['no order has the reservation', 'released'],
  ])('when %s, a reservation past its expiry is %s', async (state, expected) => {
    const { reservation } = await reserved();
    orders.given(state);
    const { database } = inventory.services.service('catalogue');
    await database.query('UPDATE reservations SET settle_at = now() WHERE id = $1', [reservation]);
    await eventually(async () => expect(await inventory.state(reservation)).toBe(expected));
  });

  it('a reservation past its expiry agrees with the recordings in every call, and sends every recorded call', () => {
    expect(orders.deviations()).toEqual([]);
  });
});

/** Type → state of the reservation, figures of the lamp, and what the account holds, after the event. */
const effects: Readonly<Record<string, readonly [state: string, lamp: string, held: string]>> = {
  'order.created.v1': ['confirmed', '2/2/0', '1/3'],
  'order.processing.v1': ['held', '2/2/0', '0/0'],
  'order.shipped.v1': ['shipped', '1/0/0', '0/0'],
  'order.cancelled.v1': ['released', '2/0/0', '0/0'],
  'return.received.v1': ['held', '3/2/0', '1/3'],
  'order.lines-cancelled.v1': ['confirmed', '2/1/0', '1/2'],
};

it.each(recorded)('the catalogue handles $type as it is recorded', async (event) => {
  const { account, reservation, lamp, chair } = await reserved();
  await transport.publish([messageOf(event, new Map(Object.entries({ account, reservation, lamp, chair })))]);
  await eventually(async () => {
    const found = [await inventory.state(reservation), await inventory.figures(lamp), await inventory.held(account)];
    expect(found).toEqual(effects[event.type]);
  });
});
