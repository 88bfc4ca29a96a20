// Operator commands on a running shop: orders, a dead letter, status and doctor, a backup, and the shop that is
// restored from it.
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { startEmbeddedPostgres } from '@shop/shared/embedded';
import { newId } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { createTestDatabase, eventually } from '@shop/shared/testing';
import { openArchive, sealArchive } from '../src/backup/archive.ts';
import { restoreBackup } from '../src/backup/restore-backup.ts';
import type { RunningShop } from '../src/shop/data-folder.ts';
import {
  askShop,
  launchShop,
  queryShop,
  runningShop,
  runShop,
  type StartedShop,
  startCommand,
} from './started-shop.ts';

const settledWithin = 40_000;
const ada = { email: 'ada@shop.example', password: 'under the old oak' };

interface Answer {
  readonly id: string;
  readonly access_token: string;
  readonly status: string;
  readonly createdAt: string;
  readonly nextCursor: string;
}

let folder: string;
let dataDir: string;
let shop: StartedShop;
let running: RunningShop;
let token: string;
let accountId: string;
let first: string;
let second: string;

async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${shop.gateway}${path}`, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

const query = <T extends object>(schema: string, text: string, values: unknown[] = []): Promise<T[]> =>
  queryShop<T>(running, schema, text, values);

const ask = <T>(...parameters: string[]): Promise<T> => askShop<T>(dataDir, ...parameters);

async function mailsAbout(orderId: string, dir = dataDir): Promise<string[]> {
  return (await readdir(join(dir, 'mail'))).filter((name) => name.startsWith(orderId));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-after-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  shop = await launchShop({ dataDir });
  const productId = /"productId":"([^"]+)"/.exec(await shop.ready)?.[1];
  running = await runningShop(dataDir);
  accountId = (await call('POST', '/v1/accounts', { name: 'Ada', ...ada })).id;
  await runShop(dataDir, 'accounts', 'verify-email', ada.email);
  token = (await call('POST', '/v1/tokens', ada)).access_token;
  const order = { items: [{ productId, quantity: 1 }] };
  first = (await call('POST', '/v1/orders', order)).id;
  second = (await call('POST', '/v1/orders', order)).id;
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

describe('orders', () => {
  it('orders are listed page by page, newest first', async () => {
    expect((await ask<Answer[]>('orders', 'list')).map(({ id }) => id)).toEqual([second, first]);
    const page = (await runShop(dataDir, 'orders', 'list', '--limit', '1')).output;
    expect(page).toMatch(/^ORDER +STATUS +PLACED +TOTAL +ITEMS\n/);
    expect(page).toMatch(new RegExp(`^${second}  pending +\\S+Z +[\\d.]+ EUR +1 × `, 'm'));
    expect(page).toContain(`--before ${second}`);
    expect((await ask<Answer[]>('orders', 'list', '--before', second)).map(({ id }) => id)).toEqual([first]);
    expect(await ask('orders', 'list', '--account', newId())).toEqual([]);
    expect(await ask('orders', 'list', '--status', 'shipped')).toEqual([]);
    const { createdAt } = await call('GET', `/v1/orders/${second}`);
    expect((await ask<Answer[]>('orders', 'list', '--since', createdAt)).map(({ id }) => id)).toEqual([second]);
    expect(await ask('orders', 'list', '--since', '2099-01-01')).toEqual([]);
    const wrong = await runShop(dataDir, 'orders', 'list', '--since', 'yesterday');
    expect([wrong.code, wrong.complaints]).toEqual([2, expect.stringContaining('It must be a day or a time')]);
  });

  it('orders advance by the rules of the API, with history, event and e-mail', async () => {
    const unknown = await runShop(dataDir, 'orders', 'process', first, '--as', ada.email);
    expect(unknown).toEqual({
      code: 1,
      output: '',
      complaints: `${ada.email} may not fulfil orders: run npm run shop -- staff grant ${ada.email} orders:fulfil\n`,
    });
    await ask('staff', 'grant', ada.email, 'orders:fulfil');
    const processed = await runShop(dataDir, 'orders', 'process', first, '--as', ada.email);
    expect(processed).toEqual({ code: 0, output: `${first} is processing\n`, complaints: '' });

    const shipped = await runShop(dataDir, 'orders', 'ship', first, second, '--carrier', 'Post');
    expect(shipped).toEqual({
      code: 3,
      output:
        `${first} is shipped\n${second}: An order that is pending cannot become shipped. ` +
        `npm run shop -- orders show ${second} shows what may come next.\n`,
      complaints: '',
    });
    expect(await call('GET', `/v1/orders/${first}`)).toMatchObject({
      status: 'shipped',
      tracking: { carrier: 'Post' },
    });
    const history = await query('orders', 'SELECT status, actor, actor_id FROM order_history WHERE order_id = $1', [
      first,
    ]);
    expect(history).toEqual([
      { status: 'pending', actor: 'customer', actor_id: accountId },
      { status: 'processing', actor: 'staff', actor_id: accountId },
      { status: 'shipped', actor: 'staff', actor_id: '00000000-0000-0000-0000-000000000000' },
    ]);
    await eventually(async () => {
      const { output } = await runShop(dataDir, 'trace', first);
      expect(output).toMatch(/order\.shipped\.v1 taken by catalogue\.inventory/);
      expect(output).toMatch(/order-shipped sent/);
    }, settledWithin);
    const shown = (await runShop(dataDir, 'orders', 'show', first)).output;
    expect(shown).toMatch(/is shipped: [\d.]+ EUR\.\n\nCustomer: "Ada", "ada@shop\.example"\n/);
    expect(shown).toMatch(new RegExp(`\\nNext: npm run shop -- orders deliver ${first}\\n$`));
  });

  it('orders are advanced by the account with an e-mail address in any spelling', async () => {
    await call('POST', '/v1/accounts', { name: 'Zoë', email: ' ZOE\u0308@shop.example ', password: ada.password });
    const email = 'zo\u00eb@shop.example';
    await ask('staff', 'grant', email, 'orders:fulfil');
    const { output, complaints } = await runShop(dataDir, 'orders', 'process', first, '--as', email);
    expect([output, complaints]).toEqual([expect.stringContaining('is shipped cannot become processing'), '']);
  });

  it('orders are shipped when their units are on hand', async () => {
    const [product] = await query<{ id: string; name: string; stock: number }>(
      'catalogue',
      `UPDATE products SET status = 'backorder' WHERE id = (
         SELECT id FROM products WHERE stock BETWEEN 1 AND 900 AND status = 'available' AND reserved = 0 LIMIT 1
       ) RETURNING id, name, stock`,
    );
    const wanted = Number(product?.stock) + 1;
    const { id } = await call('POST', '/v1/orders', { items: [{ productId: product?.id, quantity: wanted }] });
    expect(await runShop(dataDir, 'orders', 'process', id)).toMatchObject({ code: 0 });
    const refused = await runShop(dataDir, 'orders', 'ship', id);
    expect(refused).toEqual({
      code: 1,
      output:
        `${id}: Not all units of the order are on hand. The order is unchanged. ` +
        `${wanted} of ${JSON.stringify(product?.name)} are to be shipped, ${product?.stock} can be. ` +
        `npm run shop -- orders show ${id} shows what may come next.\n`,
      complaints: '',
    });
    await call('POST', `/v1/orders/${id}/cancel`);
  });

  it('orders are cancelled by the rules of the API; history, e-mail and event name the operator and the reason', async () => {
    const [{ product_id: productId } = { product_id: '' }] = await query<{ product_id: string }>(
      'orders',
      'SELECT product_id FROM order_lines WHERE order_id = $1',
      [second],
    );
    const { id } = await call('POST', '/v1/orders', { items: [{ productId, quantity: 1 }] });
    const without = await runShop(dataDir, 'orders', 'cancel', id);
    expect([without.code, without.complaints]).toEqual([2, expect.stringContaining("'--reason <text>'")]);
    const blank = await runShop(dataDir, 'orders', 'cancel', id, '--reason', ' ');
    expect([blank.code, blank.complaints]).toEqual([2, expect.stringContaining('It must have 1 to 500 characters.')]);
    expect((await call('GET', `/v1/orders/${id}`)).status).toBe('pending');

    const reason = ['--reason', ' Sold out for good '];
    expect(await runShop(dataDir, 'orders', 'cancel', id, first, ...reason, '--as', ada.email)).toEqual({
      code: 3,
      output:
        `${id} is cancelled\n${first}: The order is shipped and can no longer be cancelled. ` +
        `npm run shop -- orders show ${first} shows what may come next.\n`,
      complaints: '',
    });
    expect(await runShop(dataDir, 'orders', 'cancel', id, '--reason', 'Another reason')).toMatchObject({ code: 0 });
    const history = await query(
      'orders',
      `SELECT h.status, actor, actor_id, cancellation_reason FROM order_history AS h JOIN orders ON orders.id = order_id
       WHERE order_id = $1 ORDER BY h.version DESC LIMIT 1`,
      [id],
    );
    const why = 'Sold out for good';
    expect(history).toEqual([{ status: 'cancelled', actor: 'staff', actor_id: accountId, cancellation_reason: why }]);
    const shown = (await runShop(dataDir, 'orders', 'show', id)).output;
    expect(shown).toMatch(/^\S+Z +cancelled +staff +"Sold out for good"$/m);
    expect(await ask('orders', 'show', id)).toMatchObject({
      cancellation: { reason: why },
      history: [{ status: 'pending' }, { status: 'cancelled', by: 'staff', reason: why }],
    });
    await eventually(async () => {
      const mails = await Promise.all(
        (await mailsAbout(id)).map((name) => readFile(join(dataDir, 'mail', name), 'utf8')),
      );
      expect(mails.filter((mail) => mail.includes(why))).toHaveLength(1);
    }, settledWithin);
  });

  it('orders are listed while a refund is due', async () => {
    expect((await runShop(dataDir, 'orders', 'refunds')).output).toBe('No refund is due.\n');
    await ask('staff', 'grant', ada.email, 'payments:write');
    token = (await call('POST', '/v1/tokens', ada)).access_token;
    const money = { amount: 999_999, currency: 'EUR' };
    const { status } = await fetch(`${shop.gateway}/v1/orders/${first}/payments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...money, reference: 'pay 1' }),
    });
    expect(status).toBe(409);
    const { output } = await runShop(dataDir, 'orders', 'refunds');
    expect(output).toMatch(/^ORDER +STATUS +DUE SINCE +AMOUNT +CAUSES +PAYMENTS\n/);
    expect(output).toMatch(
      new RegExp(`^${first}  shipped +\\S+Z +999999.00 EUR  amount-differs  "pay 1" 999999.00 EUR\n$`, 'm'),
    );
    expect(await ask('orders', 'refunds')).toMatchObject([
      { orderId: first, accountId, ...money, payments: [{ reference: 'pay 1', amount: 999_999 }] },
    ]);
    const shown = (await runShop(dataDir, 'orders', 'show', first)).output;
    expect(shown).toContain('Its payment is not required. The shop owes 999999.00 EUR back.');
    await call('POST', `/v1/orders/${first}/refunds`, { ...money, reference: 're 1' });
    expect(await ask('orders', 'refunds')).toEqual([]);
    const refundMails = async () =>
      (await mailsAbout(first)).flatMap((name) => /order-refund.*/.exec(name) ?? []).sort();
    await eventually(
      async () =>
        expect(await refundMails()).toEqual(
          [/^order-refund-due\.\d+\.eml$/, /^order-refunded\.\d+\.eml$/].map((name) => expect.stringMatching(name)),
        ),
      settledWithin,
    );
    const emails = await ask<{ id: string; kind: string }[]>('emails', 'list', first);
    await runShop(dataDir, 'emails', 'resend', emails.find(({ kind }) => kind.startsWith('order-refunded '))?.id ?? '');
    await eventually(async () => expect((await refundMails())[1]).toMatch(/again-1\.eml$/), settledWithin);
    const { cancelled, ...others } = await ask<Record<string, number>>('orders', 'count');
    expect(cancelled).toBeGreaterThan(0);
    expect(Object.keys(others)).toEqual(['pending', 'processing', 'shipped', 'delivered']);
    expect((await runShop(dataDir, 'orders', 'count')).output).toContain(`cancelled   ${cancelled}\n`);
  });

  it('a command for an unknown order is rejected', async () => {
    const unknown = newId();
    const refusals = [
      await runShop(dataDir, 'orders', 'ship', unknown),
      await runShop(dataDir, 'orders', 'show', unknown),
    ];
    expect(refusals).toEqual([
      {
        code: 1,
        output: `${unknown}: There is no order with this id. npm run shop -- orders list shows the newest.\n`,
        complaints: '',
      },
      {
        code: 1,
        output: '',
        complaints: `there is no order ${unknown}: npm run shop -- orders list shows the newest\n`,
      },
    ]);
  });
});

