// The archive of orders: which orders are moved, which responses stay the same, and how archived orders change.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventually } from '@shop/shared/testing';
import {
  archiveFinishedOrders,
  cancelOrders,
  findPersonalData,
  listAllOrders,
  listRefundsDue,
  showAnyOrder,
  traceOrder,
} from '../src/operator/index.ts';
import { insertRows, orderColumns } from '../src/order-rows.ts';
import { type Archive, openArchive } from './archived.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let archive: Archive;
let customer: Customer;
let product: string;
let transport: Transport;

beforeAll(async () => {
  shop = await startShop();
  archive = openArchive(shop, await shop.customer('payments:write'));
  product = await shop.product({ stock: 5_000, price: 5 });
  customer = await shop.customer();
  transport = await connectTestTransport(shop.services.database.urls.events);
});
afterAll(async () => {
  await transport?.close();
  await shop.stop();
});

const live = { live: 1, archived: 0 };
const archived = { live: 0, archived: 1 };

/** Returns an archived order. */
async function moved(make: 'delivered' | 'cancelled' = 'delivered', owner = customer): Promise<string> {
  const id = await archive[make](owner, product);
  await archive.age([id]);
  await archive.archive();
  expect([await archive.placeOf(id), await archive.rowsOf(id)]).toEqual([archived, 0]);
  return id;
}

async function publish(type: string, id: string, data: object): Promise<void> {
  const eventId = newId();
  const content = JSON.stringify({
    specversion: '1.0',
    id: eventId,
    source: '/tests',
    type,
    subject: id,
    time: new Date().toISOString(),
    sequence: '0000000009',
    requestid: 'test',
    data: { orderId: id, accountId: customer.accountId, ...data },
  });
  await transport.publish([{ id: eventId, type, content }]);
  await eventually(async () => {
    expect((await archive.database.query('SELECT FROM inbox WHERE event_id = $1', [eventId])).rowCount).toBe(1);
  }, 20_000);
}

