// The units that an account holds in reservations whose orders are not processed yet: counted with the reservation,
// lowered with its end, and never above the limits.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventually, lockWaits } from '@shop/shared/testing';
import { type HoldLimits, type Inventory, startInventory } from './inventory.ts';

let inventory: Inventory;
let transport: Transport;
let account: string;
let cup: string;

beforeAll(async () => {
  inventory = await startInventory();
  transport = await connectTestTransport(inventory.services.database.urls.events);
});
afterAll(async () => {
  await transport.close();
  await inventory.stop();
});
beforeEach(async () => {
  account = newId();
  cup = await inventory.product(1_000);
});

const database = () => inventory.services.service('catalogue').database;
const reserve = (quantity: number, holdLimits: HoldLimits | undefined, id = newId()) =>
  inventory.reserve(id, { [cup]: quantity }, account, holdLimits);

/** A counted reservation of cups, whose order has its id. */
async function reserved(quantity: number): Promise<string> {
  const id = newId();
  expect((await reserve(quantity, { orders: 100, units: 1_000 }, id)).status).toBe(200);
  return id;
}

type Kind = 'created' | 'processing' | 'lines-cancelled' | 'shipped' | 'cancelled';

/** Sends an event about the order of a reservation, which has the remaining cups. */
async function send(kind: Kind, reservationId: string, remaining = 1): Promise<void> {
  const reference = { orderId: reservationId, accountId: account, reservationId };
  const item = { productId: cup, name: 'Cup', quantity: remaining };
  const priced = { ...item, unitPrice: 0, lineTotal: 0 };
  const at = new Date().toISOString();
  const cancellation = { items: [item], reason: null, cancelledAt: at, cancelledBy: 'customer' };
  const amount = { totalCost: 0, currency: 'EUR' };
  const data = {
    created: { ...reference, ...amount, items: [priced] },
    processing: reference,
    'lines-cancelled': { ...reference, ...amount, ...cancellation, orderVersion: 2, remaining: [priced] },
    shipped: { ...reference, items: [item] },
    cancelled: { ...reference, ...cancellation },
  }[kind];
  const [id, type] = [newId(), `order.${kind}.v1`];
  const content = JSON.stringify({
    ...{ specversion: '1.0', id, source: '/orders', type, subject: reservationId, time: at },
    ...{ sequence: '0000000002', requestid: 'a request', data },
  });
  await transport.publish([{ id, type, content }]);
  await eventually(async () => {
    const { rows } = await database().query('SELECT FROM inbox WHERE event_id = $1', [id]);
    expect(rows).toHaveLength(1);
  });
}

describe('200', () => {
  it('POST /internal/reservations counts the reservation and its units', async () => {
    await reserved(3);
    await reserved(4);
    expect(await inventory.held(account)).toBe('2/7');
  });

  it('POST /internal/reservations counts a repeated reservation once', async () => {
    const id = newId();
    const limits = { orders: 1, units: 3 };
    const answers = await Promise.all(Array.from({ length: 10 }, () => reserve(3, limits, id)));
    expect(answers.map(({ body }) => body.state)).toEqual(answers.map(() => 'held'));
    expect((await reserve(3, limits, id)).body.state).toBe('held');
    expect(await inventory.held(account)).toBe('1/3');
  });

  it('a reservation without limits is not counted', async () => {
    expect((await reserve(500, undefined)).status).toBe(200);
    expect(await inventory.held(account)).toBeUndefined();
  });

  it.each([
    [{ orders: 2 }, [900, 1]],
    [{ units: 5 }, [1, 1, 1, 1, 1]],
    [{ orders: 3, units: 5 }, [2, 3]],
  ])('a reservation is accepted when the sum equals the limits %j', async (limits, quantities) => {
    for (const quantity of quantities) expect((await reserve(quantity, limits)).status).toBe(200);
    expect((await reserve(1, limits)).status).toBe(409);
  });
});

