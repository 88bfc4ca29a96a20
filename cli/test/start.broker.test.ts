// `npm start` with EVENTS_URL=amqp://…: an order, its cancellation, the released stock, the e-mails, and status and
// dead letters of a shop whose events are not in its database.
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, testBroker } from '@shop/shared/testing';
import { launchShop, queryShop, runningShop, runShop, type StartedShop } from './started-shop.ts';

const settledWithin = 40_000;

let folder: string;
let dataDir: string;
let shop: StartedShop;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-broker-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  environment = { EVENTS_URL: await testBroker() };
  shop = await launchShop({ dataDir, environment });
  await shop.ready;
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

let token = '';

async function post(path: string, body?: object): Promise<{ id: string; access_token: string }> {
  const answer = await fetch(`${shop.gateway}${path}`, {
    method: 'POST',
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { id: string; access_token: string };
}

const inDatabase = async <T extends object>(schema: string, text: string, values: unknown[] = []): Promise<T[]> =>
  queryShop<T>(await runningShop(dataDir), schema, text, values);

it('a shop with RabbitMQ sells, cancels and notifies over the broker alone', async () => {
  const ada = { email: 'ada@shop.example', password: 'under the old oak' };
  await post('/v1/accounts', { name: 'Ada', ...ada });
  await runShop(dataDir, 'accounts', 'verify-email', ada.email);
  token = (await post('/v1/tokens', ada)).access_token;
  const productId = /"productId":"([^"]+)"/.exec(shop.output())?.[1];
  const promised = async () =>
    (
      await inDatabase<{ n: number }>('catalogue', 'SELECT reserved + oversold AS n FROM products WHERE id = $1', [
        productId,
      ])
    )[0]?.n;
  const { id } = await post('/v1/orders', { items: [{ productId, quantity: 1 }] });
  expect(await promised()).toBe(1);
  const mails = async () => (await readdir(join(dataDir, 'mail'))).filter((name) => name.startsWith(id));
  // A confirmation that waits when the order is cancelled is not sent.
  await eventually(async () => expect(await mails()).toHaveLength(1), settledWithin);
  await post(`/v1/orders/${id}/cancel`);
  await eventually(async () => {
    const answer = await fetch(`${shop.gateway}/v1/orders/${id}`, { headers: { Authorization: `Bearer ${token}` } });
    expect(await answer.json()).toMatchObject({
      status: 'cancelled',
      cancellation: { stockReleased: { state: 'done' }, customerNotified: { state: 'done' } },
    });
  }, settledWithin);
  expect(await promised()).toBe(0);
  const sent = await mails();
  expect(sent).toHaveLength(2);
  const texts = await Promise.all(sent.map((name) => readFile(join(dataDir, 'mail', name), 'utf8')));
  for (const text of texts) expect(text).toContain('ada@shop.example');
  // The queue in PostgreSQL was not used, because it was not created.
  expect(await inDatabase('events', "SELECT to_regclass('events.job') AS job")).toEqual([{ job: null }]);
});

it('the command status shows waiting events and dead letters of a running and of a stopped shop', async () => {
  await inDatabase(
    'orders',
    'INSERT INTO outbox (id, type, subject, sequence, request_id, data) VALUES ($1, $2, $3, 1, $4, $5)',
    [newId(), 'order.created.v9', newId(), 'of-the-test', '{}'],
  );
  const counts = async (): Promise<unknown> => {
    const { output } = await runShop(dataDir, environment, 'status', '--json');
    return (JSON.parse(output) as { deadLetters: unknown }).deadLetters;
  };
  const expected = [
    { consumer: 'catalogue.inventory', letters: 1, retrying: 0 },
    { consumer: 'changes.feed', letters: 1, retrying: 0 },
    { consumer: 'notifications.mail', letters: 1, retrying: 0 },
    { consumer: 'orders.effects', letters: 0, retrying: 0 },
  ];
  await eventually(async () => expect(await counts()).toEqual(expected), settledWithin);
  await shop.end();
  expect(await counts()).toEqual(expected);
  const away = await runShop(
    dataDir,
    { EVENTS_URL: 'amqp://127.0.0.1:1', GATEWAY_PORT: new URL(shop.gateway).port },
    'doctor',
    '--json',
  );
  expect(away.code).toBe(1);
  const { findings } = JSON.parse(away.output) as { findings: { check: string; state: string; remedy?: string }[] };
  expect(findings.filter(({ state }) => state === 'failed')).toEqual([
    expect.objectContaining({ check: 'events', remedy: expect.stringContaining('EVENTS_URL') }),
  ]);
});