describe('a dead letter', () => {
  it('a dead letter is delivered by a replay once its cause is fixed, and one e-mail is written', async () => {
    const obstacle = "ADD CONSTRAINT obstacle CHECK (kind <> 'order-cancelled') NOT VALID";
    await query('notifications', `ALTER TABLE notifications ${obstacle}`);
    await call('POST', `/v1/orders/${second}/cancel`);
    const retried = '1 event of notifications.mail is tried again';
    await eventually(async () => {
      const { output } = await runShop(dataDir, 'status');
      expect(output).toContain(`${retried}: run npm run shop -- logs notifications.`);
      expect(output).not.toContain('All is well.');
    }, settledWithin);
    // While an event is tried again, it does not wait.
    await eventually(async () => expect((await runShop(dataDir, 'doctor')).output).toContain(retried), settledWithin);
    const letter = await eventually(async () => {
      // Retries come after 1 to 32 seconds. The test makes them immediate.
      await query(
        'events',
        "UPDATE job SET start_after = now() WHERE name = 'notifications.mail' AND state = 'created'",
      );
      const [found] = await ask<{ id: string; attempts: number; reason: string }[]>('events', 'dead', 'list');
      if (found === undefined) throw new Error('no dead letter yet');
      return found;
    }, 90_000);
    expect(letter).toMatchObject({ attempts: 7, type: 'order.cancelled.v1', subject: second });
    expect(letter.reason).toContain('obstacle');
    const status = await runShop(dataDir, 'status');
    expect(status.output).toMatch(/^notifications\.mail +\d+ +1$/m);
    expect(status.output).toContain('Events were given up: npm run shop -- events dead list shows why');
    const told = () =>
      query<{ state: string }>('orders', 'SELECT customer_notified AS state FROM orders WHERE id = $1', [second]);
    expect(await told()).toEqual([{ state: 'pending' }]);

    await query('notifications', 'ALTER TABLE notifications DROP CONSTRAINT obstacle');
    const replayed = await runShop(dataDir, 'events', 'dead', 'replay', letter.id);
    expect(replayed).toEqual({ code: 0, output: `replayed ${letter.id} (notifications.mail)\n`, complaints: '' });
    await eventually(async () => expect(await told()).toEqual([{ state: 'done' }]), settledWithin);
    expect((await mailsAbout(second)).filter((name) => name.includes('cancelled'))).toHaveLength(1);
    expect(await ask('events', 'dead', 'list')).toEqual([]);
  });
});

