// What clients have from one release and use with the other: cursors, idempotency keys, tokens, and e-mails.
import { readdir } from 'node:fs/promises';
import { expect } from '@jest/globals';
import { type AnswerBody, eventually } from '@shop/shared/testing';
import { password, register } from '../../faults/outages/accounts.ts';
import { placeOrder } from '../../faults/outages/buyers.ts';
import type { Journal, OrderOutcome } from '../../faults/outages/journal.ts';
import type { UpgradedShop } from './upgraded-shop.ts';

/** All that one customer has from one release. */
export interface Possessions {
  readonly email: string;
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** An order whose e-mail waits for the verification of the address, and the body of its response. */
  readonly order: OrderOutcome;
  readonly view: AnswerBody;
  /** The list of orders, and that of products. */
  readonly lists: readonly List[];
  readonly verificationToken: string;
}

/** The ids in a list, and the cursor after the first one. */
export interface List {
  readonly path: string;
  readonly ids: readonly string[];
  readonly cursor: string;
}

export interface Result {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: AnswerBody;
}

interface Sent {
  readonly token?: string;
  readonly key?: string;
  readonly body?: object;
}

const arriveWithin = 60_000;

/** Sends a request: a POST when there is a body, otherwise a GET. */
export async function send(shop: UpgradedShop, path: string, { token, key, body }: Sent = {}): Promise<Result> {
  const answer = await fetch(`${shop.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    replayed: answer.headers.get('idempotency-replayed') === 'true',
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** Registers a customer that gets all of it from the running release. */
export async function acquire(
  shop: UpgradedShop,
  journal: Journal,
  productIds: readonly string[],
  name: string,
): Promise<Possessions> {
  const accountId = await register(journal, shop.url, name);
  const email = `${name}@example.com`;
  const logIn = await send(shop, '/v1/tokens', { body: { email, password } });
  expect(logIn.status).toBe(200);
  const { access_token: accessToken, refresh_token: refreshToken } = logIn.body;
  const orders: OrderOutcome[] = [];
  for (const productId of productIds.slice(0, 3)) {
    const order: OrderOutcome = {
      key: `${name}-${productId}`,
      accountId,
      lines: [{ productId, quantity: 1 }],
    };
    journal.orders.push(order);
    await placeOrder(journal, shop.url, accessToken, order);
    orders.push(order);
  }
  const [order] = orders;
  if (order === undefined) throw new Error('there are no products');
  return {
    email,
    accountId,
    accessToken,
    refreshToken,
    order,
    view: (await repeat(shop, accessToken, order)).body,
    lists: await Promise.all(['/v1/orders', '/v1/products'].map((path) => readList(shop, path, accessToken))),
    verificationToken: await emailToken(shop, email, 'email-verification'),
  };
}

async function readList(shop: UpgradedShop, path: string, token: string): Promise<List> {
  const all = await send(shop, path, { token });
  const first = await send(shop, `${path}?limit=1`, { token });
  return { path, ids: all.body.items.map(({ id }) => id), cursor: first.body.pagination.nextCursor ?? 'none' };
}

/** Sends the order once more with its key. */
export function repeat(shop: UpgradedShop, token: string, { key, lines }: OrderOutcome): Promise<Result> {
  return send(shop, '/v1/orders', { token, key, body: { items: lines } });
}

/** Waits for the e-mail of this kind to the address, and returns the token in it. */
export function emailToken(shop: UpgradedShop, email: string, kind: string): Promise<string> {
  return eventually(async () => {
    const [text] = await shop.emailsTo(email, kind);
    const token = text === undefined ? undefined : /^([A-Za-z0-9_-]{43})\r$/m.exec(text)?.[1];
    if (token === undefined) throw new Error(`${email} has no e-mail ${kind} with a token`);
    return token;
  }, arriveWithin);
}

/** Waits until the folder has an e-mail about the order. */
export async function untilEmailed(shop: UpgradedShop, { orderId = 'no order' }: OrderOutcome): Promise<void> {
  await eventually(async () => expect(await emailsAbout(shop, orderId)).toBeGreaterThan(0), arriveWithin);
}

export async function emailsAbout(shop: UpgradedShop, orderId: string): Promise<number> {
  return (await readdir(shop.mailFolder)).filter((name) => name.startsWith(orderId)).length;
}
