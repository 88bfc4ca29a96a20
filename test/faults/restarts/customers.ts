// The requests of customers that read lists, orders and accounts, and change their names.
import type { Pool } from 'undici';

export interface Customer {
  readonly token: string;
  /** The client address of the customer, by which the gateway counts anonymous requests. */
  readonly address: string;
}

/** Each customer sends twenty requests in turn, so that none reaches a limit. */
export function customerOf(customers: readonly Customer[], turn: number): Customer {
  const customer = customers[Math.floor(turn / 20) % customers.length];
  if (customer === undefined) throw new Error('there are no customers');
  return customer;
}

/**
 * Sends one request, which depends on the turn.
 * @throws Error with the reply when it is not the expected one
 */
export async function browse(pool: Pool, customers: readonly Customer[], turn: number): Promise<void> {
  const { token, address } = customerOf(customers, turn);
  const as = { address, token };
  const kind = turn % 20;
  if (kind === 10) await call(pool, 'PATCH', '/v1/accounts/me', 200, as, { name: `Robin ${turn}` });
  else if (kind % 4 === 1) await call(pool, 'GET', '/v1/orders?limit=5', 200, as);
  else if (kind % 4 === 2) await call(pool, 'GET', '/v1/accounts/me', 200, as);
  else if (kind % 4 === 3)
    await call(pool, 'POST', '/v1/products/search', 200, { address }, { pagination: { limit: 5 } });
  else await call(pool, 'GET', '/v1/products?limit=5', 200, { address });
}

/**
 * Sends a request, and returns the JSON of its reply.
 * @throws Error with the reply when its status is not the expected one
 */
export async function call(
  pool: Pool,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  expected: number,
  { address, token }: { readonly address: string; readonly token?: string },
  body?: object,
): Promise<Record<string, unknown>> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const answer = await pool.request({
    method,
    path,
    headers: {
      'X-Forwarded-For': address,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': type }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== expected) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
