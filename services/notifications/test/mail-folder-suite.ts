// The whole service with e-mails as files, on both transports: from the event to the .eml file and the event that
// reports it.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices, testBroker } from '@shop/shared/testing';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

export const mailFolderSuite = (kind: 'rabbitmq' | 'pg-boss'): void =>
  describe(`notifications on ${kind}`, () => {
    let services: TestServices;
    let events: ShopEvents;

    beforeAll(async () => {
      const broker = kind === 'rabbitmq' ? { eventsUrl: await testBroker() } : {};
      services = await startServices(['notifications'], { shared: false, ...broker });
      events = await joinEvents(broker.eventsUrl ?? services.database.urls.events);
    });

    afterAll(async () => {
      await events?.close();
      await services?.stop();
    });

    const files = async (orderId: string) =>
      (await readdir(services.mailFolder)).filter((file) => file.includes(orderId)).sort();
    const mail = (orderId: string, about: string) =>
      eventually(async () => {
        const content = await readFile(join(services.mailFolder, `${orderId}.${about}.eml`), 'utf8');
        // Each line ends in CRLF (RFC 5322 section 2.3).
        expect(content).not.toMatch(/(?<!\r)\n/);
        // Long headers are folded, and long lines are wrapped.
        return content.replaceAll('=\r\n', '').replaceAll('\r\n ', ' ').replaceAll(/: +/g, ': ');
      }, 10_000);

    it('writes an e-mail for an order received, shipped and cancelled', async () => {
      const order = someOrder();
      await events.send('account.registered.v1', order.account);
      await events.send('order.created.v1', order.created);
      const received = await mail(order.orderId, 'order-received');
      const { mode } = await stat(join(services.mailFolder, `${order.orderId}.order-received.eml`));
      expect(mode & 0o077).toBe(0); // no other user can read it
      expect(received).toContain('To: Ada Lovelace <ada@example.org>\r\n');
      expect(received).toContain('From: The Shop <orders@shop.example>\r\n');
      expect(received).toContain('Subject: We have received your order\r\n');
      expect(received).toContain(`Message-ID: <order-received.${order.orderId}@shop.example>\r\n`);
      expect(received).toContain('Auto-Submitted: auto-generated\r\n');
      expect(received).toContain('Desk lamp  EUR 39.98');
      expect(received).toContain('Total          EUR 160.48');
      expect(received).toContain(`Your order number is ${order.orderId}.`);

      await events.send('order.shipped.v1', order.reference, { sequence: 3 });
      expect(await mail(order.orderId, 'order-shipped')).toContain('Subject: Your order is on its way\r\n');
      await events.send('order.cancelled.v1', order.cancelled, { sequence: 2 });
      const cancelled = await mail(order.orderId, 'order-cancelled');
      expect(cancelled).toContain('Subject: Your order is cancelled\r\n');
      expect(cancelled).toContain('Reason: ordered twice');
      expect(await files(order.orderId)).toHaveLength(3);
    });

    it('writes only "order cancelled" when the other events of the order arrive later', async () => {
      const order = someOrder();
      await events.send('account.registered.v1', order.account);
      await events.send('order.cancelled.v1', order.cancelled, { sequence: 3 });
      await mail(order.orderId, 'order-cancelled');
      await events.send('order.paid.v1', order.paid, { sequence: 2 });
      await events.send('order.created.v1', order.created);
      await eventually(async () => {
        const { rows } = await services
          .service('notifications')
          .database.query('SELECT kind, status FROM notifications WHERE order_id = $1 ORDER BY kind', [order.orderId]);
        expect(rows).toEqual([
          { kind: 'order-cancelled', status: 'sent' },
          { kind: 'order-paid', status: 'obsolete' },
          { kind: 'order-received', status: 'obsolete' },
        ]);
      }, 10_000);
      expect(await files(order.orderId)).toEqual([`${order.orderId}.order-cancelled.eml`]);
    });

    it('writes only "order cancelled" when all events of the order were waiting for the account', async () => {
      const order = someOrder();
      await events.send('order.cancelled.v1', order.cancelled, { sequence: 2 });
      await eventually(async () => {
        const { rows } = await services
          .service('notifications')
          .database.query('SELECT kind FROM notifications WHERE order_id = $1', [order.orderId]);
        expect(rows).toEqual([{ kind: 'order-cancelled' }]);
      });
      await events.send('order.created.v1', order.created);
      await events.send('account.registered.v1', order.account);
      await mail(order.orderId, 'order-cancelled');
      expect(await files(order.orderId)).toEqual([`${order.orderId}.order-cancelled.eml`]);
    });

    it('writes one e-mail for each cancellation of units, and publishes it with the version of the order', async () => {
      const order = someOrder();
      await events.send('account.registered.v1', order.account);
      await events.send('order.created.v1', order.created);
      await mail(order.orderId, 'order-received');
      const versions = [2, 3];
      for (const orderVersion of [...versions, ...versions]) {
        await events.send('order.lines-cancelled.v1', { ...order.linesCancelled, orderVersion });
      }
      for (const version of versions) {
        const content = await mail(order.orderId, `order-lines-cancelled.${version}`);
        expect(content).toContain('Subject: A part of your order is cancelled\r\n');
        expect(content).toContain('Total          EUR 140.49');
      }
      await eventually(() => {
        const told = events.told.filter(({ orderId, kind }) => orderId === order.orderId && /lines/.test(kind));
        expect(told.map(({ kind, outcome, orderVersion }) => [kind, outcome, orderVersion]).sort()).toEqual(
          versions.map((version) => ['order-lines-cancelled', 'done', version]),
        );
      });
      expect(await files(order.orderId)).toHaveLength(3);
    });

    it('writes one e-mail for a payment, for each payment that the order does not need, and each refund', async () => {
      const order = someOrder();
      await events.send('account.registered.v1', order.account);
      await events.send('order.paid.v1', order.paid, { sequence: 2 });
      const { receivedAt: _, ...ofCancellation } = order.refundDue;
      await events.send('refund.due.v1', { ...ofCancellation, cause: 'cancelled' }, { sequence: 9 });
      for (const sequence of [3, 4, 3, 4]) await events.send('refund.due.v1', order.refundDue, { sequence });
      for (const sequence of [5, 6, 5, 6]) await events.send('refund.done.v1', order.refunded, { sequence });
      const subjects = {
        'order-paid': 'We have received your payment',
        'order-refund-due.3': 'We will refund your payment',
        'order-refund-due.4': 'We will refund your payment',
        'order-refunded.5': 'We have refunded your payment',
        'order-refunded.6': 'We have refunded your payment',
      };
      for (const [about, subject] of Object.entries(subjects)) {
        expect(await mail(order.orderId, about)).toContain(`Subject: ${subject}\r\n`);
      }
      await eventually(() => {
        const told = events.told.filter(({ orderId }) => orderId === order.orderId);
        expect(told.map(({ kind, orderVersion }) => [kind, orderVersion].join('.')).sort()).toEqual(
          Object.keys(subjects).map((about) => (about === 'order-paid' ? 'order-paid.' : about)),
        );
      });
      expect(await files(order.orderId)).toHaveLength(5);
    });

    it('publishes each sent e-mail, with the id of the request that caused it', async () => {
      const order = someOrder();
      await events.send('account.registered.v1', order.account);
      await events.send('order.cancelled.v1', order.cancelled, { requestId: 'request-17' });
      const told = await eventually(() => {
        const found = events.told.find(({ orderId }) => orderId === order.orderId);
        if (found === undefined) throw new Error('not told yet');
        return found;
      });
      expect(told).toEqual({
        orderId: order.orderId,
        accountId: order.accountId,
        kind: 'order-cancelled',
        outcome: 'done',
        sentAt: expect.stringMatching(/Z$/),
      });
      expect(events.requestIds.get(order.orderId)).toBe('request-17');
    });

    it('sends one e-mail when the event arrives several times, also with another id', async () => {
      const order = someOrder();
      const id = newId();
      await events.send('account.registered.v1', order.account);
      await Promise.all(Array.from({ length: 5 }, () => events.send('order.cancelled.v1', order.cancelled, { id })));
      await events.send('order.cancelled.v1', order.cancelled);
      await mail(order.orderId, 'order-cancelled');
      const told = () => events.told.filter(({ orderId }) => orderId === order.orderId);
      await eventually(() => expect(told()).toHaveLength(1));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(told()).toHaveLength(1);
      expect(await files(order.orderId)).toEqual([`${order.orderId}.order-cancelled.eml`]);
      const { rows } = await services
        .service('notifications')
        .database.query('SELECT status, attempts FROM notifications WHERE order_id = $1', [order.orderId]);
      expect(rows).toEqual([{ status: 'sent', attempts: 1 }]);
    });

    it('keeps an e-mail until its account is known', async () => {
      const order = someOrder();
      await events.send('order.created.v1', order.created);
      await eventually(async () => {
        const { rowCount } = await services
          .service('notifications')
          .database.query('SELECT 1 FROM notifications WHERE order_id = $1', [order.orderId]);
        expect(rowCount).toBe(1);
      });
      expect(await files(order.orderId)).toEqual([]);
      await events.send('account.registered.v1', order.account);
      expect(await mail(order.orderId, 'order-received')).toContain('ada@example.org');
    });

    it('writes to the newest address when the changes arrive in any order', async () => {
      const order = someOrder();
      const known = async (sequence: number) =>
        eventually(async () => {
          const { rowCount } = await services
            .service('notifications')
            .database.query('SELECT 1 FROM inbox WHERE subject = $1', [order.accountId]);
          expect(rowCount).toBe(sequence);
        });
      await events.send('account.updated.v1', { ...order.account, email: 'third@example.org' }, { sequence: 3 });
      await known(1);
      await events.send('account.updated.v1', { ...order.account, email: 'second@example.org' }, { sequence: 2 });
      await events.send('account.registered.v1', { ...order.account, email: 'first@example.org' }, { sequence: 1 });
      await known(3);
      await events.send('order.shipped.v1', order.reference);
      expect(await mail(order.orderId, 'order-shipped')).toContain('To: Ada Lovelace <third@example.org>');
    });

    it('continues after its process was killed', async () => {
      const order = someOrder();
      await events.send('account.registered.v1', order.account);
      const service = services.service('notifications');
      // An event in progress would be delivered again when no heartbeat has arrived for ten seconds.
      await eventually(async () => {
        const { rowCount } = await service.database.query('SELECT FROM inbox WHERE subject = $1', [order.accountId]);
        expect(rowCount).toBe(1);
      });
      await service.kill('SIGKILL');
      await events.send('order.created.v1', order.created);
      await service.restart();
      expect(await mail(order.orderId, 'order-received')).toContain(order.orderId);
    });
  });
