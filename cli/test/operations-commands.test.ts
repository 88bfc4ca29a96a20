// `stock`, `emails`, `events dead` and `trace` on a running shop, and on the same shop when it is stopped.
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import type { RunningShop } from '../src/shop/data-folder.ts';
import { askShop, launchShop, queryShop, runningShop, runShop, type StartedShop } from './started-shop.ts';

const settledWithin = 20_000;

interface Letter {
  readonly consumer: string;
  readonly id: string;
  readonly deadAt: string;
}

let folder: string;
let dataDir: string;
let shop: StartedShop;
let running: RunningShop;
let token: string;
let orderId: string;

async function post(path: string, body?: object): Promise<{ id: string; access_token: string }> {
  const answer = await fetch(`${shop.gateway}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { id: string; access_token: string };
}

const query = <T extends object>(schema: string, text: string, values: unknown[] = []): Promise<T[]> =>
  queryShop<T>(running, schema, text, values);

const ask = <T>(...parameters: string[]): Promise<T> => askShop<T>(dataDir, ...parameters);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-operations-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  shop = await launchShop({ dataDir });
  const productId = /"productId":"([^"]+)"/.exec(await shop.ready)?.[1];
  running = await runningShop(dataDir);
  const who = { email: 'ada@shop.example', password: 'under the old oak' };
  await post('/v1/accounts', { name: 'Ada', ...who });
  await runShop(dataDir, 'accounts', 'verify-email', who.email);
  token = (await post('/v1/tokens', who)).access_token;
  orderId = (await post('/v1/orders', { items: [{ productId, quantity: 1 }] })).id;
  await post(`/v1/orders/${orderId}/cancel`);
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

describe('trace', () => {
  it('the command trace shows every step of a cancelled order by time', async () => {
    const rows = await eventually(async () => {
      const { code, output } = await runShop(dataDir, 'trace', orderId);
      expect(code).toBe(0);
      expect(output).toMatch(/order-cancelled sent/);
      expect(output).toMatch(/notification\.sent\.v1 taken by orders\.effects/);
      expect(output.match(/notification\.sent\.v1 published/g)).toHaveLength(2);
      expect(output).toMatch(/stock\.released\.v1 taken by orders\.effects/);
      return output.trimEnd().split('\n');
    }, settledWithin);
    expect(rows[0]).toMatch(new RegExp(`^Order ${orderId} of account [0-9a-f-]{36} is cancelled\\.$`));
    const [heading, ...steps] = rows.slice(2);
    expect(heading).toMatch(/^TIME +SERVICE +STEP +WHAT +REQUEST$/);
    const times = steps.map((line) => line.slice(0, 24));
    expect(times).toEqual([...times].sort());
    const expected = [
      /catalogue +reservation +reservation held/,
      /catalogue +movement +reserved 1 of .+: \d+ on hand, 1 promised/,
      /orders +transition +pending by customer [0-9a-f-]{36} +\S{8}/,
      /orders +event +order\.created\.v1 published after \d+ ms +\S{8}/,
      /catalogue +delivery +order\.created\.v1 taken by catalogue\.inventory +\S{8}/,
      /notifications +delivery +order\.created\.v1 taken by notifications\.mail +\S{8}/,
      /notifications +e-mail +order-received sent +\S{8}/,
      /orders +transition +cancelled by customer [0-9a-f-]{36} +\S{8}/,
      /orders +event +order\.cancelled\.v1 published after \d+ ms +\S{8}/,
      /catalogue +delivery +order\.cancelled\.v1 taken by catalogue\.inventory +\S{8}/,
      /catalogue +reservation +reservation released/,
      /catalogue +movement +released 1 of .+: \d+ on hand, 0 promised/,
      /catalogue +event +stock\.released\.v1 published after \d+ ms +\S{8}/,
      /notifications +delivery +order\.cancelled\.v1 taken by notifications\.mail +\S{8}/,
      /notifications +e-mail +order-cancelled sent +\S{8}/,
    ];
    for (const step of expected) expect(steps.filter((line) => step.test(line))).toHaveLength(1);
    expect(steps.filter((line) => /notifications +event +notification\.sent\.v1 published/.test(line))).toHaveLength(2);
    const effects = steps.filter((line) => /orders +delivery +.* taken by orders\.effects/.test(line));
    const updates = steps.filter((line) => /orders +event +order\.updated\.v1 /.test(line));
    expect(steps).toHaveLength(expected.length + 2 + effects.length + updates.length);
  });

  it('the JSON of the command trace contains the request id of each transition, which is also that of its events', async () => {
    const { steps } = await ask<{ steps: { kind: string; type?: string; status?: string; requestId: string }[] }>(
      'trace',
      orderId.toUpperCase(),
    );
    const cancelled = steps.find(({ status }) => status === 'cancelled');
    const caused = steps.filter(({ type }) => type === 'order.cancelled.v1' || type === 'stock.released.v1');
    expect(caused).toHaveLength(5); // two sent, one taken by two, one by one
    expect(new Set(caused.map(({ requestId }) => requestId))).toEqual(new Set([cancelled?.requestId]));
  });

  it('the command trace reports an unknown or invalid id in one line', async () => {
    const unknown = newId();
    expect(await runShop(dataDir, 'trace', unknown)).toEqual({
      code: 1,
      output: '',
      complaints: `there is no order ${unknown}: npm run shop -- orders list shows the newest\n`,
    });
    expect(await runShop(dataDir, 'trace', '4711')).toMatchObject({
      code: 2,
      output: '',
      complaints: expect.stringMatching(/It must be the id of an order, a UUID/),
    });
  });
});

describe('emails', () => {
  it('the command emails lists the e-mails of an order, and sends one again as another e-mail', async () => {
    const emails = await eventually(async () => {
      const found = await askShop<{ id: string; kind: string; status: string }[]>(dataDir, 'emails', 'list', orderId);
      expect(found.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
        'order-received sent',
        'order-cancelled sent',
      ]);
      return found;
    }, settledWithin);
    const { output } = await runShop(dataDir, 'emails', 'list', orderId);
    expect(output).toMatch(/^E-MAIL +KIND +STATUS +ADDRESS +CREATED +SETTLED +PROBLEM\n/);
    expect(output).toContain('ada@shop.example');
    const id = emails[0]?.id ?? '';
    expect(await runShop(dataDir, 'emails', 'resend', id)).toEqual({
      code: 0,
      output: 'order-received is sent again to ada@shop.example\n',
      complaints: '',
    });
    await eventually(async () => {
      const files = (await readdir(join(dataDir, 'mail'))).filter((name) => name.startsWith(orderId)).sort();
      expect(files).toEqual([
        `${orderId}.order-cancelled.eml`,
        `${orderId}.order-received.again-1.eml`,
        `${orderId}.order-received.eml`,
      ]);
    }, settledWithin);
    const again = await readFile(join(dataDir, 'mail', `${orderId}.order-received.again-1.eml`), 'utf8');
    expect(again).toContain(`<order-received.again-1.${orderId}@shop.example>`);
  });

  it('the command emails rejects an unknown e-mail, and one with a token', async () => {
    const unknown = '01931f6e-2d00-7c3a-8d51-5f3b6a1c0a01';
    expect(await runShop(dataDir, 'emails', 'resend', unknown)).toMatchObject({
      code: 1,
      complaints: `there is no e-mail ${unknown}: npm run shop -- emails list ORDER shows those of an order\n`,
    });
    const [token] = await queryShop<{ id: string }>(
      running,
      'notifications',
      "SELECT id FROM notifications WHERE kind = 'email-verification'",
    );
    expect(await runShop(dataDir, 'emails', 'resend', token?.id ?? '')).toMatchObject({
      code: 1,
      complaints: 'its token works once, so the holder of the account has to ask for another\n',
    });
  });
});

describe('stock verify', () => {
  it('the command stock verify counts products, movements and reservations', async () => {
    const { code, output } = await runShop(dataDir, 'stock', 'verify');
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/^All adds up: \d+ products, \d+ movements, 1 reservation\.\n$/),
    });
  });

  it('the command stock verify names the first movement that was changed in the database', async () => {
    const tamper = (by: number) =>
      query('catalogue', `UPDATE stock_ledger SET quantity = quantity + $2 WHERE order_id = $1 AND kind = 'released'`, [
        orderId,
        by,
      ]);
    await tamper(1);
    const { code, output } = await runShop(dataDir, 'stock', 'verify');
    const report = await ask<{ faults: { movement?: { id: number; orderId: string } }[] }>('stock', 'verify');
    await tamper(-1);
    expect(code).toBe(1);
    expect(report.faults[0]?.movement).toMatchObject({ orderId });
    expect(output).toMatch(/^WHERE +PRODUCT +WHAT\nmovement \d+ \(released 2, \S+Z\) .* but the ledger says /);
    expect(output).toMatch(
      new RegExp(
        `The first that does not add up: movement ${report.faults[0]?.movement?.id} \\(.+\\)\\.\nWhat to do: `,
      ),
    );
    expect(await runShop(dataDir, 'stock', 'verify')).toMatchObject({ code: 0 });
  });
});

describe('stock holds', () => {
  it('the command stock holds lists the units that accounts reserve in unprocessed orders', async () => {
    expect((await runShop(dataDir, 'stock', 'holds')).output).toBe(
      'No account holds stock in orders that nobody has begun to process.\n',
    );
    const productId = /"productId":"([^"]+)"/.exec(shop.output())?.[1];
    const { id } = await post('/v1/orders', { items: [{ productId, quantity: 2 }] });
    expect((await runShop(dataDir, 'stock', 'holds')).output).toMatch(
      /^ACCOUNT +ORDERS +UNITS\n[0-9a-f-]{36} +1 +2\n$/,
    );
    await post(`/v1/orders/${id}/cancel`);
    await eventually(
      async () => expect(await askShop(dataDir, 'stock', 'holds', '--limit', '5')).toEqual([]),
      settledWithin,
    );
  });
});

describe('events republish', () => {
  it('the command events republish republishes the events since a time, and consumers ignore those that they have handled', async () => {
    const handled = ['order.created.v1', 'order.cancelled.v1'];
    const old = 'SELECT id FROM outbox WHERE type = ANY ($1) AND (published_at IS NULL OR published_at <= $2)';
    const began = new Date().toISOString();
    const republished = await ask<{ service: string; events: number }[]>(
      'events',
      'republish',
      '--since',
      '2020-01-01',
      '--consumer',
      'catalogue.inventory',
    );
    expect(republished.map(({ service }) => service)).toEqual(serviceNames);
    expect(republished.find(({ service }) => service === 'orders')?.events).toBeGreaterThan(0);
    expect(republished.find(({ service }) => service === 'accounts')?.events).toBe(0);
    await eventually(async () => expect(await query('orders', old, [handled, began])).toEqual([]), settledWithin);
    expect((await runShop(dataDir, 'events', 'republish')).code).toBe(2);
    const { output } = await runShop(dataDir, 'events', 'republish', '--since', '2100-01-01');
    expect(output).toContain('orders publishes 0 events again\n');
  });
});

describe('events dead', () => {
  const list = () => ask<Letter[]>('events', 'dead', 'list');
  const of = (letters: readonly Letter[], consumer: string) => letters.find((letter) => letter.consumer === consumer);

  it('the command events dead reports that no dead letters exist', async () => {
    expect((await runShop(dataDir, 'events', 'dead', 'list')).output).toBe('There are no dead letters.\n');
    const unknown = newId();
    for (const verb of ['show', 'replay', 'discard']) {
      const answer = await runShop(dataDir, 'events', 'dead', verb, unknown);
      expect(answer).toEqual({
        code: 1,
        output: '',
        complaints: `there is no dead letter ${unknown}: npm run shop -- events dead list shows those that are there\n`,
      });
    }
    expect(await runShop(dataDir, 'events', 'dead', 'replay')).toMatchObject({ code: 2, output: '' });
  });

  it('the command events dead lists an invalid event, shows its fault, replays it to one consumer, and discards it', async () => {
    const event = 'INSERT INTO outbox (id, type, subject, sequence, request_id, data) VALUES ($1, $2, $3, 1, $4, $5)';
    await query('orders', event, [newId(), 'order.shipped.v9', orderId, 'of-the-test', '{"reason":"\u009b31m"}']);
    const letters = await eventually(async () => {
      const found = await list();
      expect(found).toHaveLength(3);
      return found;
    }, settledWithin);
    const table = (await runShop(dataDir, 'events', 'dead', 'list')).output;
    for (const consumer of ['catalogue.inventory', 'changes.feed', 'notifications.mail']) {
      expect(table).toMatch(
        new RegExp(
          `^${consumer} +\\S+ +order\\.shipped\\.v9 +${orderId} +1 +\\S+Z +PoisonError: unknown event type`,
          'm',
        ),
      );
    }
    const before = of(letters, 'catalogue.inventory');
    const kept = letters.filter((letter) => letter !== before);
    const shown = await runShop(dataDir, 'events', 'dead', 'show', before?.id ?? '');
    expect(shown.output).toMatch(/^reason +PoisonError: unknown event type or version order\.shipped\.v9$/m);
    expect(shown.output).toContain('"requestid":"of-the-test"');
    expect(shown.output).toContain('\\u009b31m');
    expect(shown.output).not.toContain('\u009b');

    const only = ['--consumer', 'catalogue.inventory'];
    const replayed = await runShop(dataDir, 'events', 'dead', 'replay', before?.id ?? '', ...only);
    expect(replayed).toEqual({ code: 0, output: `replayed ${before?.id} (catalogue.inventory)\n`, complaints: '' });
    // The consumer handled the event once more, and refused it again.
    const after = await eventually(async () => {
      const found = await list();
      expect(of(found, 'catalogue.inventory')?.deadAt).toBeDefined();
      expect(of(found, 'catalogue.inventory')?.deadAt).not.toBe(before?.deadAt);
      return found;
    }, settledWithin);
    expect(after.filter(({ consumer }) => consumer !== 'catalogue.inventory')).toEqual(kept);

    expect(await ask('events', 'dead', 'discard', '--all', ...only)).toHaveLength(1);
    expect(await list()).toEqual(kept);
    const discarded = await runShop(dataDir, 'events', 'dead', 'discard', before?.id ?? '');
    const output = kept.map(({ id, consumer }) => `discarded ${id} (${consumer})\n`).join('');
    expect(discarded).toMatchObject({ code: 0, output });
    expect(await list()).toEqual([]);
  });
});

describe('on the stopped shop', () => {
  it('on a stopped shop, the command line traces orders, verifies the stock and lists dead letters', async () => {
    await shop.end();
    const { steps } = await ask<{ steps: { type?: string }[] }>('trace', orderId);
    expect(steps.filter(({ type }) => type === 'stock.released.v1')).toHaveLength(2);
    expect(await runShop(dataDir, 'stock', 'verify')).toMatchObject({ code: 0 });
    expect(await ask('events', 'dead', 'list')).toEqual([]);
  });
});
