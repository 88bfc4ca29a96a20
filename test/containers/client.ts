// A client of the shop that docker-compose.yml starts, and customers who order continuously.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { type AnswerBody, eventually } from '../../shared/src/testing/index.ts';
import type { ComposeShop } from './compose-shop.ts';
import { startLoad } from './load.ts';

export interface Customer {
  readonly email: string;
  token: string;
}

export type Answer = { readonly status: number; readonly body: AnswerBody };

export interface Client {
  call(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
  /** Registers an account, verifies its e-mail address, grants it scopes and logs it in. */
  register(...scopes: string[]): Promise<Customer>;
  createProduct(staff: Customer, stock: number): Promise<string>;
  /** The file names of the e-mails that were sent. */
  mails(): Promise<string[]>;
}

export interface Shopping {
  /** Ends after the requests in flight. */
  stop(): Promise<{
    readonly requests: number;
    readonly failures: readonly string[];
    readonly placed: readonly string[];
  }>;
}

export const password = 'a lantern in the fog';

export function clientOf(shop: ComposeShop): Client {
  async function call(method: string, path: string, token?: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`${shop.url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  async function register(...scopes: string[]): Promise<Customer> {
    const email = `${randomUUID()}@example.com`;
    expect(await call('POST', '/v1/accounts', undefined, { email, name: 'Robin', password })).toMatchObject({
      status: 201,
    });
    await verify(email);
    if (scopes.length > 0) {
      expect(await shop.operate(undefined, 'staff', 'grant', email, ...scopes)).toMatchObject({
        exitCode: 0,
      });
    }
    const answer = await call('POST', '/v1/tokens', undefined, { email, password });
    expect(answer.status).toBe(200);
    return { email, token: answer.body.access_token };
  }

  /** Sends the token of the verification e-mail back, as a customer does. */
  async function verify(email: string): Promise<void> {
    const tokens = `const { readdirSync, readFileSync } = require('node:fs');
      const mails = readdirSync('/data/mail').filter((name) => name.endsWith('.email-verification.eml'));
      const texts = mails.map((name) => readFileSync('/data/mail/' + name, 'latin1').replaceAll('=\\r\\n', ''));
      const own = texts.filter((text) => text.includes('To: ${email}') || text.includes('<${email}>'));
      console.log(JSON.stringify(own.map((text) => /^([A-Za-z0-9_-]{43})\\r$/m.exec(text)?.[1])))`;
    const token = await eventually(async () => {
      const [found] = await shop.script<string[]>('notifications', tokens);
      if (found === undefined) throw new Error(`${email} has no verification e-mail`);
      return found;
    }, 20_000);
    expect(await call('POST', '/v1/email-verifications', undefined, { token })).toMatchObject({ status: 204 });
  }

  async function createProduct(staff: Customer, stock: number): Promise<string> {
    const product = {
      name: 'Brass lantern',
      brand: 'Fjord',
      category: 'lighting',
      price: 49.9,
      status: 'active',
      stock,
    };
    const created = await call('POST', '/v1/products', staff.token, product);
    expect(created.status).toBe(201);
    return created.body.id;
  }

  async function mails(): Promise<string[]> {
    return shop.script('notifications', "console.log(JSON.stringify(require('node:fs').readdirSync('/data/mail')))");
  }

  return { call, register, createProduct, mails };
}

/**
 * Registers customers, who read, change their account and order until it is stopped. Their requests have no idempotency
 * keys, because requests that the gateway must not repeat must not fail either.
 */
export async function startShopping({ call, register, createProduct }: Client): Promise<Shopping> {
  const productId = await createProduct(await register('catalogue:write'), 1_000_000);
  // There are enough customers that none of them reaches a limit. They are created one after the other, because
  // accounts refuses log-ins that do not fit into its queue.
  const customers: Customer[] = [];
  while (customers.length < 40) customers.push(...(await Promise.all(Array.from({ length: 8 }, () => register()))));
  const placed: string[] = [];
  const expectStatus = (what: string, { status, body }: Answer, expected: number): void => {
    if (status !== expected) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  };
  const load = startLoad(4, async (number) => {
    const { token } = customers[number % customers.length] as Customer;
    expectStatus('products', await call('GET', '/v1/products?limit=5'), 200);
    expectStatus('account', await call('PATCH', '/v1/accounts/me', token, { name: `Robin ${number}` }), 200);
    const answer = await call('POST', '/v1/orders', token, { items: [{ productId, quantity: 1 }] });
    expectStatus('order', answer, 201);
    placed.push(answer.body.id);
    expectStatus('orders', await call('GET', '/v1/orders?limit=5', token), 200);
  });
  return { stop: async () => ({ ...(await load.stop()), placed }) };
}

/** Waits until each of these orders has exactly one e-mail, so that nothing was lost or done twice. */
export async function expectOneMailEach({ mails }: Client, placed: readonly string[]): Promise<void> {
  await eventually(async () => {
    const orders = (await mails()).map((name) => name.slice(0, 36)).filter((id) => placed.includes(id));
    expect(orders.sort()).toEqual([...placed].sort());
  }, 60_000);
}
