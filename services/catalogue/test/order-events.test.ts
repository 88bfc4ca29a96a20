// The inventory handles the events of orders in every possible sequence, and with duplicates.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventually } from '@shop/shared/testing';
import { type Inventory, startInventory } from './inventory.ts';

type Kind = 'created' | 'cancelled' | 'shipped';

let inventory: Inventory;
let transport: Transport;

beforeAll(async () => {
  inventory = await startInventory();
  transport = await connectTestTransport(inventory.services.database.urls.events);
});
afterAll(async () => {
  await transport.close();
  await inventory.stop();
});

interface Order {
  readonly orderId: string;
  readonly accountId: string;
  readonly reservationId: string;
  readonly productId: string;
}

/** Returns an event of an order. Its id depends on the kind, so a second event of a kind is a second delivery. */
const ids = new Map<string, string>();
function eventOf(order: Order, kind: Kind): { id: string; type: string; content: string } {
  const key = `${order.orderId} ${kind}`;
  const id = ids.get(key) ?? newId();
  ids.set(key, id);
  const { orderId, accountId, reservationId, productId } = order;
  const reference = { orderId, accountId, reservationId };
  const item = { productId, name: 'Cup', quantity: 2 };
  const data = {
    created: { ...reference, items: [{ ...item, unitPrice: 1, lineTotal: 2 }], totalCost: 2, currency: 'EUR' },
    cancelled: { ...reference, items: [item], reason: null, cancelledAt: new Date().toISOString() },
    shipped: reference,
  }[kind];
  const type = `order.${kind}.v1`;
  const event = {
    specversion: '1.0',
    id,
    source: '/orders',
    type,
    subject: orderId,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    sequence: kind === 'created' ? '0000000001' : '0000000002',
    requestid: `request of ${orderId}`,
    data,
  };
  // Each delivery is another message for the broker. Only the inbox recognises the event.
  return { id: newId(), type, content: JSON.stringify(event) };
}

async function send(order: Order, ...kinds: Kind[]): Promise<void> {
  await transport.publish(kinds.map((kind) => eventOf(order, kind)));
}

/** An order of two cups with its reservation. */
async function reserved(stock = 5, status = 'active'): Promise<Order> {
  const productId = await inventory.product(stock, status);
  const order = { orderId: newId(), accountId: newId(), reservationId: newId(), productId };
  await inventory.reserve(order.reservationId, { [productId]: 2 }, order.accountId);
  return order;
}

const taken = async (order: Order, count: number) => {
  const { database } = inventory.services.service('catalogue');
  await eventually(async () => {
    const { rows } = await database.query('SELECT event_id FROM inbox WHERE subject = $1', [order.orderId]);
    expect(rows).toHaveLength(count);
  });
};

async function released(order: Order): Promise<{ type: string; data: { outcome: string }; request_id: string }[]> {
  const { database } = inventory.services.service('catalogue');
  return (await database.query('SELECT type, data, request_id FROM outbox WHERE subject = $1', [order.orderId])).rows;
}

describe('order.created.v1', () => {
  it('the event order.created.v1 confirms the reservation, so that the orders service is not asked about it', async () => {
    const order = await reserved();
    await send(order, 'created');
    await eventually(async () => expect(await inventory.state(order.reservationId)).toBe('confirmed'));
    expect(await inventory.figures(order.productId)).toBe('5/2/0');
  });

  it('the event order.created.v1 becomes a dead letter when the reservation was released, and does not delay other events', async () => {
    const [before, order, after] = [await reserved(), await reserved(), await reserved()];
    await inventory.release(order.reservationId);
    await transport.publish([before, order, after].map((each) => eventOf(each, 'created')));
    for (const { reservationId } of [before, after]) {
      await eventually(async () => expect(await inventory.state(reservationId)).toBe('confirmed'));
    }
    await eventually(async () => {
      const [letter] = (await transport.deadLetters('catalogue.inventory', 100)).filter(({ content }) =>
        content.includes(order.orderId),
      );
      expect(letter?.reason).toContain(`order ${order.orderId} has no stock`);
    });
  });
});