describe('409 hold-limit', () => {
  it('POST /internal/reservations lists every exceeded limit with the present figures, and reserves nothing', async () => {
    await reserved(8);
    const id = newId();
    const refusal = await reserve(3, { orders: 1, units: 10 }, id);
    expect(refusal).toMatchObject({ status: 409, body: { code: 'hold-limit' } });
    expect(refusal.body.errors).toEqual([
      {
        ...{ pointer: '/holdLimits/orders', detail: '1 are held, 1 requested, and the limit is 1' },
        ...{ bound: 'orders', limit: 1, held: 1, requested: 1 },
      },
      {
        ...{ pointer: '/holdLimits/units', detail: '8 are held, 3 requested, and the limit is 10' },
        ...{ bound: 'units', limit: 10, held: 8, requested: 3 },
      },
    ]);
    expect(await inventory.state(id)).toBeUndefined();
    expect(await inventory.held(account)).toBe('1/8');
    expect(await inventory.figures(cup)).toBe('1000/8/0');
  });

  it('POST /internal/reservations returns 409 for a first reservation that is larger than the limit', async () => {
    expect((await reserve(11, { units: 10 })).body).toMatchObject({ errors: [{ bound: 'units', held: 0 }] });
    expect(await inventory.held(account)).toBeUndefined();
  });

  it('POST /internal/reservations leaves the id unused, so that it can be tried again with higher limits', async () => {
    const id = newId();
    expect((await reserve(2, { units: 1 }, id)).status).toBe(409);
    expect((await reserve(2, { units: 2 }, id)).body.state).toBe('held');
  });

  it('a waiting reservation counts the units that a concurrent order has reserved meanwhile', async () => {
    await reserved(1);
    const other = await database().connect();
    try {
      await other.query('BEGIN');
      await other.query('UPDATE account_holds SET orders = 9, units = 9 WHERE account_id = $1', [account]);
      const answer = reserve(1, { orders: 5 });
      await eventually(async () => expect(await lockWaits(database())).toBe(1));
      await other.query('COMMIT');
      expect((await answer).body).toMatchObject({ code: 'hold-limit', errors: [{ held: 9 }] });
    } finally {
      await other.query('ROLLBACK');
      other.release();
      await database().query('UPDATE account_holds SET orders = 1, units = 1 WHERE account_id = $1', [account]);
    }
  });

  it('a reservation beyond the limits returns 409 before the stock is checked, and missing units are not counted', async () => {
    const lacking = await inventory.reserve(newId(), { [cup]: 2_000 }, account, { orders: 1 });
    expect(lacking.body.code).toBe('insufficient-stock');
    expect(await inventory.held(account)).toBeUndefined();
    await reserved(1);
    const both = await inventory.reserve(newId(), { [cup]: 2_000 }, account, { orders: 1 });
    expect(both.body.code).toBe('hold-limit');
  });
});

describe('400', () => {
  it.each([{}, { orders: 0 }, { units: 1.5 }, { orders: 10_000_001 }])(
    'POST /internal/reservations returns 400 for the limits %j',
    async (limits) => {
      expect((await reserve(1, limits)).status).toBe(400);
    },
  );
});

describe('the account holds less', () => {
  const others = async () => expect(await inventory.held(account)).toBe('1/2');

  beforeEach(async () => {
    await reserved(2);
  });

  it('the release of a reservation without an order reduces the counted units of the account once', async () => {
    const id = await reserved(5);
    await inventory.release(id);
    await inventory.release(id);
    await others();
  });

  it('the account has fewer counted units after the catalogue resolved a reservation whose order was never placed', async () => {
    const id = await reserved(5);
    await database().query('UPDATE reservations SET settle_at = now() WHERE id = $1', [id]);
    await eventually(async () => expect(await inventory.state(id)).toBe('released'), 10_000);
    await others();
  });

  const endings: readonly (readonly [string, readonly Kind[]])[] = [
    ['processing', ['created', 'processing']],
    ['processing, before the event about the order', ['processing', 'created']],
    ['a cancellation', ['created', 'cancelled']],
    ['a cancellation during processing', ['created', 'processing', 'cancelled']],
    ['a cancellation, before the event about processing', ['created', 'cancelled', 'processing']],
    ['a shipment, before the event about processing', ['created', 'shipped', 'processing']],
    ['processing twice', ['created', 'processing', 'processing']],
    ['a cancellation of units, then processing', ['created', 'lines-cancelled', 'processing']],
    ['processing, then a cancellation of units', ['created', 'processing', 'lines-cancelled']],
    ['a cancellation of units, then of the order', ['lines-cancelled', 'cancelled']],
    ['a cancellation of units, then a shipment', ['created', 'lines-cancelled', 'shipped']],
  ];
  it.each(endings)('the account has fewer counted units after %s', async (_, kinds) => {
    const id = await reserved(5);
    expect(await inventory.held(account)).toBe('2/7');
    for (const kind of kinds) await send(kind, id);
    await others();
  });

  it('the account has fewer counted units after a cancellation of units, by these units', async () => {
    const id = await reserved(5);
    await send('lines-cancelled', id, 3);
    expect(await inventory.held(account)).toBe('2/5');
    await send('lines-cancelled', id, 1);
    expect(await inventory.held(account)).toBe('2/3');
    // An older state of the order arrives late.
    await send('lines-cancelled', id, 3);
    expect(await inventory.held(account)).toBe('2/3');
  });

  it('the counted units of the account do not change after the confirmation or the assignment of units', async () => {
    const id = await reserved(5);
    await send('created', id);
    await inventory.allocate(id);
    expect(await inventory.held(account)).toBe('2/7');
  });

  it('the counted units of the account do not change when a reservation from before the migration ends', async () => {
    const id = newId();
    await reserve(5, undefined, id);
    await send('created', id);
    await send('lines-cancelled', id);
    await send('processing', id);
    await send('cancelled', id);
    await others();
  });

  it('the account has fewer counted units when a process of the previous version ends the reservation', async () => {
    const id = await reserved(5);
    await database().query("UPDATE reservations SET state = 'released', changed_at = now() WHERE id = $1", [id]);
    await others();
    await database().query("UPDATE reservations SET state = 'held' WHERE id = $1", [id]);
    await others();
    await inventory.release(id);
  });
});