describe('a healthy shop', () => {
  it('a healthy shop is reported as healthy', async () => {
    await eventually(async () => {
      const status = await runShop(dataDir, 'status');
      expect(status).toMatchObject({ code: 0, output: expect.stringMatching(/\n\nAll is well\.\n$/) });
      expect(status.output).toMatch(/^notifications +0 +0 s$/m);
      expect(await query('notifications', "SELECT id FROM notifications WHERE status = 'waiting'")).toEqual([]);
    }, settledWithin);
    const doctor = await runShop(dataDir, 'doctor');
    expect(doctor).toMatchObject({ code: 0, complaints: '' });
    for (const check of [
      'gateway',
      'orders',
      'locale',
      'clock',
      'migrations catalogue',
      'signing keys',
      'events',
      'feed',
    ]) {
      expect(doctor.output).toMatch(new RegExp(`^${check} +ok `, 'm'));
    }
    expect(doctor.output).not.toContain('\u001b');
  });

  it('the doctor names a change that waits for the event before it for more than a minute', async () => {
    const held = newId();
    await query(
      'changes',
      `INSERT INTO changes (event_id, source, type, subject, sequence, previous_sequence, happened_at, kind, resource_id, arrived_at)
       VALUES ($1, '/orders', 'order.shipped.v1', $1, 5, 3, now(), 'order', $1, now() - interval '61 s')`,
      [held],
    );
    const { code, output } = await runShop(dataDir, 'doctor');
    expect(code).toBe(0);
    expect(output).toMatch(
      new RegExp(`^feed +warning +order\\.shipped\\.v1 of ${held} waits for event 3 of /orders since \\d+ s$`, 'm'),
    );
    await query('changes', 'DELETE FROM changes WHERE event_id = $1', [held]);
  });

  it('a healthy shop shows its processes while its database does not respond', async () => {
    const [pid] = (await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGSTOP');
    try {
      const { output } = await runShop(dataDir, 'status', '--json');
      const { outboxes, ...status } = JSON.parse(output);
      expect(outboxes).toBeUndefined();
      expect(status.processes.map(({ name }: { name: string }) => name).sort()).toEqual(
        Object.keys(running.processes).sort(),
      );
      expect(status.advice).toContain('The waiting events cannot be read: run npm run shop -- doctor.');
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
  });
});

describe('a backup', () => {
  let backup: string;
  /** The end of the feed of changes at the time of the backup. */
  let cursor: string;

  /** A backup before an upgrade must contain what the former release can restore. */
  async function expectNoMigration(): Promise<void> {
    const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), durable: true });
    const newest = 'SELECT max(name) AS name FROM notifications.migrations';
    const name = await withClient({ url: new URL('/shop', server.url).href }, async (client) => {
      const { rows } = await client.query<{ name: string }>(newest);
      await client.query('DELETE FROM notifications.migrations WHERE name = $1', [rows[0]?.name]);
      return rows[0]?.name;
    });
    await server.stop();
    // An attempt to apply it again would fail, because its changes are there.
    expect(await runShop(dataDir, 'status')).toMatchObject({ complaints: '' });
    const before = join(folder, 'before');
    expect((await runShop(dataDir, 'backup', before)).code).toBe(0);
    expect((await openArchive(before)).schemas.notifications?.migrations).not.toContain(name);
  }

  it('a backup is taken while the shop runs, and only its owner can read it', async () => {
    backup = join(folder, 'backup');
    cursor = (await call('GET', '/v1/changes?cursor=now')).nextCursor;
    const { code, output } = await runShop(dataDir, 'backup', backup);
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/^Backed up \d+ rows of \d+ tables, /),
    });
    expect((await stat(backup)).mode & 0o777).toBe(0o700);
    expect((await stat(join(backup, 'secrets.json'))).mode & 0o777).toBe(0o600);
    expect(await runShop(dataDir, 'backup', backup)).toMatchObject({
      code: 1,
      complaints: `${backup} is there already: name a new folder\n`,
    });
    expect((await readdir(folder)).sort()).toEqual(['backup', 'data']);
  });

  it('a backup is taken once when two have the same folder', async () => {
    const same = join(folder, 'same');
    const results = await Promise.all([1, 2].map(() => runShop(dataDir, 'backup', same)));
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(results.map(({ complaints }) => complaints)).toContain(`${same} is there already: name a new folder\n`);
    const rowsOf = async (path: string) =>
      Object.values((await openArchive(path)).schemas).map(({ tables }) => tables.map(({ sha256 }) => sha256));
    expect((await rowsOf(same)).flat()).toHaveLength((await rowsOf(backup)).flat().length);
    await rm(same, { recursive: true });
    expect((await readdir(folder)).sort()).toEqual(['backup', 'data']);
  });

  it('a backup can be tested in a temporary database', async () => {
    const proof = await ask<{ rows: number }>('restore', '--verify', backup);
    expect(proof).toMatchObject({ verified: true, tables: expect.any(Number) });
    expect(proof.rows).toBeGreaterThan(300);
    expect((await readdir(folder)).sort()).toEqual(['backup', 'data']);
  });

  it('a backup test leaves no data outside a folder that the user of PostgreSQL cannot reach', async () => {
    const temporary = join(folder, 'temporary');
    await mkdir(temporary, { mode: 0o700 });
    // The data of root's servers. Other tests may have some that run or are being created.
    const outside = '/var/lib/shop-embedded-postgres';
    const kept = async (): Promise<string[]> => {
      const names = await readdir(outside).catch(() => []);
      return names.filter(
        (name) => /^data-[0-9a-f]+$/.test(name) && !existsSync(join(outside, name, 'postmaster.pid')),
      );
    };
    const before = await kept();
    expect((await startCommand(dataDir, { TMPDIR: temporary }, 'restore', '--verify', backup).ended).code).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
    await eventually(async () => expect((await kept()).filter((name) => !before.includes(name))).toEqual([]));
    await rm(temporary, { recursive: true });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('a backup that %s stops leaves no data', async (signal) => {
    const interrupted = join(folder, 'interrupted');
    // The backup waits for a table that is locked.
    await withClient({ url: running.databases.orders ?? '' }, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE orders.payment_ledger');
      const { child, ended } = startCommand(dataDir, 'backup', interrupted);
      await eventually(async () => {
        const partial = (await readdir(folder)).find((name) => name.startsWith('interrupted.partial-')) ?? 'none';
        expect(await readdir(join(folder, partial))).not.toEqual([]);
      }, settledWithin);
      child.kill(signal);
      expect(await ended).toEqual({ code: null, output: '', complaints: '' });
      expect(child.signalCode).toBe(signal);
      await client.query('ROLLBACK');
    });
    expect((await readdir(folder)).sort()).toEqual(['backup', 'data']);
  });

  it.each(['as soon as it has a folder', 'while its server starts', 'while it is restored'])(
    'a backup test that a signal stops %s leaves no files',
    async (when) => {
      const temporary = join(folder, 'temporary');
      await mkdir(temporary);
      await chmod(temporary, 0o711);
      const watcher = watch(temporary);
      const made = once(watcher, 'change', { signal: AbortSignal.timeout(settledWithin) });
      const { child, ended } = startCommand(dataDir, { TMPDIR: temporary }, 'restore', '--verify', backup);
      await made;
      watcher.close();
      const serverIds = await eventually(async () => {
        if (when === 'as soon as it has a folder') return;
        const files = await readdir(temporary, { recursive: true });
        if (when === 'while its server starts') return expect(files.length).toBeGreaterThan(1);
        const [state = ''] = files.filter((name) => name.endsWith('cluster/postmaster.pid'));
        const [processId, ...lines] = (await readFile(join(temporary, state), 'utf8')).split('\n');
        expect(lines.some((line) => line.startsWith('ready'))).toBe(true);
        return [Number(processId)];
      }, settledWithin);
      child.kill('SIGTERM');
      expect(await ended).toEqual({ code: null, output: '', complaints: '' });
      expect(await readdir(temporary)).toEqual([]);
      for (const processId of serverIds ?? []) expect(() => process.kill(processId, 0)).toThrow('ESRCH');
      await rm(temporary, { recursive: true });
    },
  );

  it('a backup that was changed or truncated is rejected before anything changes', async () => {
    const damaged = join(folder, 'damaged');
    await cp(backup, damaged, { recursive: true });
    await writeFile(join(damaged, 'orders.orders.copy.gz'), 'x', { flag: 'a' });
    await rm(join(damaged, 'accounts.accounts.copy.gz'));
    const complaints =
      `the backup ${damaged} is damaged: accounts.accounts.copy.gz is missing, ` +
      'orders.orders.copy.gz was changed. Use another one.\n';
    expect(await runShop(join(folder, 'other'), 'restore', damaged)).toEqual({ code: 1, output: '', complaints });
    expect(await readdir(folder)).not.toContain('other');
    await rm(damaged, { recursive: true });
  });

  it('a backup of a shop without one of the services is restored, and one with a further service is rejected', async () => {
    const changed = join(folder, 'changed');
    await cp(backup, changed, { recursive: true });
    const manifest = await openArchive(changed);
    const { notifications, ...schemas } = manifest.schemas;
    await sealArchive(changed, { ...manifest, schemas });
    const tables = Object.values(schemas).flatMap((schema) => schema.tables).length;
    expect(await ask('restore', '--verify', changed)).toMatchObject({ verified: true, tables });
    const reviews = { migrations: [], tables: [], sequences: {} };
    await sealArchive(changed, { ...manifest, schemas: Object.assign({ reviews }, manifest.schemas) });
    expect(await runShop(join(folder, 'other'), 'restore', changed)).toMatchObject({
      code: 1,
      complaints: expect.stringContaining('newer version of the shop (it has the services reviews)'),
    });
    await rm(changed, { recursive: true });
  });

  it('a backup is not restored at all when a connection is lost before the end', async () => {
    const { urls, adminUrl } = await createTestDatabase([]);
    const loseOne = () =>
      withClient({ url: adminUrl }, async (client) => {
        const { rowCount } = await client.query(
          `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'restore' ORDER BY backend_start DESC LIMIT 1`,
        );
        expect(rowCount).toBe(1);
      });
    const hooks = { onTable: () => {}, beforeCommit: loseOne };
    await expect(restoreBackup(urls, backup, await openArchive(backup), hooks)).rejects.toThrow();
    const { rows } = await withClient({ url: urls.accounts }, (client) => client.query('SELECT id FROM accounts'));
    expect(rows).toEqual([]);
  });

  it('a backup is not restored into an existing shop', async () => {
    expect(await runShop(dataDir, 'restore', backup)).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/^a shop runs in .*: stop it, and restore into a new one/),
    });
  });

  it('a backup is restored to a shop with the same accounts, orders, stock and keys, which sends no e-mail twice', async () => {
    await call('POST', '/v1/accounts', { name: 'Eve', email: 'eve@shop.example', password: 'after the backup' });
    expect(await call('GET', `/v1/changes?cursor=${cursor}`)).toHaveProperty('nextCursor');
    await shop.end();
    await expectNoMigration();
    const restoredDir = join(folder, 'restored');
    const began = new Date();
    const restored = await runShop(restoredDir, 'restore', backup);
    expect(restored).toMatchObject({ code: 0, complaints: '' });
    expect(restored.output).toMatch(/^Restored: .*\n.* adds up with .*\n\d+ events will be published again; .*\n$/);
    expect(await runShop(restoredDir, 'restore', backup)).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/^the shop is not empty: there are rows in accounts\./),
    });
    const secrets = async (dir: string) => JSON.parse(await readFile(join(dir, 'secrets.json'), 'utf8')).variables;
    expect(await secrets(restoredDir)).toEqual(await secrets(dataDir));

    shop = await launchShop({ dataDir: restoredDir, environment: { GATEWAY_PORT: new URL(shop.gateway).port } });
    await shop.ready;
    running = await runningShop(restoredDir);
    // A follower may have seen changes after the backup, which are lost.
    await expect(call('GET', `/v1/changes?cursor=${cursor}`)).rejects.toThrow('410');
    // A token from before the backup is still valid, because the keys are the same.
    expect((await call('GET', `/v1/orders/${first}`)).status).toBe('shipped');
    expect((await call('GET', `/v1/orders/${second}`)).status).toBe('cancelled');
    await call('POST', '/v1/tokens', ada);
    await expect(call('POST', '/v1/tokens', { ...ada, email: 'eve@shop.example' })).rejects.toThrow('401');
    await eventually(async () => {
      expect(await runShop(restoredDir, 'status')).toMatchObject({ code: 0, complaints: '' });
      for (const schema of serviceNames) {
        expect(await query(schema, 'SELECT id FROM outbox WHERE published_at IS NULL')).toEqual([]);
      }
      expect(await query('events', "SELECT id FROM job WHERE state IN ('created', 'active')")).toEqual([]);
    }, settledWithin);
    expect(await mailsAbout('', restoredDir)).toEqual([]);
    // However old the backup is, handled events stay known until their repetitions have arrived.
    for (const schema of serviceNames)
      expect(await query(schema, 'SELECT event_id FROM inbox WHERE taken_at < $1', [began])).toEqual([]);
    expect(await runShop(restoredDir, 'stock', 'verify')).toMatchObject({ code: 0 });
  });
});
