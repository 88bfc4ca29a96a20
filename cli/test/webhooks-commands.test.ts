// The commands webhooks, changes and listeners, on a running shop.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { askShop, launchShop, runShop, type StartedShop, startCommand } from './started-shop.ts';

interface Webhook {
  readonly id: string;
  readonly ownerId: string;
  readonly status: string;
}

interface Change {
  readonly id: string;
  readonly type: string;
  readonly resource: string;
}

let folder: string;
let dataDir: string;
let shop: StartedShop;
let token: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-webhooks-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  shop = await launchShop({ dataDir });
  await shop.ready;
  const who = { email: 'ada@shop.example', password: 'under the old oak' };
  await send('POST', '/v1/accounts', { name: 'Ada', ...who });
  await run('staff', 'grant', who.email, 'webhooks:write', 'catalogue:write');
  token = (await send('POST', '/v1/tokens', who)).access_token ?? '';
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

const run = (...parameters: string[]) => runShop(dataDir, ...parameters);
const ask = <T>(...parameters: string[]): Promise<T> => askShop<T>(dataDir, ...parameters);

async function send(method: string, path: string, body: object): Promise<Readonly<Record<string, string>>> {
  const answer = await fetch(`${shop.gateway}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

const addWebhook = (types: readonly string[]) =>
  send('POST', '/v1/webhooks', { url: 'https://warehouse.invalid/shop', types });
const addProduct = () =>
  send('POST', '/v1/products', { name: 'Jug', brand: 'Acme', category: 'kitchen', price: 10, stock: 3 });

it('webhooks lists, shows, pauses, continues and replays the webhooks of all owners', async () => {
  expect((await run('webhooks', 'list')).output).toBe('There are no webhooks.\n');
  const { id = '' } = await addWebhook(['product']);
  const [webhook] = await ask<Webhook[]>('webhooks', 'list');
  expect(webhook).toMatchObject({ id, scopes: ['catalogue:write', 'webhooks:write'], parked: 0 });
  expect(await ask('webhooks', 'list', '--owner', newId())).toEqual([]);
  expect(await ask('webhooks', 'list', '--owner', webhook?.ownerId ?? '')).toHaveLength(1);
  expect((await run('webhooks', 'list')).output).toMatch(
    /^WEBHOOK +STATUS +URL +TYPES +BEHIND +PARKED +FAILING SINCE +OWNER\n/,
  );
  expect(await ask('webhooks', 'pause', id)).toMatchObject({ id, status: 'paused' });
  expect((await run('webhooks', 'show', id)).output).toMatch(/^status +paused$/m);
  expect(await ask('webhooks', 'resume', id)).toMatchObject({ status: 'unverified' });
  await ask('webhooks', 'pause', id);
  expect(await ask('webhooks', 'replay', id, '--from', '2026-01-01')).toMatchObject({ id, status: 'paused' });
  expect(Array.isArray(await ask('webhooks', 'attempts', id, '--limit', '5'))).toBe(true);
  for (const parameters of [['show'], ['pause'], ['attempts'], ['replay', '--from', '2026-01-01']]) {
    const [verb = '', ...others] = parameters;
    const { code, complaints } = await run('webhooks', verb, id.replace(/^./, 'f'), ...others);
    expect([code, complaints]).toEqual([
      1,
      `there is no webhook ${id.replace(/^./, 'f')}: npm run shop -- webhooks list shows those that are there\n`,
    ]);
  }
});

it('changes tail prints each change as it happens, and webhooks why explains it', async () => {
  const { id: follows = '' } = await addWebhook(['product']);
  const { id: others = '' } = await addWebhook(['return']);
  await run('webhooks', 'pause', follows);
  const { child, ended } = startCommand(dataDir, 'changes', 'tail', '--types', 'product', '--json');
  const changes: Change[] = [];
  if (child.stdout === null) throw new Error('the command has an output');
  createInterface(child.stdout).on('line', (line) => changes.push(JSON.parse(line) as Change));
  // The command begins at the newest change, so products are added until it has seen one.
  const seen = await eventually(async () => {
    await addProduct();
    const found = changes.find(({ type }) => type === 'product.created.v1');
    expect(found?.resource).toMatch(/^\/v1\/products\//);
    return found;
  }, 20_000);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 0, complaints: '' });

  const why = await ask<{ webhookId: string; state: string }[]>('webhooks', 'why', seen?.id ?? '');
  const stateOf = (id: string) => why.find(({ webhookId }) => webhookId === id)?.state;
  expect([stateOf(follows), stateOf(others)]).toEqual(['waiting', 'not-followed']);
  expect((await run('webhooks', 'why', seen?.id ?? '')).output).toMatch(
    /^WEBHOOK +URL +STATUS +CHANGE +ATTEMPTS +LAST ERROR +NEXT ATTEMPT\n/,
  );
  const unknown = await run('webhooks', 'why', newId());
  expect([unknown.code, unknown.complaints]).toEqual([1, expect.stringMatching(/^the feed has no change /)]);
});

it('listeners adds a queue of events and a login that consumes from it, lists it, and removes it', async () => {
  expect((await run('listeners', 'list')).output).toMatch(/^There are no listeners: /);
  const added = await run('listeners', 'add', 'warehouse', '--types', 'product.created.v1', 'order.paid.v1');
  expect(added).toMatchObject({ code: 0, complaints: '' });
  expect(added.output).toMatch(/^listener +warehouse\n/);
  expect(added.output).toMatch(/^The password is not stored and cannot be shown again\.$/m);
  const url = /^url +(\S+)$/m.exec(added.output)?.[1] ?? '';
  const consume = () =>
    withClient({ url }, async (client) => (await client.query('DELETE FROM listener_warehouse RETURNING event')).rows);
  const { id } = await addProduct();
  await eventually(async () =>
    expect(await ask('listeners', 'list')).toEqual([
      { name: 'warehouse', types: ['order.paid.v1', 'product.created.v1'], backlog: 1 },
    ]),
  );
  expect((await run('listeners', 'list')).output).toMatch(/^LISTENER +BACKLOG +TYPES\n/);
  expect(await consume()).toEqual([
    { event: expect.objectContaining({ type: 'product.created.v1', subject: id, source: '/catalogue' }) },
  ]);

  expect(await run('listeners', 'add', 'warehouse', '--types', 'order.paid.v1')).toMatchObject({
    code: 1,
    complaints: 'there is a listener warehouse already: remove it first, or choose another name\n',
  });
  for (const [name, type, complaint] of [
    ['ware house', 'order.paid.v1', /It must be a lower-case letter and at most 29 of a-z, 0-9 and _/],
    ['another', 'order.payed.v1', /argument 'order\.payed\.v1' is invalid\. Allowed choices are .*order\.paid\.v1/],
  ] as const) {
    const { code, complaints } = await run('listeners', 'add', name, '--types', type);
    expect([code, complaints]).toEqual([2, expect.stringMatching(complaint)]);
  }
  expect(await ask('listeners', 'remove', 'warehouse')).toEqual({ name: 'warehouse' });
  await expect(consume()).rejects.toThrow();
  expect(await run('listeners', 'remove', 'warehouse')).toMatchObject({
    code: 1,
    complaints: 'there is no listener warehouse\n',
  });
});

it('listeners of a shop with RabbitMQ name the setting that is missing', async () => {
  const environment = { EVENTS_URL: 'amqp://guest:guest@localhost:5672' };
  expect(await runShop(dataDir, environment, 'listeners', 'list')).toMatchObject({
    code: 1,
    complaints: expect.stringMatching(/^set EVENTS_ADMIN_URL to the management interface of RabbitMQ /),
  });
});
