// Asynchronous failover of the one server of all services. They lose the same moment, and the queue loses nothing: it
// still delivers events of lost commits, and no more the events whose handling was lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { violations } from '../outages/checker.ts';
import type { Journal } from '../outages/journal.ts';
import { prepareChecks } from '../outages/prepare-checks.ts';
import type { EventQueueKind } from './event-queue.ts';
import { inProgress, repairedTextsOf, textsOf } from './losses.ts';
import { type Customer, type FailoverShop, startFailoverShop } from './shop.ts';

/** Defines the test with this queue of events. */
export function oneServerSuite(queueKind: EventQueueKind): void {
  let shop: FailoverShop;
  let ada: Customer;
  let productId: string;
  const stock = 100;

  beforeAll(async () => {
    shop = await startFailoverShop([], queueKind);
    await prepareChecks(shop.server('orders').admin);
    ada = await shop.customer('ada');
    productId = await shop.product(stock);
  });
  afterAll(() => shop.stop());

  const holdHandlers = 'LOCK TABLE catalogue.inbox, notifications.inbox IN EXCLUSIVE MODE';
  const handled = `SELECT FROM catalogue.inbox WHERE subject = $1
    UNION ALL SELECT FROM notifications.inbox WHERE subject = $1`;
  const published = 'SELECT FROM orders.outbox WHERE subject = $1 AND published_at IS NOT NULL';

  it('names what the failover has lost, repairs it, and finds nothing afterwards', async () => {
    const server = shop.server('orders');
    const kept = await shop.order(ada, productId);
    const cancelled = await shop.order(ada, productId);
    const paid = await shop.order(ada, productId);
    const refunded = await shop.order(ada, productId);
    await shop.report(refunded, 'payments', 10);
    await shop.act(refunded, 'cancel', ada);
    const overpaid = await shop.order(ada, productId);
    await shop.report(overpaid, 'payments', 10);
    await shop.untilHandled();
    await sleep(inProgress);
    expect(textsOf(await shop.doctor(), {})).toEqual([
      expect.stringMatching(/^ok failover: all services agree since /),
    ]);

    // A dead letter whose event is older than the outboxes. It may be the only copy of the event.
    const old = new Date(Date.now() - 4 * 24 * 3_600_000).toISOString();
    const about = { id: newId(), type: 'order.shipped.v1', source: '/orders', subject: kept, time: old };
    await shop.send(about.type, { specversion: '1.0', ...about });
    await shop.untilHandled();

    // The event of this order is published before the last replicated commit, and handled after it.
    const handle = await server.hold(holdHandlers);
    const unhandled = await shop.order(ada, productId);
    await server.untilReplicated(published, [unhandled]);
    // The stock of this order is reserved before the last replicated commit, and the order is placed after it.
    const place = await server.hold('LOCK TABLE orders.orders IN EXCLUSIVE MODE');
    const placing = shop.order(ada, productId);
    await server.untilReplicated("SELECT FROM catalogue.reservations WHERE state = 'held' OFFSET 1");
    await server.beginLoss();
    await handle();
    await eventually(async () => expect((await server.admin.query(handled, [unhandled])).rowCount).toBe(2));
    await server.hold(holdHandlers);
    await place();
    const half = await placing;
    const vanished = await shop.order(ada, productId);
    await shop.act(cancelled, 'cancel', ada);
    const record = async (): Promise<void> => {
      await shop.report(paid, 'payments', 10);
      await shop.report(refunded, 'refunds', 10);
      await shop.report(overpaid, 'payments', 10, `${overpaid} again`);
    };
    await record();
    await shop.report(vanished, 'payments', 10);
    await eventually(async () =>
      expect((await server.admin.query('SELECT FROM orders.outbox WHERE published_at IS NULL')).rowCount).toBe(0),
    );
    await server.failOver();

    await shop.untilReady();
    await shop.untilHandled();
    await sleep(inProgress);
    const names = { kept, cancelled, paid, refunded, overpaid, unhandled, half, vanished, ada: ada.accountId };
    const named = Object.fromEntries(Object.entries(names).map(([name, id]) => [id, name]));
    const lostMoney = 'failed lost payment: order vanished does not exist, but other services know its payment';
    const decisions = [
      'failed lost payment: order overpaid is pending, but other services know a payment of it that is due as a refund',
      'failed lost payment: order paid is pending, but other services know its payment',
      'failed lost refund: order refunded is cancelled, but other services know its refund',
    ];
    const losses = [
      'lost cancellation: order cancelled is pending, but other services know its cancellation, and its stock is released',
      'lost effect: catalogue.inventory has not handled order.created.v1 about unhandled',
      'lost effect: notifications.mail has not handled order.created.v1 about unhandled',
      'lost event: catalogue.inventory cannot handle order.created.v1 about vanished, which its service has lost',
      'lost order: order half of account ada does not exist, and its stock is confirmed',
      'lost order: order vanished of account ada does not exist, and there are e-mails about it',
    ];
    expect(textsOf(await shop.doctor(), named)).toEqual(
      [...losses.map((loss) => `failed ${loss}`), ...decisions, lostMoney].sort(),
    );
    expect((await shop.run('doctor', '--after-failover')).code).toBe(1);
    expect(textsOf(await shop.doctor('--repair'), named)).toEqual(
      [
        ...decisions,
        lostMoney,
        ...repairedTextsOf(losses).map((text) =>
          text.includes('order vanished') ? text.replace('its stock is released', 'it has no reserved stock') : text,
        ),
      ].sort(),
    );
    await record();

    await shop.untilHandled();
    await sleep(inProgress);
    expect(textsOf(await shop.doctor(), named)).toEqual([lostMoney]);
    expect((await shop.run('events', 'dead', 'list')).output).toContain('order.shipped.v1');
    expect(await shop.run('stock', 'verify')).toMatchObject({ code: 0 });
    const reasons = await server.admin.query(
      'SELECT DISTINCT reservation_id FROM catalogue.stock_ledger WHERE reason LIKE $1',
      ['Repaired after a failover%'],
    );
    expect(reasons.rowCount).toBe(1);
    const effects = 'SELECT stock_released, customer_notified FROM orders.orders WHERE id = $1';
    expect((await server.admin.query(effects, [cancelled])).rows).toEqual([
      { stock_released: 'done', customer_notified: 'done' },
    ]);
    const order = (orderId: string) => ({
      orderId,
      key: orderId,
      accountId: ada.accountId,
      lines: [{ productId, quantity: 1 }],
    });
    const journal: Journal = {
      answers: [],
      orders: [
        order(kept),
        { ...order(cancelled), cancelled: 200 },
        { ...order(paid), paid: 200 },
        {
          ...order(overpaid),
          paid: 200,
          reported: [{ kind: 'received', reference: `${overpaid} again`, status: 200 }],
        },
        {
          ...order(refunded),
          paid: 200,
          cancelled: 200,
          reported: [{ kind: 'refunded', reference: refunded, status: 200 }],
        },
        order(unhandled),
      ],
      accounts: [ada],
    };
    const url = String(shop.service('catalogue').database.options.connectionString);
    const checked = {
      admin: server.admin,
      mailFolder: shop.mailFolder,
      catalogueClient: <T>(use: Parameters<typeof withClient<T>>[1]) => withClient({ url }, use),
    };
    expect(await violations(checked, journal, new Map([[productId, stock]]))).toEqual([]);
  });
}
