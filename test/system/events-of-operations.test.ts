// A walk through every operation of the published contract that changes something: each one writes the events that the
// table names into the outbox of its service, and each event names its predecessor.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { staffScopes } from '@shop/accounts/operator';
import { outlineOperations, readDocument } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import type { ServiceName } from '@shop/shared/shop';
import { type CallOptions, eventually, startServices, type TestAnswer, type TestServices } from '@shop/shared/testing';
import { decodeJwt } from 'jose';
import { emailTokenOf, freshEmail, password } from '../../services/accounts/test/accounts.ts';
import { eventsOfOperations } from './events-of-operations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Offered {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
}

/** Every operation of the published contract that is no GET. */
const changing = new Map<string, Offered>(
  globSync('services/*/openapi.yaml', { cwd: root }).flatMap((file) => {
    const service = file.split('/')[1] as ServiceName;
    return outlineOperations(readDocument(join(root, file)))
      .filter(({ internal, method }) => !internal && method !== 'get')
      .map(({ operationId, method, path }) => [operationId, { service, method, path }] as const);
  }),
);
const entries = Object.entries(eventsOfOperations);
/** operationId → the types of the events that its requests wrote. */
const written = new Map<string, Set<string>>();

let services: TestServices;
let staff: string;

beforeAll(async () => {
  const environment = { SELLER_NAME: 'Acme GmbH', SELLER_ADDRESS: 'Lindenweg 4; 10115 Berlin' };
  services = await startServices(['accounts', 'catalogue', 'orders', 'changes'], { environment });
  staff = await services.issuer.sign({ accountId: newId(), scopes: staffScopes });
});
afterAll(() => services?.stop());

interface Given extends CallOptions {
  /** The value of the path's parameter. */
  readonly id?: string;
}

/** Calls an operation, and waits until its request has written all the events. */
async function call(operationId: string, { id = '', ...options }: Given, ...types: string[]): Promise<TestAnswer> {
  const operation = changing.get(operationId);
  if (operation === undefined) throw new Error(`the contract has no operation ${operationId}`);
  const { client, database } = services.service(operation.service);
  const requestId = newId();
  const answer = await client.call(operation.method.toUpperCase(), operation.path.replace(/\{\w+\}/, id), {
    ...options,
    headers: { 'X-Request-Id': requestId, ...options.headers },
  });
  expect([operationId, answer.status, answer.text]).toEqual([operationId, expect.any(Number), expect.any(String)]);
  if (answer.status >= 300) throw new Error(`${operationId}: ${answer.status} ${answer.text}`);
  const found = async (): Promise<string[]> => {
    const text = 'SELECT type FROM outbox WHERE request_id = $1 ORDER BY id';
    return (await database.query<{ type: string }>(text, [requestId])).rows.map(({ type }) => type);
  };
  // Only an import writes its events after the response.
  const all = await eventually(async () => {
    const present = await found();
    expect([operationId, present]).toEqual([operationId, expect.arrayContaining(types)]);
    return present;
  });
  const ofOperation = written.get(operationId) ?? new Set();
  for (const type of all) ofOperation.add(type);
  written.set(operationId, ofOperation);
  return answer;
}

interface Holder {
  readonly id: string;
  readonly email: string;
  readonly token: string;
}

async function register(isVerified = true): Promise<Holder> {
  const email = freshEmail();
  const { body } = await call(
    'registerAccount',
    { body: { email, name: 'Kim Park', password } },
    'account.registered.v1',
  );
  const token = await services.issuer.sign({ accountId: body.id, loggedIn: true });
  if (isVerified) await verify(body.id);
  return { id: body.id, email, token };
}

const emailToken = (accountId: string, kind: Parameters<typeof emailTokenOf>[2]): Promise<string> => {
  const { client, database } = services.service('accounts');
  return emailTokenOf({ services, client, database }, accountId, kind);
};
const verify = async (accountId: string): Promise<TestAnswer> => {
  const token = await emailToken(accountId, 'email-verification');
  return call('verifyEmail', { body: { token } }, 'account.updated.v1');
};