describe('order.cancelled.v1', () => {
  it('the event order.cancelled.v1 releases the stock and publishes an event with the id of the causing request', async () => {
    const order = await reserved();
    await send(order, 'created');
    await taken(order, 1);
    await send(order, 'cancelled');
    await eventually(async () => expect(await released(order)).toHaveLength(1));
    expect(await released(order)).toEqual([
      {
        type: 'stock.released.v1',
        request_id: `request of ${order.orderId}`,
        data: {
          orderId: order.orderId,
          accountId: order.accountId,
          reservationId: order.reservationId,
          outcome: 'done',
          releasedAt: expect.any(String),
        },
      },
    ]);
    expect(await inventory.figures(order.productId)).toBe('5/0/0');
    expect(await inventory.book(order.productId)).toBe('received 5, reserved 2, released 2');
  });

  it.each<Kind[][]>([
    [['cancelled', 'created']],
    [['cancelled', 'created', 'cancelled', 'created', 'cancelled', 'cancelled']],
    [['created', 'created', 'cancelled', 'cancelled', 'created']],
  ])('the event order.cancelled.v1 releases the stock once when the events arrive as %j', async (kinds) => {
    const order = await reserved();
    // The events are sent one after the other, so that they arrive in this sequence.
    for (const [index, kind] of kinds.entries()) {
      await send(order, kind);
      await taken(order, new Set(kinds.slice(0, index + 1)).size);
    }
    expect(await inventory.figures(order.productId)).toBe('5/0/0');
    expect(await inventory.book(order.productId)).toBe('received 5, reserved 2, released 2');
    expect(await inventory.state(order.reservationId)).toBe('released');
    expect(await released(order)).toHaveLength(1);
  });

  it('the event order.cancelled.v1 releases once when all events are delivered ten times concurrently', async () => {
    const orders = await Promise.all(Array.from({ length: 10 }, () => reserved()));
    const all = orders.flatMap((order) =>
      Array.from({ length: 10 }, () => [eventOf(order, 'cancelled'), eventOf(order, 'created')]).flat(),
    );
    await Promise.all(Array.from({ length: 4 }, (_, part) => transport.publish(all.filter((_, n) => n % 4 === part))));
    for (const order of orders) {
      await eventually(async () => expect(await released(order)).toHaveLength(1));
      await taken(order, 2);
      expect(await inventory.book(order.productId)).toBe('received 5, reserved 2, released 2');
      expect(await inventory.figures(order.productId)).toBe('5/0/0');
    }
  });

  it('the event order.cancelled.v1 releases and publishes once when two events report the cancellation', async () => {
    const order = await reserved();
    await send(order, 'cancelled');
    await taken(order, 1);
    ids.delete(`${order.orderId} cancelled`);
    await send(order, 'cancelled');
    await taken(order, 2);
    expect(await inventory.figures(order.productId)).toBe('5/0/0');
    expect(await inventory.book(order.productId)).toBe('received 5, reserved 2, released 2');
    expect((await released(order)).map(({ data }) => data.outcome)).toEqual(['done']);
  });

  it('the event order.cancelled.v1 publishes a failure when the reservation does not exist', async () => {
    const order = { orderId: newId(), accountId: newId(), reservationId: newId(), productId: newId() };
    await send(order, 'cancelled');
    await eventually(async () => expect((await released(order))[0]?.data.outcome).toBe('failed'));
  });
});

describe('order.shipped.v1', () => {
  it.each<Kind[][]>([
    [['created', 'shipped']],
    [['shipped', 'created']],
    [['shipped', 'shipped', 'created', 'shipped']],
  ])('the event order.shipped.v1 removes the units from the stock once when the events arrive as %j', async (kinds) => {
    const order = await reserved();
    for (const [index, kind] of kinds.entries()) {
      await send(order, kind);
      await taken(order, new Set(kinds.slice(0, index + 1)).size);
    }
    expect(await inventory.figures(order.productId)).toBe('3/0/0');
    expect(await inventory.book(order.productId)).toBe('received 5, reserved 2, shipped 2');
    expect(await inventory.state(order.reservationId)).toBe('shipped');
  });

  it('the event order.shipped.v1 ships the units that were assigned to the order, in the request that shipped it', async () => {
    const order = await reserved(2, 'backorder');
    await inventory.allocate(order.reservationId);
    await send(order, 'shipped');
    await taken(order, 1);
    expect(await inventory.figures(order.productId)).toBe('0/0/0');
    expect(await inventory.book(order.productId)).toBe('received 2, reserved 2, shipped 2');
    const { rows } = await inventory.services
      .service('catalogue')
      .database.query(
        'SELECT kind, actor, actor_id, request_id FROM stock_ledger WHERE reservation_id = $1 ORDER BY id',
        [order.reservationId],
      );
    expect(rows).toEqual([
      { kind: 'reserved', actor: 'customer', actor_id: order.accountId, request_id: expect.any(String) },
      { kind: 'shipped', actor: 'staff', actor_id: null, request_id: `request of ${order.orderId}` },
    ]);
  });

  it('the event order.shipped.v1 leaves units that are assigned to another order', async () => {
    const order = await reserved(2, 'backorder');
    const other = { ...order, orderId: newId(), reservationId: newId() };
    await inventory.reserve(other.reservationId, { [order.productId]: 2 }, order.accountId);
    await inventory.allocate(order.reservationId);
    // An earlier version of the shop shipped the order without assigning units.
    await send(other, 'shipped');
    await taken(other, 1);
    expect(await inventory.figures(order.productId)).toBe('2/2/0');
    await send(order, 'shipped');
    await taken(order, 1);
    expect(await inventory.figures(order.productId)).toBe('0/0/0');
    expect(await inventory.book(order.productId)).toBe(
      'received 2, reserved 2, reserved 2, received 2, shipped 2, shipped 2',
    );
  });

  it('the event order.shipped.v1 records shipped units on back order without an assignment as received', async () => {
    const order = await reserved(1, 'backorder');
    expect(await inventory.figures(order.productId)).toBe('1/1/1');
    await send(order, 'shipped');
    await taken(order, 1);
    expect(await inventory.figures(order.productId)).toBe('0/0/0');
    expect(await inventory.book(order.productId)).toBe('received 1, reserved 2, received 1, shipped 2');
  });

  it('the event order.shipped.v1 becomes a dead letter when the stock was released, and changes nothing', async () => {
    const order = await reserved();
    await send(order, 'cancelled');
    await taken(order, 1);
    await send(order, 'shipped');
    await eventually(async () => {
      const letters = await transport.deadLetters('catalogue.inventory', 100);
      expect(
        letters.some(({ content, reason }) => content.includes(order.orderId) && reason.includes('released')),
      ).toBe(true);
    });
    expect(await inventory.figures(order.productId)).toBe('5/0/0');
  });
});

describe('the stock ledger', () => {
  it('the stock ledger has no faults after all these events', async () => {
    expect(await inventory.verify()).toMatchObject({ faults: [] });
  });
});
