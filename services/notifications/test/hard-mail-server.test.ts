// The whole service with a faulty mail server: slow, silent in the middle of a delivery, or with unusual replies.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestService, type TestServices } from '@shop/shared/testing';
import { type ScriptedMailServer, startScriptedMailServer } from './scripted-mail-server.ts';

let server: ScriptedMailServer;
let services: TestServices;
let service: TestService;

beforeAll(async () => {
  server = await startScriptedMailServer();
  services = await startServices(['notifications'], { environment: { SMTP_URL: server.url } });
  service = services.service('notifications');
});

afterAll(async () => {
  await services?.stop();
  await server?.close();
});

afterEach(async () => {
  server.script = () => 'usual';
  await service.database.query('DELETE FROM notifications');
});

interface Row {
  readonly status: string;
  readonly attempts: number;
  readonly unsure: number;
  readonly problem: unknown;
  /** Seconds until the next attempt. */
  readonly pause: number;
}

/** Adds an e-mail for each recipient in one statement. Returns their orders. */
async function add(...readers: string[]): Promise<string[]> {
  const orders = readers.map(() => newId());
  const accounts = readers.map(() => newId());
  await service.database.query(
    `WITH known AS (
       INSERT INTO recipients (account_id, email, name, sequence)
         SELECT unnest($3::uuid[]), unnest($1::text[]), 'Ada', 1
     )
     INSERT INTO notifications (id, order_id, account_id, kind, details, request_id)
     SELECT gen_random_uuid(), o, a, 'order-shipped', json_build_object('orderId', o, 'accountId', a), 'r'
     FROM unnest($2::uuid[], $3::uuid[]) AS added (o, a)`,
    [readers, orders, accounts],
  );
  return orders;
}

async function rowOf(orderId: string | undefined): Promise<Row> {
  const { rows } = await service.database.query<Row>(
    `SELECT status, attempts, unsure, problem, extract(epoch FROM next_attempt_at - now())::float8 AS pause
     FROM notifications WHERE order_id = $1`,
    [orderId],
  );
  if (rows[0] === undefined) throw new Error('there is no such e-mail');
  return rows[0];
}

/** Waits until the row of an order has these values. */
const become = (orderId: string | undefined, wanted: Partial<Row>): Promise<Row> =>
  eventually(async () => {
    const row = await rowOf(orderId);
    expect(row).toMatchObject(wanted);
    return row;
  }, 30_000);

const tryNow = () =>
  service.database.query("UPDATE notifications SET next_attempt_at = now() WHERE status = 'waiting'");
const copiesFor = (reader: string) => server.delivered.filter((to) => to === reader).length;

/** Makes the server delay its reply to the message for a recipient until the test releases it. */
function holdAnswer(reader: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.script = ({ command, to }) => (command === '.' && to === reader ? promise.then(() => '250 ok') : 'usual');
  return resolve;
}

describe('a server that is slow to answer', () => {
  it('a server that responds slowly gets each e-mail once and delays neither other e-mails nor the database', async () => {
    const release = holdAnswer('slow@example.org');
    const [slow] = await add('slow@example.org');
    await eventually(() => expect(copiesFor('slow@example.org')).toBe(1));
    const [quick] = await add('quick@example.org');
    await become(quick, { status: 'sent' });
    const { rows } = await service.database.query(
      'SELECT query FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user ' +
        "AND state LIKE 'idle in transaction%' AND xact_start < now() - interval '1 second'",
    );
    expect(rows).toEqual([]);
    // The sender renews its claim, so that no other sender can claim the e-mail.
    for (let renewals = 0; renewals < 2; renewals += 1) {
      const { pause: before } = await eventually(async () => {
        const row = await rowOf(slow);
        expect(row.pause).toBeLessThan(26);
        return row;
      }, 30_000);
      await eventually(async () => expect((await rowOf(slow)).pause).toBeGreaterThan(before), 30_000);
    }
    release();
    expect(await become(slow, { status: 'sent' })).toMatchObject({ attempts: 1, unsure: 0 });
    expect(copiesFor('slow@example.org')).toBe(1);
  });

  it('a slow mail server does not delay the stop of the process, and another sender takes over the e-mail of a killed one', async () => {
    holdAnswer('held@example.org');
    const [held] = await add('held@example.org');
    await eventually(() => expect(copiesFor('held@example.org')).toBe(1));
    await service.kill('SIGTERM');
    expect(service.output()).not.toContain('not stopped within');
    expect(await rowOf(held)).toMatchObject({ status: 'waiting', attempts: 1, unsure: 1 });

    await service.restart();
    await tryNow();
    await eventually(() => expect(copiesFor('held@example.org')).toBe(2));
    await service.kill('SIGKILL');
    const { pause } = await rowOf(held);
    expect(pause).toBeGreaterThan(0);
    expect(pause).toBeLessThanOrEqual(30);
    server.script = () => 'usual';
    await service.restart();
    await tryNow();
    await become(held, { status: 'sent' });
    expect(copiesFor('held@example.org')).toBe(3);
  });
});

