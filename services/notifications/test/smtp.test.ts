// The whole service with a real SMTP server: delivery, temporary and permanent refusals, and an unavailable server.
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { SMTPServer } from 'smtp-server';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly content: string;
}

describe('notifications over SMTP', () => {
  const received: Received[] = [];
  const refusals = new Map<string, Error[]>();
  let server: SMTPServer;
  let services: TestServices;
  let events: ShopEvents;
  let port = 0;

  const listen = async () => {
    server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      onRcptTo: ({ address }, _session, callback) => callback(refusals.get(address)?.shift() ?? null),
      onData(stream, { envelope }, callback) {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => {
          received.push({
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address),
            content: Buffer.concat(parts).toString().replaceAll('\r\n ', ''), // long headers are folded
          });
          callback();
        });
      },
    });
    server.on('error', () => {});
    server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
  };

  beforeAll(async () => {
    [port = 0] = await freePorts(1);
    await listen();
    services = await startServices(['notifications'], { environment: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
    events = await joinEvents(services.database.urls.events);
  });

  beforeEach(() => {
    received.length = 0;
  });

  afterAll(async () => {
    await events?.close();
    await services?.stop();
    await new Promise<void>((resolve) => server.close(resolve));
  });

  const refusal = (code: number, message: string) => Object.assign(new Error(message), { responseCode: code });
  const orderOf = (email: string, name = 'Ada') => {
    const order = someOrder();
    return { ...order, account: { ...order.account, email, name } };
  };
  const outcome = (orderId: string) =>
    eventually(() => {
      const found = events.told.find((each) => each.orderId === orderId);
      if (found === undefined) throw new Error('not told yet');
      return found.outcome;
    }, 10_000);

  it('the notifications service delivers the e-mail to the server', async () => {
    const order = orderOf('ada@example.org');
    await events.send('account.registered.v1', order.account);
    await events.send('order.created.v1', order.created);
    expect(await outcome(order.orderId)).toBe('done');
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ from: 'orders@shop.example', to: ['ada@example.org'] });
    expect(received[0]?.content).toContain(`Message-ID:<order-received.${order.orderId}@shop.example>`);
    expect(received[0]?.content).toMatch(/Content-Type: multipart\/alternative/);
  });

  it.each(['ada@bücher.example', 'ada@b\u00adÜCHER。example', 'ada@xn--bcher-kva.example'])(
    'the notifications service gives the server the domain in ASCII: %s',
    async (email) => {
      const order = orderOf(email);
      await events.send('account.registered.v1', order.account);
      await events.send('order.shipped.v1', order.reference);
      expect(await outcome(order.orderId)).toBe('done');
      // smtp-server decodes the address of the envelope.
      expect(received.map(({ to }) => to)).toEqual([['ada@bücher.example']]);
      expect(received[0]?.content).toMatch(/^To: Ada <ada@xn--bcher-kva\.example>\r$/m);
    },
  );

  it('the notifications service tries again after a temporary error response', async () => {
    const order = orderOf('later@example.org');
    refusals.set('later@example.org', [refusal(451, 'not now'), refusal(450, 'not yet')]);
    await events.send('account.registered.v1', order.account);
    await events.send('order.shipped.v1', order.reference);
    expect(await outcome(order.orderId)).toBe('done');
    expect(received).toHaveLength(1);
    const { rows } = await services
      .service('notifications')
      .database.query('SELECT status, attempts FROM notifications WHERE order_id = $1', [order.orderId]);
    expect(rows).toEqual([{ status: 'sent', attempts: 3 }]);
  });

  it('the notifications service sends "order cancelled" only after "order received"', async () => {
    const order = orderOf('in-order@example.org');
    const { database } = services.service('notifications');
    const change = (next: string) =>
      database.query(
        `UPDATE notifications SET next_attempt_at = ${next} WHERE kind = 'order-received' AND order_id = $1`,
        [order.orderId],
      );
    refusals.set('in-order@example.org', [refusal(451, 'not now')]);
    await events.send('account.registered.v1', order.account);
    await events.send('order.created.v1', order.created);
    await eventually(() => expect(refusals.get('in-order@example.org')).toEqual([]));
    await eventually(async () => expect((await change("now() + interval '1 hour'")).rowCount).toBe(1));
    await events.send('order.cancelled.v1', order.cancelled);
    const later = orderOf('later-order@example.org');
    await events.send('account.registered.v1', later.account);
    await events.send('order.shipped.v1', later.reference);
    expect(await outcome(later.orderId)).toBe('done');
    await change('now()');
    const subjects = await eventually(() => {
      const own = received.filter(({ to }) => to.includes('in-order@example.org'));
      expect(own).toHaveLength(2);
      return own.map(({ content }) => /^Subject: (.*)$/m.exec(content)?.[1]?.trim());
    }, 10_000);
    expect(subjects).toEqual(['We have received your order', 'Your order is cancelled']);
  });

  it('the notifications service stops trying after a permanent error response, and publishes the failure', async () => {
    const order = orderOf('nobody@example.org');
    refusals.set('nobody@example.org', [refusal(550, 'no such mailbox')]);
    await events.send('account.registered.v1', order.account);
    await events.send('order.cancelled.v1', order.cancelled);
    expect(await outcome(order.orderId)).toBe('failed');
    expect(received).toEqual([]);
    const { rows } = await services
      .service('notifications')
      .database.query('SELECT status, problem FROM notifications WHERE order_id = $1', [order.orderId]);
    expect(rows).toEqual([{ status: 'failed', problem: expect.stringContaining('no such mailbox') }]);
  });

  it.each([
    ['a line break in the address', 'ada@example.org\r\nBcc: all@example.org', 'Ada', 'failed'],
    ['two addresses', 'ada@example.org, all@example.org', 'Ada', 'failed'],
    ['a number in place of a domain', 'ada@123.45', 'Ada', 'failed'],
    ['a line break in the name', 'ada@example.org', 'Ada\r\nBcc: all@example.org', 'done'],
    ['quotes and brackets in the name', 'ada@example.org', 'Ada" <all@example.org>, "', 'done'],
  ])('the notifications service is not misled by %s', async (_what, email, name, expected) => {
    const order = orderOf(email, name);
    await events.send('account.registered.v1', order.account);
    await events.send('order.shipped.v1', order.reference);
    expect(await outcome(order.orderId)).toBe(expected);
    expect(received.flatMap(({ to }) => to)).toEqual(expected === 'done' ? ['ada@example.org'] : []);
    const headers = received[0]?.content.split('\r\n\r\n')[0] ?? '';
    expect(headers).not.toMatch(/^Bcc:/im);
  });

  it('the notifications service keeps the e-mails while the server is unavailable', async () => {
    await new Promise<void>((resolve) => server.close(resolve));
    const order = orderOf('patient@example.org');
    await events.send('account.registered.v1', order.account);
    await events.send('order.created.v1', order.created);
    await eventually(async () => {
      const { rows } = await services
        .service('notifications')
        .database.query('SELECT status, attempts FROM notifications WHERE order_id = $1', [order.orderId]);
      expect(rows).toEqual([{ status: 'waiting', attempts: expect.any(Number) }]);
      expect(rows[0]?.attempts).toBeGreaterThan(0);
    });
    await listen();
    expect(await outcome(order.orderId)).toBe('done');
    expect(received.map(({ to }) => to)).toEqual([['patient@example.org']]);
  });

  it('the notifications service stops trying after a week without an address', async () => {
    const orderId = newId();
    await services.service('notifications').database.query(
      `INSERT INTO notifications (id, order_id, account_id, kind, details, request_id, created_at)
       VALUES ($1, $2::text::uuid, $3::text::uuid, 'order-shipped',
         json_build_object('orderId', $2::text, 'accountId', $3::text), 'r', now() - interval '8 days')`,
      [newId(), orderId, newId()],
    );
    expect(await outcome(orderId)).toBe('failed');
  });
});
