// order.lines-cancelled.v1 in every sequence with the other events of its order, and with the allocation of the units.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventually } from '@shop/shared/testing';
import { type Inventory, startInventory } from './inventory.ts';

const rounds = Number(process.env.RACE_ROUNDS ?? 20);

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

/** `first` and `second` are cancellations of units. */
type Kind = 'created' | 'first' | 'second' | 'cancelled' | 'shipped';

interface Order {
  readonly orderId: string;
  readonly accountId: string;
  readonly reservationId: string;
  readonly cup: string;
  readonly pan: string;
  readonly ids: Readonly<Record<Kind, string>>;
}

const database = () => inventory.services.service('catalogue').database;

/** Five cups and two pans. The first cancellation takes two cups, the second one a cup and both pans. */
async function reserved(stock = 8, status = 'active'): Promise<Order> {
  const [cup, pan] = [await inventory.product(stock, status), await inventory.product(stock, status)];
  const [orderId, accountId, reservationId] = [newId(), newId(), newId()];
  await inventory.reserve(reservationId, { [cup]: 5, [pan]: 2 }, accountId);
  const ids = { created: newId(), first: newId(), second: newId(), cancelled: newId(), shipped: newId() };
  return { orderId, accountId, reservationId, cup, pan, ids };
}

/** The units that the order has after the first and after both cancellations. */
function unitsOf({ cup, pan }: Order, cancellations: 0 | 1 | 2) {
  const line = (productId: string, quantity: number) => ({ productId, name: 'Cup', quantity });
  return [[line(cup, 5), line(pan, 2)], [line(cup, 3), line(pan, 2)], [line(cup, 2)]][cancellations] ?? [];
}

function eventOf(order: Order, kind: Kind): { id: string; type: string; content: string } {
  const { orderId, accountId, reservationId } = order;
  const reference = { orderId, accountId, reservationId };
  const priced = (units: ReturnType<typeof unitsOf>) => units.map((unit) => ({ ...unit, unitPrice: 0, lineTotal: 0 }));
  const at = new Date().toISOString();
  const amount = { totalCost: 0, currency: 'EUR' };
  const reduced = (orderVersion: number, remaining: ReturnType<typeof unitsOf>) => ({
    ...{ ...reference, ...amount, orderVersion, items: [{ productId: order.cup, name: 'Cup', quantity: 1 }] },
    ...{ remaining: priced(remaining), reason: null, cancelledAt: at, cancelledBy: 'customer' },
  });
  const data = {
    created: { ...reference, ...amount, items: priced(unitsOf(order, 0)) },
    first: reduced(2, unitsOf(order, 1)),
    second: reduced(3, unitsOf(order, 2)),
    cancelled: { ...reference, items: unitsOf(order, 2), reason: null, cancelledAt: at },
    shipped: { ...reference, items: unitsOf(order, 2) },
  }[kind];
  const type = kind === 'first' || kind === 'second' ? 'order.lines-cancelled.v1' : `order.${kind}.v1`;
  const sequence = { created: 1, first: 2, second: 3, cancelled: 4, shipped: 4 }[kind];
  const content = JSON.stringify({
    ...{ specversion: '1.0', id: order.ids[kind], source: '/orders', type, subject: orderId, time: at },
    ...{ sequence: String(sequence).padStart(10, '0'), requestid: `request of ${orderId}`, data },
  });
  // Each delivery is another message for the broker. Only the inbox recognises the event.
  return { id: newId(), type, content };
}

const send = (order: Order, ...kinds: Kind[]) => transport.publish(kinds.map((kind) => eventOf(order, kind)));

const taken = (order: Order, count: number) =>
  eventually(async () => {
    const { rows } = await database().query('SELECT FROM inbox WHERE subject = $1', [order.orderId]);
    expect(rows).toHaveLength(count);
  });

async function answers(order: Order): Promise<{ type: string; version: number | null; outcome: string }[]> {
  const { rows } = await database().query(
    `SELECT type, (data ->> 'orderVersion')::int AS version, data ->> 'outcome' AS outcome FROM outbox
     WHERE subject = $1 ORDER BY type, version`,
    [order.orderId],
  );
  return rows;
}

/** The units of both products that were released and shipped, and the remaining figures. */
async function sums(order: Order): Promise<object> {
  const { rows } = await database().query(
    `SELECT array_agg(coalesce(released, 0)::int ORDER BY id) AS released,
       array_agg(coalesce(shipped, 0)::int ORDER BY id) AS shipped,
       array_agg(reserved + oversold ORDER BY id) AS promised, array_agg(allocated ORDER BY id) AS allocated
     FROM products LEFT JOIN LATERAL (
       SELECT sum(quantity) FILTER (WHERE kind = 'released') AS released,
         sum(quantity) FILTER (WHERE kind = 'shipped') AS shipped
       FROM stock_ledger WHERE product_id = products.id) AS book ON true
     WHERE id IN ($1, $2)`,
    [order.cup, order.pan],
  );
  return rows[0];
}