const changes: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
  ['a reservation', () => reserve(1, { orders: 5 })],
  ['a release', (id) => inventory.release(id)],
  ['a cancellation', (id) => send('cancelled', id)],
  ['a cancellation of units', (id) => send('lines-cancelled', id)],
  ['a shipment', (id) => send('shipped', id, 5)],
  ['a shipment of fewer units', (id) => send('shipped', id)],
];
it.each(changes)(
  'a reservation locks the counted units of the account before it locks products: %s',
  async (_, change) => {
    const id = await reserved(5);
    const other = await database().connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM account_holds WHERE account_id = $1 FOR UPDATE', [account]);
      const changed = change(id);
      await eventually(async () => expect(await lockWaits(database())).toBe(1));
      const { rows } = await database().query('SELECT id FROM products WHERE id = $1 FOR UPDATE SKIP LOCKED', [cup]);
      expect(rows).toHaveLength(1);
      await other.query('ROLLBACK');
      await changed;
    } finally {
      other.release();
    }
  },
);

it('concurrent reservations and releases respect the limits, and the counts equal the reservations', async () => {
  const limits = { orders: 5, units: 12 };
  const products = [cup, await inventory.product(1_000), await inventory.product(1_000)];
  const accounts = Array.from({ length: 4 }, () => newId());
  const refused = new Set<string>();
  const high: string[] = [];
  let sampling = true;
  const sampler = (async () => {
    while (sampling) {
      const { rows } = await database().query(
        `SELECT account_id, count(*) AS orders, sum(counted_units) AS units FROM reservations
         WHERE account_id = ANY ($1::uuid[]) AND counted_units > 0 GROUP BY account_id`,
        [accounts],
      );
      for (const row of rows)
        if (row.orders > limits.orders || row.units > limits.units) high.push(JSON.stringify(row));
    }
  })();
  await Promise.all(
    Array.from({ length: 24 }, async (_, client) => {
      const accountId = accounts[client % accounts.length];
      for (let n = 0; n < 12; n += 1) {
        const id = newId();
        // The requests name several products in different orders.
        const [first = cup, second = cup] = client % 2 === n % 2 ? products : [...products].reverse();
        const answer = await inventory.reserve(id, { [first]: 1 + (n % 2), [second]: 1 }, accountId, limits);
        if (answer.status === 409) refused.add(answer.body.code);
        else await inventory.release(id);
      }
    }),
  );
  sampling = false;
  await sampler;
  expect(high).toEqual([]);
  expect([...refused]).toEqual(['hold-limit']);
  for (const accountId of accounts) expect(await inventory.held(accountId)).toBe('0/0');
});

it('concurrent reservations are accepted exactly up to the limit', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => reserve(2, { orders: 7, units: 1_000 })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
  expect(answers.filter(({ body }) => body.code === 'hold-limit')).toHaveLength(53);
  expect(await inventory.held(account)).toBe('7/14');
  expect(await inventory.figures(cup)).toBe('1000/14/0');
});

describe('stock verify', () => {
  const faults = async () => (await inventory.verify()).faults;

  it('the command stock verify finds no fault in any of these reservations', async () => {
    expect(await faults()).toEqual([]);
  });

  it('the command stock verify names an account whose figures are not those of its reservations', async () => {
    await reserved(5);
    await database().query('UPDATE account_holds SET units = units + 1 WHERE account_id = $1', [account]);
    expect(await faults()).toEqual([
      { accountId: account, detail: '1 orders and 6 units are held, but the reservations add up to 1 and 5' },
    ]);
    await database().query('DELETE FROM account_holds WHERE account_id = $1', [account]);
    expect(await faults()).toEqual([
      { accountId: account, detail: '0 orders and 0 units are held, but the reservations add up to 1 and 5' },
    ]);
    await database().query('INSERT INTO account_holds VALUES ($1, 1, 5)', [account]);
  });

  it('the command stock verify names a reservation that is not counted with its units', async () => {
    const id = await reserved(5);
    await database().query('UPDATE reservations SET counted_units = 4 WHERE id = $1', [id]);
    expect(await faults()).toEqual([
      { reservationId: id, detail: 'the reservation has 5 units and is counted with 4' },
    ]);
  });
});
