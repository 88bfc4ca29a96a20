// Every command that prints a table fits a terminal of 60 columns, on a running shop.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { askShop, launchShop, queryShop, runningShop, runShop, type StartedShop } from './started-shop.ts';

const columns = 60;
/** Gives the output of a pipe the width of a terminal. */
const narrow = { COLUMNS: String(columns) };
const ada = { email: 'ada.lovelace.of.the.engine@shop.example', password: 'under the old oak' };

let folder: string;
let dataDir: string;
let shop: StartedShop;
let accountId: string;
let orderId: string;
let letterId: string;

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Record<string, string>> {
  const answer = await fetch(`${shop.gateway}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-narrow-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  shop = await launchShop({ dataDir });
  await shop.ready;
  ({ id: accountId = '' } = await post('/v1/accounts', { name: 'Ada Lovelace', ...ada }));
  const { access_token: token } = await post('/v1/tokens', ada);
  const products = await fetch(`${shop.gateway}/v1/products?status=available&limit=2`);
  const { items } = (await products.json()) as { items: { id: string }[] };
  const order = { items: items.map(({ id }) => ({ productId: id, quantity: 2 })) };
  ({ id: orderId = '' } = await post('/v1/orders', order, { Authorization: `Bearer ${token}` }));
  await runShop(dataDir, 'accounts', 'verify-email', ada.email);
  await runShop(dataDir, 'staff', 'grant', ada.email, 'orders:fulfil', 'payments:write');
  await runShop(dataDir, 'machines', 'create', 'payments-adapter', '--scope', 'payments:write');
  letterId = await makeDeadLetter();
  await makeRefund();
  await queryShop(await runningShop(dataDir), 'catalogue', 'UPDATE products SET stock = stock + 1 WHERE id = $1', [
    items[0]?.id,
  ]);
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

/** A payment of another amount than that of the order, which is refused and has to be paid back. */
async function makeRefund(): Promise<void> {
  const { access_token: token } = await post('/v1/tokens', ada);
  const { status } = await fetch(`${shop.gateway}/v1/orders/${orderId}/payments`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount: 999_999, currency: 'EUR', reference: 'pay 1' }),
  });
  expect(status).toBe(409);
}

/** An event of an unknown type, which its consumers give up. @returns the id of one of the dead letters */
async function makeDeadLetter(): Promise<string> {
  await queryShop(
    await runningShop(dataDir),
    'orders',
    'INSERT INTO outbox (id, type, subject, sequence, request_id, data) VALUES ($1, $2, $3, 1, $4, $5)',
    [newId(), 'order.shipped.v9', orderId, 'of-the-test', '{}'],
  );
  return eventually(async () => {
    const [letter] = await askShop<{ id: string }[]>(dataDir, 'events', 'dead', 'list');
    if (letter === undefined) throw new Error('no dead letter yet');
    return letter.id;
  }, 60_000);
}

describe('a terminal of 60 columns', () => {
  it.each<[string[], string]>([
    [['status'], 'PROCESS'],
    [['doctor'], 'CHECK'],
    [['orders', 'list'], 'ORDER'],
    [['orders', 'count'], 'STATUS'],
    [['orders', 'refunds'], 'ORDER'],
    [['orders', 'show', 'ORDER'], 'QUANTITY'],
    [['trace', 'ORDER'], 'TIME'],
    [['emails', 'list', 'ORDER'], 'E-MAIL'],
    [['events', 'dead', 'list'], 'CONSUMER'],
    [['events', 'dead', 'show', 'LETTER'], 'consumer'],
    [['stock', 'holds'], 'ACCOUNT'],
    [['stock', 'verify'], 'WHERE'],
    [['staff', 'list'], 'EMAIL'],
    [['machines', 'list'], 'NAME'],
    [['machines', 'rotate', 'payments-adapter'], 'client_id'],
    [['accounts', 'find', 'ada'], 'EMAIL'],
    [['accounts', 'show', ada.email], 'account'],
    [['accounts', 'sessions', ada.email], 'SESSION'],
    [['accounts', 'audit', ada.email], 'TIME'],
    [['accounts', 'verify-erased', 'ACCOUNT'], 'WHERE'],
    [['audit'], 'TIME'],
    [['keys', 'list'], 'KEY'],
  ])('a terminal of 60 columns fits the table of %j', async (words, heading) => {
    const names: Readonly<Record<string, string>> = { ACCOUNT: accountId, ORDER: orderId, LETTER: letterId };
    const { output, complaints } = await runShop(dataDir, narrow, ...words.map((word) => names[word] ?? word));
    expect(complaints).toBe('');
    expect(output).toMatch(new RegExp(`^${heading} {2,}\\S`, 'm'));
    // Sentences may be longer: a terminal wraps them as it wraps any text. Columns are divided by two spaces.
    const tooLong = output.split('\n').filter((line) => line.length > columns && / {2}/.test(line));
    expect(tooLong).toEqual([]);
  });
});