describe('a server that does not answer after it received the message', () => {
  it('a server that does not respond after the message gets the e-mail three times, ten minutes apart', async () => {
    server.script = ({ command }) => (command === '.' ? undefined : 'usual');
    const [order] = await add('silent@example.org');
    for (const unsure of [1, 2]) {
      const { pause } = await become(order, { status: 'waiting', attempts: unsure, unsure });
      expect(pause).toBeGreaterThan(500);
      await tryNow();
    }
    const { problem } = await become(order, { status: 'failed', unsure: 3 });
    expect(problem).toContain('did not say what became of it');
    expect(copiesFor('silent@example.org')).toBe(3);
  });

  it.each(['MAIL', 'RCPT', 'DATA'])(
    'a server that does not respond after it received the message is tried as usual when it disconnects at %s, because nothing was sent',
    async (where) => {
      server.script = ({ command }) => (command === where ? undefined : 'usual');
      const [order] = await add('early@example.org');
      await eventually(async () => expect((await rowOf(order)).attempts).toBeGreaterThan(2), 20_000);
      expect(await rowOf(order)).toMatchObject({ status: 'waiting', unsure: 0 });
    },
  );

  it('a server that does not respond after the message, and later replies that it did not accept it, gets the e-mail again', async () => {
    let refused = 0;
    server.script = ({ command }) => (command === '.' && refused++ === 0 ? '451 not now' : 'usual');
    const [order] = await add('refused@example.org');
    await become(order, { status: 'sent', attempts: 2, unsure: 0 });
  });
});

describe('a reply about the shop itself', () => {
  it.each([
    ['MAIL', '530 5.7.0 Authentication required'],
    ['MAIL', '550 5.7.1 Sender refused'],
    ['MAIL', '553 5.1.8 Sender refused'],
    ['RCPT', '530 5.7.0 Authentication required'],
    ['RCPT', '535 5.7.8 Credentials invalid'],
    ['DATA', '538 5.7.11 Encryption required'],
  ])(
    "a reply about the shop's own address to %s, %s, delays the e-mails until the cause is fixed",
    async (where, reply) => {
      server.script = ({ command }) => (command === where ? reply : 'usual');
      const [order] = await add('patient@example.org');
      await become(order, { status: 'waiting', problem: expect.stringContaining(reply) });
      server.script = () => 'usual';
      await become(order, { status: 'sent' });
    },
  );
});

describe('an e-mail about a payment that was refused for now', () => {
  it('an e-mail about a payment that was rejected for now is sent before the one about the cancellation of the order', async () => {
    const [orderId, accountId] = [newId(), newId()];
    await service.database.query(
      "INSERT INTO recipients (account_id, email, name, sequence) VALUES ($1, 'payer@example.org', 'Ada', 1)",
      [accountId],
    );
    await service.database.query(
      `INSERT INTO notifications (id, order_id, account_id, kind, details, request_id, attempts, paced_for, next_attempt_at)
       SELECT gen_random_uuid(), $1, $2, kind, details::json, 'r', attempts, paced_for, now() + wait * interval '1 second'
       FROM (VALUES ('order-paid', $3, 4, 'payer@example.org', 2), ('order-cancelled', $4, 0, NULL, 0))
         AS added (kind, details, attempts, paced_for, wait)`,
      [
        ...[orderId, accountId, JSON.stringify({ orderId, accountId, amount: 5, currency: 'EUR' })],
        JSON.stringify({ orderId, accountId, items: [{ name: 'Cup', quantity: 1 }] }),
      ],
    );
    const sent = await eventually(async () => {
      const { rows } = await service.database.query(
        "SELECT kind FROM notifications WHERE order_id = $1 AND status = 'sent' ORDER BY settled_at",
        [orderId],
      );
      expect(rows).toHaveLength(2);
      return rows;
    }, 30_000);
    expect(sent).toEqual([{ kind: 'order-paid' }, { kind: 'order-cancelled' }]);
  });
});

describe('an e-mail whose outcome cannot be recorded', () => {
  it('an e-mail whose outcome cannot be recorded does not prevent recording the other outcomes, and is not sent again', async () => {
    await service.database.query(`
      CREATE FUNCTION refuse_mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no mark'; END $$;
      CREATE TRIGGER refuse_mark BEFORE UPDATE OF attempts ON notifications FOR EACH ROW
        WHEN (NEW.request_id = 'unmarkable') EXECUTE FUNCTION refuse_mark()`);
    const release = Promise.withResolvers<void>();
    // Both replies arrive together, so that both outcomes are recorded in one batch.
    server.script = ({ command }) => (command === '.' ? release.promise.then(() => '250 ok') : 'usual');
    const [bad, good] = await add('bad@example.org', 'good@example.org');
    await service.database.query("UPDATE notifications SET request_id = 'unmarkable' WHERE order_id = $1", [bad]);
    await eventually(() => expect([copiesFor('bad@example.org'), copiesFor('good@example.org')]).toEqual([1, 1]));
    release.resolve();
    await become(good, { status: 'sent' });
    await eventually(() => expect(service.output().split('no mark').length).toBeGreaterThan(3));
    await service.database.query('DROP TRIGGER refuse_mark ON notifications');
    await become(bad, { status: 'sent' });
    expect([copiesFor('bad@example.org'), copiesFor('good@example.org')]).toEqual([1, 1]);
  });

  it('the text of a reply does not prevent the recording of an outcome', async () => {
    server.script = ({ command }) => (command === 'RCPT' ? '450 4.2.0 odd \0 reply' : 'usual');
    const [order] = await add('nul@example.org');
    await become(order, { status: 'waiting', problem: expect.stringContaining('odd \ufffd reply') });
    server.script = () => 'usual';
    await become(order, { status: 'sent' });
  });
});