const product = { name: 'Jug', brand: 'Acme', category: 'Kitchen', price: 10, stock: 90, status: 'active' };
const addProduct = async (): Promise<string> =>
  (await call('createProduct', { token: staff, body: product }, 'product.created.v1')).body.id;

async function order(token: string, productId: string): Promise<{ id: string; totalCost: number }> {
  const body = { items: [{ productId, quantity: 3 }] };
  const answer = await call('createOrder', { token, body }, 'order.created.v1');
  return { id: answer.body.id, totalCost: Number(answer.body.totalCost) };
}

describe('each changing operation writes its events', () => {
  it('the operations of an account write an event for each change of the account', async () => {
    const unverified = await register(false);
    await call('resendVerification', { token: unverified.token });
    const { id, email, token } = await register();
    await call('updateAccount', { id, token, body: { name: 'Kim Lee' } }, 'account.updated.v1');
    await call('requestPasswordReset', { body: { email } });
    const reset = { token: await emailToken(id, 'password-reset'), password: 'a short and loud brook' };
    await call('confirmPasswordReset', { body: reset }, 'account.updated.v1');
    const change = { email: freshEmail(), current_password: reset.password };
    const next = await services.issuer.sign({ accountId: id, loggedIn: true });
    await call('updateAccount', { id, token: next, body: change }, 'account.updated.v1');
    await call('undoEmailChange', { body: { token: await emailToken(id, 'email-change-undo') } }, 'account.updated.v1');
  });

  it('the operations on an erasure, and those of staff on an account, write an event for each change', async () => {
    const { id, token } = await register();
    await call('eraseAccount', { id, token, body: { current_password: password } }, 'account.updated.v1');
    await call('withdrawErasure', { id, token }, 'account.updated.v1');
    const support = { id, token: staff, body: { reason: 'The holder asked for it.' } };
    await call('blockAccount', support, 'account.updated.v1');
    await call('unblockAccount', support, 'account.updated.v1');
    const taxId = { tax_id: { country: 'AT', value: 'ATU12345678' }, reason: 'The holder asked for it.' };
    await call('setTaxId', { ...support, body: taxId }, 'account.updated.v1');
    await call('sendPasswordReset', support);
    await call('endAccountSessions', support);
  });

  it('the operations on sessions change no account, and write no event', async () => {
    const { email, token } = await register();
    const logIn = async () => (await call('issueToken', { body: { email, password } })).body;
    const [first, second] = [await logIn(), await logIn()];
    await call('revokeToken', { body: { refresh_token: first.refresh_token } });
    await call('endSession', { id: String(decodeJwt(second.access_token).sid), token });
    await call('endOtherSessions', { token });
  });

  it('the operations of the catalogue write an event for each change of a product', async () => {
    const id = await addProduct();
    const patch = (body: object, ...types: string[]) => call('updateProduct', { id, token: staff, body }, ...types);
    await patch({ price: 12 }, 'product.updated.v1');
    await patch({ stock: 0 }, 'stock.changed.v1');
    await patch({ stock: 5 }, 'stock.changed.v1');
    await patch({ lowStockThreshold: 9 }, 'product.updated.v1', 'stock.low.v1');
    await call('archiveProduct', { id, token: staff }, 'product.archived.v1');
    await patch({ archived: false }, 'product.updated.v1');
    await call('searchProducts', { body: {} });
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const line = (price: number) => JSON.stringify({ ...product, externalKey: 'JUG', price });
    await call('importProducts', { token: staff, rawBody: line(9), headers }, 'product.created.v1');
    await call('importProducts', { token: staff, rawBody: line(8), headers }, 'product.updated.v1');
  });

  it('the operations of an order and of its money write an event for each change of the order', async () => {
    const { token } = await register();
    const productId = await addProduct();
    const { id, totalCost } = await order(token, productId);
    const step = (operationId: string, given: Given, ...types: string[]) =>
      call(operationId, { id, token: staff, ...given }, ...types);
    await call('quoteOrder', { body: { items: [{ productId, quantity: 1 }] } });
    const payment = { reference: newId(), amount: totalCost, currency: 'EUR' };
    await step('recordPayment', { body: payment }, 'order.paid.v1');
    const lines = [{ productId, quantity: 1 }];
    await step('cancelOrder', { token, body: { lines } }, 'order.lines-cancelled.v1', 'refund.due.v1');
    await step('recordRefund', { body: { ...payment, reference: newId(), amount: 10 } }, 'refund.done.v1');
    await step('processOrder', {}, 'order.processing.v1');
    await step('shipOrder', {}, 'order.shipped.v1', 'invoice.issued.v1');
    await step('deliverOrder', {}, 'order.delivered.v1');

    const request = async (): Promise<string> => {
      const body = { lines: [{ productId, quantity: 1, reason: 'damaged' }] };
      return (await step('createReturn', { token, body }, 'return.requested.v1')).body.id;
    };
    await call('withdrawReturn', { id: await request(), token }, 'return.withdrawn.v1');
    await call('refuseReturn', { id: await request(), token: staff, body: { reason: 'Used.' } }, 'return.refused.v1');
    const returned = { id: await request(), token: staff };
    await call('approveReturn', returned, 'return.approved.v1');
    const body = { lines: [{ productId, quantity: 1, restock: true }] };
    const events = ['return.received.v1', 'order.returned.v1', 'refund.due.v1', 'invoice.issued.v1'];
    await call('receiveReturn', { ...returned, body }, ...events);

    const other = await order(token, productId);
    await call('cancelOrder', { id: other.id, token }, 'order.cancelled.v1');
  });

  it.each([
    ['ShippingMethod', { name: { en: 'Parcel' }, countries: ['CH'], price: 8 }, { price: 9 }],
    ['TaxRate', { country: 'CH', rate: 8.1, name: 'VAT' }, { rate: 8.2 }],
    ['Discount', { name: 'Ten', kind: 'percent', value: 10 }, { value: 11 }],
  ])('the operations on a setting write an event for each change (%s)', async (name, body, patch) => {
    const { id } = (await call(`create${name}`, { token: staff, body }, 'setting.changed.v1')).body;
    await call(`update${name}`, { id, token: staff, body: patch }, 'setting.changed.v1');
    await call(`archive${name}`, { id, token: staff }, 'setting.changed.v1');
  });

  it('the operations on a webhook write no event', async () => {
    const body = { url: 'https://warehouse.example/shop', types: ['order'] };
    const { id } = (await call('createWebhook', { token: staff, body })).body;
    await call('updateWebhook', { id, token: staff, body: { status: 'paused' } });
    await call('testWebhook', { id, token: staff });
    await call('replayWebhook', { id, token: staff, body: { from: new Date().toISOString() } });
    await call('rotateWebhookSecret', { id, token: staff });
    await call('deleteWebhook', { id, token: staff });
  });
});