const ended = {
  cancelled: { released: [5, 2], shipped: [0, 0], promised: [0, 0], allocated: [0, 0] },
  shipped: { released: [3, 2], shipped: [2, 0], promised: [0, 0], allocated: [0, 0] },
};
const open = { released: [3, 2], shipped: [0, 0], promised: [2, 0], allocated: [0, 0] };

/** Returns all permutations of the kinds. */
function sequences(kinds: readonly Kind[]): Kind[][] {
  if (kinds.length < 2) return [[...kinds]];
  return kinds.flatMap((kind) => sequences(kinds.filter((other) => other !== kind)).map((rest) => [kind, ...rest]));
}

describe('order.lines-cancelled.v1', () => {
  it('the event order.lines-cancelled.v1 releases the units, publishes an event, and the ledger names the cause', async () => {
    const order = await reserved();
    await send(order, 'first');
    await taken(order, 1);
    expect(await answers(order)).toEqual([{ type: 'stock.lines-released.v1', version: 2, outcome: 'done' }]);
    expect([await inventory.figures(order.cup), await inventory.state(order.reservationId)]).toEqual([
      '8/3/0',
      'confirmed',
    ]);
    const { rows } = await database().query(
      `SELECT quantity, remaining, order_id, actor, actor_id, request_id, reason FROM stock_ledger
       WHERE kind = 'released' AND reservation_id = $1`,
      [order.reservationId],
    );
    expect(rows).toEqual([
      {
        quantity: 2,
        remaining: 3,
        order_id: order.orderId,
        actor: 'customer',
        actor_id: order.accountId,
        request_id: `request of ${order.orderId}`,
        reason: 'cancelled in the order',
      },
    ]);
  });

  it('the event order.lines-cancelled.v1 first releases units that were promised beyond the stock', async () => {
    const order = await reserved(4, 'backorder');
    expect(await inventory.figures(order.cup)).toBe('4/4/1');
    await send(order, 'first');
    await taken(order, 1);
    expect(await inventory.figures(order.cup)).toBe('4/3/0');
  });

  it('the event order.lines-cancelled.v1 publishes a failure when the reservation does not exist', async () => {
    const order = { ...(await reserved()), reservationId: newId() };
    await send(order, 'first');
    await taken(order, 1);
    expect((await answers(order)).map(({ outcome }) => outcome)).toEqual(['failed']);
  });

  it.each(sequences(['created', 'first', 'second']))(
    'the event order.lines-cancelled.v1 releases each unit once: %s, %s, %s',
    async (...kinds) => {
      const order = await reserved();
      for (const [index, kind] of kinds.entries()) {
        await send(order, kind, kind);
        await taken(order, index + 1);
      }
      expect(await sums(order)).toEqual(open);
      expect(await answers(order)).toEqual([2, 3].map((version) => ({ ...doneAnswer, version })));
      expect(await inventory.state(order.reservationId)).toBe('confirmed');
    },
  );

  it.each(
    (['cancelled', 'shipped'] as const).flatMap((end) =>
      sequences(['created', 'first', 'second', end]).map((kinds) => [end, kinds] as const),
    ),
  )('the catalogue accounts for each unit of an order that is %s: %j', async (end, kinds) => {
    const order = await reserved();
    for (const [index, kind] of kinds.entries()) {
      await send(order, kind);
      await taken(order, index + 1);
    }
    await send(order, ...kinds);
    expect(await sums(order)).toEqual(ended[end]);
    expect((await answers(order)).filter(({ outcome }) => outcome === 'done')).toHaveLength(end === 'shipped' ? 2 : 3);
  });

  it(`the catalogue accounts for each unit of ${rounds} orders whose events arrive concurrently, three times each`, async () => {
    const orders = await Promise.all(Array.from({ length: rounds }, () => reserved()));
    const ends = (n: number) => (n % 2 === 0 ? 'cancelled' : 'shipped');
    const all = orders.flatMap((order, n) =>
      [0, 1, 2].flatMap((turn) => {
        const kinds = sequences(['created', 'first', 'second', ends(n)]);
        return (kinds[(n * 7 + turn * 5) % kinds.length] ?? []).map((kind) => eventOf(order, kind));
      }),
    );
    await Promise.all(
      Array.from({ length: 4 }, (_, part) => transport.publish(all.filter((_each, n) => n % 4 === part))),
    );
    for (const [n, order] of orders.entries()) {
      await taken(order, 4);
      expect(await sums(order)).toEqual(ended[ends(n)]);
    }
    expect((await transport.deadLetters('catalogue.inventory', 100)).map(({ reason }) => reason)).toEqual([]);
  });
});