describe('reading', () => {
  it('is answered as before by every view, with the same entity tags', async () => {
    const owner = await shop.customer();
    const paid = await archive.delivered(owner, product);
    await archive.pay(paid, 40, 'a paid order');
    const reason = await archive.cancelled(owner, product);
    await archive.pay(reason, 5, 'a late payment');
    await archive.refund(reason, 5, 'paid back');
    const ids = [paid, reason];
    await archive.age(ids);
    await shop.order(owner, { [product]: 1 });

    const lists = [
      '',
      'limit=1',
      'sort=totalCost:asc',
      'status=delivered',
      'status=cancelled,pending&sort=createdAt:asc',
      'totalCost=gte:20',
      `createdAt=lt:${new Date(Date.now() - 86_400_000).toISOString()}`,
      `id=in:${ids.join()}`,
      'fields=id,payment',
    ];
    const ofAll = [...lists, 'sort=updatedAt:asc', 'status=ne:pending&sort=updatedAt:desc', 'sort=id:asc'];
    const paths = [
      ...ids.flatMap((id) => [`/v1/orders/${id}`, `/v1/orders/${id}/history`]),
      ...lists.map((query) => `/v1/orders?${query}`),
    ];
    const staffPaths = [
      ...paths.slice(0, 4),
      ...lists.map((query) => `/v1/orders?accountId=${owner.accountId}&${query}`),
      ...ofAll.map((query) => `/v1/orders?accountId=all&${query}`),
      ...ids.map((id) => `/internal/orders/${id}/trace`),
    ];
    const all = async (): Promise<unknown[]> => {
      const answers: unknown[] = [];
      for (const [who, list] of [[owner, paths] as const, [shop.staff, staffPaths] as const]) {
        for (const path of list) {
          const { status, body, headers } = await shop.orders.get(path, { token: who.token });
          answers.push([path, status, headers.etag, body]);
        }
      }
      answers.push((await shop.internal('orders', `/internal/accounts/${owner.accountId}/export`, {})).body);
      answers.push(await listAllOrders(archive.environment, { account: owner.accountId, limit: 10 }));
      for (const id of ids) {
        answers.push(await showAnyOrder(archive.environment, id), await traceOrder(archive.environment, id));
      }
      return answers;
    };
    const before = await all();
    expect(JSON.stringify(before)).toContain('changed, \\"my\\",null] mind');
    expect(before.filter((answer) => Array.isArray(answer) && answer[1] >= 400)).toEqual([]);
    expect(await archive.archive()).toBe(2);
    for (const id of ids) expect([await archive.placeOf(id), await archive.rowsOf(id)]).toEqual([archived, 0]);
    expect(await all()).toEqual(before);
  });

  it('gives back the same rows when the orders are restored', async () => {
    const owner = await shop.customer();
    const paid = await archive.delivered(owner, product);
    await archive.pay(paid, 40);
    const cancelled = await archive.cancelled(owner, product);
    await archive.pay(cancelled, 7);
    await archive.refund(cancelled, 7);
    const ids = [paid, cancelled];
    await archive.age(ids);
    const before = await archive.allRows(ids);
    expect(Object.values(before).map((rows) => rows.length > 1)).toEqual([true, true, true, true, true]);
    expect(await archive.archive()).toBe(2);
    await archive.restore(ids);
    expect(await archive.allRows(ids)).toEqual(before);
  });

  it('keeps every column of the tables', async () => {
    const { rows } = await archive.database.query<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       WHERE table_schema = current_schema() AND column_name NOT IN ('order_id', 'account_id')
         AND table_name IN ('order_lines', 'order_history', 'order_payments', 'payment_ledger')`,
    );
    for (const { table, column } of rows)
      expect(insertRows(table as 'order_lines', 'o').split(/[ ,)]+/)).toContain(column);
    const ofOrders = await archive.database.query<{ column: string }>(
      `SELECT column_name AS "column" FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = 'orders'`,
    );
    expect(
      orderColumns
        .split(',')
        .map((name) => name.trim())
        .sort(),
    ).toEqual(ofOrders.rows.map(({ column }) => column).sort());
  });

  it('pages through all orders, each once, while orders are archived and restored between two pages', async () => {
    const owner = await shop.customer();
    const ids: string[] = [];
    for (let count = 0; count < 9; count += 1) {
      ids.push(await archive.cancelled(owner, product));
      await archive.age(ids.slice(-1), 400 - count);
    }
    for (const list of ['sort=createdAt:asc', 'sort=totalCost:desc', 'sort=createdAt:desc&status=cancelled']) {
      const found: string[] = [];
      let path: string | undefined = `/v1/orders?limit=2&${list}`;
      while (path !== undefined) {
        const { body } = await shop.orders.get(path, { token: owner.token });
        found.push(...body.items.map(({ id }) => id));
        const { nextCursor } = body.pagination;
        path = nextCursor && `/v1/orders?limit=2&${list}&cursor=${encodeURIComponent(nextCursor)}`;
        await archive.archive(398 - found.length);
        if (found.length % 4 === 0) await archive.restore(found.slice(0, 1));
      }
      expect(found.toSorted()).toEqual(ids.toSorted());
    }
  });
});

describe('orders that are not archived', () => {
  it('are young, or not finished, or wait for an effect or a refund', async () => {
    const make = async (): Promise<string> => (await shop.order(customer, { [product]: 2 })).body.id;
    const pending = await make();
    const shipped = await make();
    for (const action of ['process', 'ship']) await shop.act(shop.staff, shipped, action);
    const young = await archive.delivered(customer, product);
    const owed = await archive.cancelled(customer, product);
    await archive.pay(owed, 5);
    const unreleased = await archive.cancelled(customer, product);
    const unnoticed = await archive.delivered(customer, product);
    const ids = [pending, shipped, owed, unreleased, unnoticed];
    await archive.age(ids);
    await archive.age([young], 364);
    await archive.database.query("UPDATE orders SET stock_released = 'pending' WHERE id = $1", [unreleased]);
    await archive.database.query(
      "UPDATE order_history SET customer_notified = 'pending' WHERE order_id = $1 AND cancelled_lines IS NOT NULL",
      [unnoticed],
    );
    await archive.archive();
    for (const id of [...ids, young]) expect(await archive.placeOf(id)).toEqual(live);
  });
});

describe('a change of an archived order', () => {
  it('is refused as before, and the order stays archived', async () => {
    const id = await moved();
    const other = await shop.customer();
    const code = async (who: Customer, action: string, headers = {}) =>
      (await shop.act(who, id, action, { headers })).body.code;
    expect(await code(customer, 'cancel')).toBe('order-already-shipped');
    expect(await code(shop.staff, 'process', { 'Idempotency-Key': newId() })).toBe('invalid-transition');
    expect(await code(shop.staff, 'ship')).toBe('invalid-transition');
    expect(await code(customer, 'cancel', { 'If-Match': 'W/"1"' })).toBe('precondition-failed');
    expect(await code(other, 'cancel')).toBe('not-found');
    expect(await archive.placeOf(id)).toEqual(archived);
  });

  it('leaves it in the archive when nothing changes', async () => {
    const id = await archive.cancelled(customer, product);
    const [paid, refunded] = [`paid ${id}`, `refunded ${id}`];
    const receipts = [await archive.pay(id, 5, paid), await archive.refund(id, 5, refunded)];
    await archive.age([id]);
    await archive.archive();
    expect(await archive.placeOf(id)).toEqual(archived);
    const before = await shop.view(customer, id);
    const lines = [{ productId: product, quantity: 1 }];
    for (const who of [customer, shop.staff]) {
      for (const body of [undefined, { lines }]) {
        const answer = await shop.act(who, id, 'cancel', body && { body });
        expect(answer).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
      }
    }
    const again = [await archive.pay(id, 5, paid), await archive.refund(id, 5, refunded)];
    expect(again.map(({ status, body }) => [status, body])).toEqual(receipts.map(({ status, body }) => [status, body]));
    expect((await archive.pay(newId(), 5, paid)).status).toBe(404);
    expect((await archive.refund(id, 6, refunded)).body.code).toBe('reference-reused');
    expect([await archive.placeOf(id), await archive.rowsOf(id)]).toEqual([archived, 0]);
    const { body, headers } = await shop.view(customer, id);
    expect([body, headers.etag]).toEqual([before.body, before.headers.etag]);
  });

  it('leaves it in the archive when an operator cancels it again', async () => {
    const id = await moved('cancelled');
    const environment = { DATABASE_URL: shop.services.database.urls.orders };
    expect(await cancelOrders(environment, [id], { reason: 'again' })).toMatchObject([
      { order: { id, status: 'cancelled' } },
    ]);
    expect([await archive.placeOf(id), await archive.rowsOf(id)]).toEqual([archived, 0]);
  });

  it('records money that arrives late, and its refund', async () => {
    const id = await moved('cancelled');
    expect(await archive.pay(id, 5, 'very late')).toMatchObject({ status: 200, body: { outcome: 'refund_due' } });
    expect((await shop.view(customer, id)).body.payment).toEqual({ status: 'refund_due', refundDue: 5 });
    expect((await listRefundsDue(archive.environment, 100)).map(({ orderId }) => orderId)).toContain(id);
    await archive.age([id]);
    await archive.archive();
    expect(await archive.placeOf(id)).toEqual(live);
    expect(await archive.refund(id, 5)).toMatchObject({ status: 200 });
    await archive.age([id]);
    await archive.archive();
    expect(await archive.placeOf(id)).toEqual(archived);
    expect((await shop.view(customer, id)).body.payment).toEqual({ status: 'refunded', refunded: 5 });
  });

  it('finds the reference of an archived payment again', async () => {
    const id = await archive.delivered(customer, product);
    const first = await archive.pay(id, 40, 'once only');
    await archive.age([id]);
    await archive.archive();
    expect(await archive.placeOf(id)).toEqual(archived);
    const other = await archive.cancelled(customer, product);
    expect((await archive.pay(other, 40, 'once only')).body.code).toBe('reference-reused');
    expect(await archive.placeOf(id)).toEqual(archived);
    expect((await archive.pay(id, 40, 'once only')).body).toEqual(first.body);
    expect([await archive.placeOf(id), await archive.rowsOf(id)]).toEqual([archived, 0]);
  });

  it('is made by events that arrive late', async () => {
    const id = await moved('cancelled');
    const sent = { kind: 'order-cancelled', outcome: 'failed', sentAt: '2026-01-01T00:00:00.000Z' };
    await archive.database.query("UPDATE archived_orders SET customer_notified = 'failed' WHERE id = $1", [id]);
    await publish('notification.sent.v1', id, { ...sent, outcome: 'done' });
    const { body } = await shop.view(customer, id);
    expect(body.cancellation.customerNotified).toEqual({ state: 'done', at: sent.sentAt });

    const shortened = await moved();
    const released = { outcome: 'done', releasedAt: '2026-01-01T00:00:00.000Z', orderVersion: 2 };
    const { rows } = await archive.database.query('SELECT reservation_id AS id FROM archived_orders WHERE id = $1', [
      shortened,
    ]);
    await publish('stock.lines-released.v1', shortened, { ...released, reservationId: rows[0]?.id });
    const history = await shop.orders.get(`/v1/orders/${shortened}/history`, { token: customer.token });
    expect(history.body.items[1]?.stockReleased).toEqual({ state: 'done', at: released.releasedAt });
  });
});

describe('races', () => {
  it('archive each order once, and lose no payment', async () => {
    const owner = await shop.customer();
    const ids = await Promise.all(Array.from({ length: 24 }, () => archive.cancelled(owner, product)));
    await archive.age(ids);
    const work = ids.flatMap((id, index) => [
      archive.pay(id, 5, `raced ${id}`),
      ...(index % 2 === 0 ? [shop.act(owner, id, 'cancel'), archive.pay(id, 7, `again ${id}`)] : []),
    ]);
    const passes = Array.from({ length: 6 }, () => archive.archive());
    const answers = await Promise.all(work);
    await Promise.all(passes);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    for (const [index, id] of ids.entries()) {
      const place = await archive.placeOf(id);
      expect(place.live + place.archived).toBe(1);
      expect((await shop.view(owner, id)).body.payment).toMatchObject({ refundDue: index % 2 === 0 ? 12 : 5 });
    }
  });

  it('lead no request to an order that does not exist, while others archive and restore it', async () => {
    const id = await moved('cancelled');
    let isOver = false;
    const archiving = Array.from({ length: 3 }, async () => {
      while (!isOver) await archive.archive();
    });
    const restoring = Array.from({ length: 2 }, async () => {
      while (!isOver) await archive.restore([id]);
    });
    // The change by staff is refused when the order is found and locked. The cancellation changes nothing.
    const requests = (['process', 'cancel'] as const).flatMap((action) =>
      Array.from({ length: 3 }, async () => {
        const found: string[] = [];
        for (let turn = 0; turn < 60; turn += 1) {
          found.push(`${action} ${(await shop.act(action === 'cancel' ? customer : shop.staff, id, action)).status}`);
        }
        return found;
      }),
    );
    const answers = (await Promise.all(requests)).flat();
    isOver = true;
    await Promise.all([...archiving, ...restoring]);
    // A request that meets others each time may be asked to come again.
    const expected = ['process 409', 'cancel 200'];
    expect(answers.filter((answer) => !expected.includes(answer) && !answer.endsWith(' 503'))).toEqual([]);
    for (const each of expected) expect(answers.filter((answer) => answer === each).length).toBeGreaterThan(60);
    await archive.archive();
    expect([await archive.placeOf(id), await archive.rowsOf(id)]).toEqual([archived, 0]);
  });

  it('move each order once with several replicas', async () => {
    const owner = await shop.customer();
    const ids = await Promise.all(Array.from({ length: 12 }, () => archive.cancelled(owner, product)));
    await archive.age(ids);
    const passes = await Promise.all(Array.from({ length: 4 }, () => archive.archive()));
    expect(passes.reduce((sum, count) => sum + count)).toBe(12);
    for (const id of ids) expect([await archive.placeOf(id), await archive.rowsOf(id)]).toEqual([archived, 0]);
  });

  it('leave the orders of a batch that is killed where they were', async () => {
    const ids = [await archive.delivered(customer, product), await archive.cancelled(customer, product)];
    await archive.age(ids);
    const blocker = await archive.database.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT FROM order_lines WHERE order_id = $1 FOR UPDATE', [ids[0]]);
    const pass: Promise<unknown> = archive.archive().catch((error: unknown) => error);
    await eventually(async () => {
      const { rowCount } = await archive.database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE '%archive orders%' AND wait_event_type = 'Lock'`,
      );
      expect(rowCount).toBe(1);
    }, 20_000);
    expect(await pass).toBeInstanceOf(Error);
    for (const id of ids) expect(await archive.placeOf(id)).toEqual(live);
    await blocker.query('ROLLBACK');
    blocker.release();
    expect(await archive.archive()).toBe(2);
    for (const id of ids) expect(await archive.placeOf(id)).toEqual(archived);
  });
});