describe('the table', () => {
  it('the table of events has each changing operation of the published contract, and no other', () => {
    expect(Object.keys(eventsOfOperations).sort()).toEqual([...changing.keys()].sort());
  });

  it.each(entries)(
    'the operation %s writes all events of the table, and none when it has a reason',
    (id, published) => {
      const found = [...(written.get(id) ?? [])].filter((type) => type !== 'email-token.issued.v1');
      expect(written.has(id)).toBe(true);
      if ('none' in published) expect(found).toEqual([]);
      else expect(found).toEqual(expect.arrayContaining([...published]));
    },
  );

  it.each(['accounts', 'catalogue', 'orders'] as const)(
    'the events of one subject in %s form one chain without equal numbers',
    async (service) => {
      const { rows } = await services.service(service).database.query<{ subject: string; chain: [number, number][] }>(
        `SELECT subject, json_agg(json_build_array(sequence, previous_sequence) ORDER BY sequence) AS chain FROM outbox
         WHERE type !~ '^(email-token|stock\\.(released|lines-released|returned))\\.' GROUP BY subject`,
      );
      expect(rows.length).toBeGreaterThan(2);
      for (const { chain } of rows) {
        const numbers = chain.map(([sequence]) => sequence);
        expect(chain.map(([, previous]) => previous)).toEqual([null, ...numbers.slice(0, -1)]);
        expect(new Set(numbers).size).toBe(numbers.length);
      }
    },
  );
});