const doneAnswer = { type: 'stock.lines-released.v1', outcome: 'done' };

describe('an allocation', () => {
  const allocate = (order: Order, cancellations: 1 | 2) => {
    const path = `/internal/reservations/${order.reservationId}/allocate`;
    const body = { lines: unitsOf(order, cancellations).map(({ productId, quantity }) => ({ productId, quantity })) };
    const { client } = inventory.services.service('catalogue');
    return client.post(path, { body, headers: inventory.headersFor(path, body) });
  };

  it('an allocation that arrives before the event assigns only the remaining units', async () => {
    const order = await reserved(3, 'backorder');
    expect((await allocate(order, 1)).status).toBe(204);
    expect(await sums(order)).toEqual({ released: [2, 0], shipped: [0, 0], promised: [3, 2], allocated: [3, 2] });
    await send(order, 'first', 'created');
    await taken(order, 2);
    expect(await sums(order)).toEqual({ released: [2, 0], shipped: [0, 0], promised: [3, 2], allocated: [3, 2] });
  });

  it('an allocation that arrives before a cancellation loses the cancelled units', async () => {
    const order = await reserved();
    await inventory.allocate(order.reservationId);
    await send(order, 'second');
    await taken(order, 1);
    expect(await sums(order)).toEqual({ ...open, allocated: [2, 0] });
    expect((await allocate(order, 2)).status).toBe(204);
    await send(order, 'shipped', 'first');
    await taken(order, 3);
    expect(await sums(order)).toEqual(ended.shipped);
  });

  it('an allocation with an older state of the order does not revoke assigned units', async () => {
    const order = await reserved();
    await send(order, 'second');
    await taken(order, 1);
    expect((await allocate(order, 1)).status).toBe(204);
    expect(await sums(order)).toEqual({ ...open, allocated: [2, 0] });
  });

  it(`allocations race with the events of ${rounds} orders, and the stock adds up`, async () => {
    const orders = await Promise.all(Array.from({ length: rounds }, () => reserved()));
    await Promise.all(
      orders.map(async (order, n) => {
        const steps = [() => send(order, 'second', 'first'), () => allocate(order, n % 3 === 0 ? 1 : 2)];
        await Promise.all((n % 2 === 0 ? steps : steps.reverse()).map((step) => step()));
        await send(order, n % 2 === 0 ? 'cancelled' : 'shipped');
      }),
    );
    for (const [n, order] of orders.entries()) {
      await taken(order, 3);
      expect(await sums(order)).toEqual(n % 2 === 0 ? ended.cancelled : ended.shipped);
    }
  });
});

describe('units that have shipped', () => {
  it('units that have shipped are not released: the event becomes a dead letter', async () => {
    const order = await reserved();
    await transport.publish([withoutItems(eventOf(order, 'shipped'))]);
    await taken(order, 1);
    await send(order, 'first');
    await eventually(async () => {
      const letters = await transport.deadLetters('catalogue.inventory', 100);
      expect(letters.some(({ content, reason }) => content.includes(order.orderId) && /has shipped/.test(reason))).toBe(
        true,
      );
    });
    expect(await sums(order)).toMatchObject({ released: [0, 0], shipped: [5, 2] });
  });
});

/** Returns the event as an earlier version of the shop sends it. */
function withoutItems(event: { id: string; type: string; content: string }): typeof event {
  const { data, ...envelope } = JSON.parse(event.content);
  const { items, ...rest } = data;
  return { ...event, content: JSON.stringify({ ...envelope, data: items && rest }) };
}

describe('the stock ledger', () => {
  it('the stock ledger has no faults after all these events', async () => {
    expect(await inventory.verify()).toMatchObject({ faults: [] });
  });

  it('the stock ledger reports a fault when the released parts of a line contradict its units', async () => {
    const order = await reserved();
    await send(order, 'first');
    await taken(order, 1);
    const line = [order.reservationId, order.cup];
    await database().query(
      'UPDATE reservation_lines SET quantity = 4 WHERE (reservation_id, product_id) = ($1, $2)',
      line,
    );
    expect((await inventory.verify()).faults).toMatchObject([{ productId: order.cup }]);
    await database().query('DELETE FROM reservation_lines WHERE (reservation_id, product_id) = ($1, $2)', line);
    expect((await inventory.verify()).faults).toMatchObject([{ productId: order.cup }, { productId: order.cup }]);
  });
});