describe('erasure', () => {
  it('erases the personal data of archived orders', async () => {
    const owner = await shop.customer();
    const ids = [await moved('delivered', owner), await moved('cancelled', owner)];
    await archive.database.query(
      `UPDATE archived_orders SET shipping_address = '{"street_address":"Zwergengasse 17","country":"CH"}'
       WHERE account_id = $1`,
      [owner.accountId],
    );
    const environment = { DATABASE_URL: shop.services.database.urls.orders };
    expect(await findPersonalData(environment, owner.accountId)).toMatchObject({ archived_orders: 2 });
    await archive.database.query('INSERT INTO erased_accounts (account_id) VALUES ($1)', [owner.accountId]);
    await eventually(async () => expect(await findPersonalData(environment, owner.accountId)).toEqual({}), 40_000);
    for (const id of ids) {
      const { body } = await shop.view(owner, id);
      expect(body).toMatchObject({ shipping_address: { country: 'CH' } });
      expect(JSON.stringify(body)).not.toMatch(/Zwerg|Pigeon|mind/);
    }
    await archive.age(ids);
    await archive.archive();
    expect(await findPersonalData(environment, owner.accountId)).toEqual({});
    for (const id of ids) expect(await archive.placeOf(id)).toEqual(archived);
  });
});

describe('ARCHIVE_AFTER_DAYS', () => {
  it('archives in the background, a day after the update', async () => {
    const id = await archive.delivered(customer, product);
    await archive.age([id], 40);
    const orders = shop.services.service('orders');
    await orders.restart({ ARCHIVE_AFTER_DAYS: '30' });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await archive.placeOf(id)).toEqual(live);
    const { rows } = await archive.database.query<{ at: Date }>(
      "SELECT applied_at + interval '1 day' AS at FROM migrations WHERE name = '0017_archive.sql'",
    );
    await expect(archiveFinishedOrders(archive.environment, { days: 30 })).rejects.toThrow(
      `orders can be archived from ${rows[0]?.at.toISOString()}: ` +
        'processes of the version before do not find archived orders.',
    );
    expect(await archive.placeOf(id)).toEqual(live);
    await archive.database.query("UPDATE migrations SET applied_at = now() - interval '25 hours'");
    await orders.restart({ ARCHIVE_AFTER_DAYS: '0' });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await archive.placeOf(id)).toEqual(live);
    await orders.restart({ ARCHIVE_AFTER_DAYS: '30' });
    await eventually(async () => expect(await archive.placeOf(id)).toEqual(archived), 20_000);
  });

  it('is reported as progress by the command', async () => {
    await archive.database.query("UPDATE migrations SET applied_at = now() - interval '25 hours'");
    const id = await archive.cancelled(customer, product);
    await archive.age([id]);
    const seen: number[][] = [];
    const onProgress = (...figures: number[]) => seen.push(figures);
    expect(await archiveFinishedOrders(archive.environment, { days: 365, onProgress })).toEqual({ archived: 1 });
    expect(seen).toEqual([[1, expect.any(Number)]]);
  });
});
