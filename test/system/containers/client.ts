// A client of the shop that docker-compose.yml starts, and customers who order continuously.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { type AnswerBody, eventually } from '../../../shared/src/testing/index.ts';
import type { ComposeShop } from './compose-shop.ts';
import { startLoad } from './load.ts';

export interface Customer {
  readonly email: string;
  token: string;
  refreshToken: string;
}

export type Answer = { readonly status: number; readonly body: AnswerBody };

export interface Client {
  call(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
  /** Registers an account, verifies its e-mail address, grants it scopes and logs it in. */
  register(...scopes: string[]): Promise<Customer>;
  createProduct(staff: Customer, stock: number): Promise<string>;
  /** The file names of the e-mails that were sent. */
  mails(): Promise<string[]>;
  /** The addresses of all e-mails of this kind, with the tokens that they contain. */
  tokensSent(kind: 'email-verification' | 'password-reset'): Promise<SentToken[]>;
}

export interface SentToken {
  readonly email: string;
  readonly token: string;
}

export interface Shopping {
  /** Ends after the requests in flight. */
  stop(): Promise<Shopped>;
}

export interface Shopped {
  readonly requests: number;
  readonly failures: readonly string[];
  /** The ids of the orders. */
  readonly placed: readonly string[];
  /** The addresses for which a password reset was requested, once for each request. */
  readonly resets: readonly string[];
  /** A customer, and a cursor that this customer got with one of the first responses. */
  readonly kept: { readonly customer: Customer; readonly cursor: string } | undefined;
}

export const password = 'a lantern in the fog';
/** Milliseconds between two password resets. So few of them reach no limit of an address or an account. */
const betweenResets = 15_000;

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
    return { email, token: answer.body.access_token, refreshToken: answer.body.refresh_token };
  }

  /** Sends the token of the verification e-mail back, as a customer does. */
  async function verify(email: string): Promise<void> {
    const token = await eventually(async () => {
      const found = (await tokensSent('email-verification')).find((sent) => sent.email === email);
      if (found === undefined) throw new Error(`${email} has no verification e-mail`);
      return found.token;
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

  async function tokensSent(kind: string): Promise<SentToken[]> {
    return shop.script(
      'notifications',
      `const { readdirSync, readFileSync } = require('node:fs');
       const mails = readdirSync('/data/mail').filter((name) => name.endsWith('.${kind}.eml'));
       const texts = mails.map((name) => readFileSync('/data/mail/' + name, 'latin1').replaceAll('=\\r\\n', ''));
       const first = (pattern, text) => pattern.exec(text)?.[1] ?? '';
       console.log(JSON.stringify(texts.map((text) => ({
         email: first(/^To: .*?([\\w.-]+@example\\.com)/m, text),
         token: first(/^([\\w-]{43})\\r$/m, text),
       }))))`,
    );
  }

  return { call, register, createProduct, mails, tokensSent };
}

/**
 * Registers customers, who read lists, follow cursors, change their accounts, order, renew their log-ins and ask for password
 * resets until it is stopped. Their requests have no idempotency keys, because requests that the gateway must not repeat must
 * not fail either.
 */
export async function startShopping({ call, register, createProduct }: Client): Promise<Shopping> {
  const productId = await createProduct(await register('catalogue:write'), 1_000_000);
  // There are enough customers that none of them reaches a limit, and few enough for one address, from which 20 accounts
  // can be registered within 20 minutes. Eight are created at a time, because accounts refuses log-ins that do not fit
  // into its queue.
  const customers: Customer[] = [];
  while (customers.length < 16) customers.push(...(await Promise.all(Array.from({ length: 8 }, () => register()))));
  const placed: string[] = [];
  const resets: string[] = [];
  const cursors = new Map<Customer, string>();
  const succeed = async (what: string, expected: number, answer: Promise<Answer>): Promise<AnswerBody> => {
    const { status, body } = await answer;
    if (status !== expected) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

  async function shopOnce(customer: Customer): Promise<void> {
    const { token } = customer;
    await succeed('products', 200, call('GET', '/v1/products?limit=5'));
    await succeed('account', 200, call('PATCH', '/v1/accounts/me', token, { name: `Robin ${placed.length}` }));
    const order = { items: [{ productId, quantity: 1 }] };
    placed.push((await succeed('order', 201, call('POST', '/v1/orders', token, order))).id);
    const { nextCursor } = (await succeed('orders', 200, call('GET', '/v1/orders?limit=1', token))).pagination;
    if (nextCursor === undefined) return;
    // The first cursor of each customer is used until the end.
    const first = cursors.get(customer) ?? nextCursor;
    cursors.set(customer, first);
    for (const cursor of new Set([first, nextCursor])) {
      await succeed('further orders', 200, call('GET', `/v1/orders?limit=1&cursor=${cursor}`, token));
    }
  }

  /** An access token is valid for 15 minutes, which is shorter than some loads. */
  async function renew(customer: Customer): Promise<void> {
    const body = { refresh_token: customer.refreshToken };
    const renewed = await succeed('renewal', 200, call('POST', '/v1/tokens', undefined, body));
    customer.token = renewed.access_token;
    customer.refreshToken = renewed.refresh_token;
  }

  async function askForReset({ email }: Customer): Promise<void> {
    await succeed('password reset', 202, call('POST', '/v1/password-resets', undefined, { email }));
    resets.push(email);
  }

  const idle = [...customers];
  let nextReset = 0;
  const load = startLoad(4, async (number) => {
    // Each customer makes one request at a time, and there are more customers than requests.
    const customer = idle.shift() as Customer;
    try {
      // 7 does not divide the number of customers, so that all of them renew their log-ins.
      if (number % 7 === 0) await renew(customer);
      if (performance.now() >= nextReset) {
        nextReset = performance.now() + betweenResets;
        await askForReset(customer);
      }
      await shopOnce(customer);
    } finally {
      idle.push(customer);
    }
  });
  return {
    async stop() {
      const { requests, failures } = await load.stop();
      const [kept] = [...cursors].map(([customer, cursor]) => ({ customer, cursor }));
      return { requests, failures, placed, resets, kept };
    },
  };
}

/** Waits until each of these orders has exactly one e-mail, so that nothing was lost or done twice. */
export async function expectOneMailEach({ mails }: Client, placed: readonly string[]): Promise<void> {
  await eventually(async () => {
    const orders = (await mails()).map((name) => name.slice(0, 36)).filter((id) => placed.includes(id));
    expect(orders.sort()).toEqual([...placed].sort());
  }, 60_000);
}

/**
 * Waits until each requested password reset has one e-mail with a token, of which an account gets at most five an hour.
 */
export async function expectResetTokens({ tokensSent }: Client, resets: readonly string[]): Promise<void> {
  const count = (emails: readonly string[], atMost: number): Record<string, number> =>
    Object.fromEntries(
      [...new Set(emails)]
        .sort()
        .map((email) => [email, Math.min(atMost, emails.filter((each) => each === email).length)]),
    );
  await eventually(async () => {
    const sent = (await tokensSent('password-reset')).filter(({ email }) => resets.includes(email));
    expect(sent.filter(({ token }) => token === '')).toEqual([]);
    expect(
      count(
        sent.map(({ email }) => email),
        Number.POSITIVE_INFINITY,
      ),
    ).toEqual(count(resets, 5));
  }, 60_000);
}
