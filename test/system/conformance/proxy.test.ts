// A walk through every operation of the published document, with Prism between the client and the shop. Prism refuses
// each request and each response that does not conform to the document.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MachineSecret } from '@shop/accounts/operator';
import { isNode, type Node, toNode } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { askShop } from '../../../cli/test/started-shop.ts';
import { type RunningShop, startShop } from '../../running-shop.ts';
import { writeDocuments } from './documents.ts';
import { type Prism, startPrism } from './prism.ts';

const password = 'a long and quiet river';
const violation = 'https://stoplight.io/prism/errors';

interface Visit {
  readonly token?: string;
  /** The values of the path's parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

interface Answer {
  readonly headers: Headers;
  readonly body: Node;
}

let shop: RunningShop;
let folder: string;
let prism: Prism;
/** operationId → method, path, and the media type of the request body. */
const operations = new Map<string, { method: string; path: string; type: string }>();
const visited = new Set<string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-prism-'));
  await writeDocuments(folder);
  const document = toNode(JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8')));
  for (const [path, item] of Object.entries(toNode(document.paths)))
    for (const [method, operation] of Object.entries(toNode(item))) {
      if (!isNode(operation)) continue;
      const [type = ''] = Object.keys(toNode(toNode(operation.requestBody).content));
      operations.set(String(operation.operationId), { method: method.toUpperCase(), path, type });
    }
  shop = await startShop();
  prism = await startPrism(join(folder, 'openapi.json'), shop.url);
});

afterAll(async () => {
  await prism?.stop();
  await shop?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Sends a request for an operation through Prism, and fails when Prism reports a violation or the status differs. */
async function visit(operationId: string, status: number, given: Visit = {}): Promise<Answer> {
  const operation = operations.get(operationId);
  if (operation === undefined) throw new Error(`the document has no operation ${operationId}`);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_place, name: string) => given.path?.[name] ?? '');
  const query = new URLSearchParams(given.query).toString();
  const response = await fetch(`${prism.url}${path}${query === '' ? '' : `?${query}`}`, {
    method: operation.method,
    headers: {
      ...(given.token === undefined ? {} : { Authorization: `Bearer ${given.token}` }),
      ...(given.body === undefined ? {} : { 'Content-Type': operation.type }),
      ...given.headers,
    },
    ...(given.body === undefined
      ? {}
      : { body: typeof given.body === 'string' ? given.body : JSON.stringify(given.body) }),
  });
  const text = await response.text();
  // Prism lists violations that it does not refuse in this field.
  const violations = response.headers.get('sl-violations');
  expect({ operationId, status: response.status, violations, text }).toEqual({
    operationId,
    status,
    violations: null,
    text: expect.not.stringContaining(violation),
  });
  visited.add(operationId);
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { headers: response.headers, body: isJson ? toNode(JSON.parse(text)) : {} };
}

/** Waits for an e-mail of a kind to an address, and returns its token. */
function tokenSentTo(email: string, kind: string): Promise<string> {
  return eventually(async () => {
    const mail = join(shop.dataDir, 'mail');
    const names = (await readdir(mail)).filter((name) => name.includes(`.${kind}.`));
    const texts = await Promise.all(names.map((name) => readFile(join(mail, name), 'utf8')));
    // An e-mail that is sent before the account's name is known has the address alone.
    const text = texts.find((one) => one.includes(email)) ?? '';
    // The body is quoted-printable.
    const [, token] =
      /(?<![\w-])([\w-]{43})(?![\w-])/.exec(text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')) ?? [];
    if (token === undefined) throw new Error(`no ${kind} to ${email}`);
    return token;
  }, 30_000);
}

interface Customer {
  readonly id: string;
  readonly email: string;
}

async function register(): Promise<Customer> {
  const email = `${newId()}@example.com`;
  const { body } = await visit('registerAccount', 201, { body: { email, name: 'Kim Park', password } });
  return { id: String(body.id), email };
}

async function logIn(email: string, secret = password): Promise<{ access: string; refresh: string }> {
  const { body } = await visit('issueToken', 200, { body: { email, password: secret } });
  return { access: String(body.access_token), refresh: String(body.refresh_token) };
}

describe('a walk through Prism', () => {
  let staff: string;

  beforeAll(async () => {
    const { email } = await register();
    await shop.grant(
      email,
      'accounts:support',
      'catalogue:write',
      'orders:fulfil',
      'orders:read-all',
      'settings:write',
      'webhooks:write',
    );
    staff = (await logIn(email)).access;
  });

  it('a walk through Prism has no violation in the operations of an account', async () => {
    const { id, email } = await register();
    await visit('verifyEmail', 400, { body: { token: 'none' } });
    await visit('verifyEmail', 204, { body: { token: await tokenSentTo(email, 'email-verification') } });
    const { access: token, refresh } = await logIn(email);
    const own = { token, path: { accountId: id } };
    const { headers } = await visit('getAccount', 200, own);
    const tag = headers.get('etag') ?? '';
    await visit('getAccount', 304, { ...own, headers: { 'If-None-Match': tag } });
    await visit('updateAccount', 200, { ...own, body: { shipping_address: { city: 'Lyon', region: null } } });
    await visit('updateAccount', 412, { ...own, headers: { 'If-Match': tag }, body: { phone_number: '+49 30 12' } });
    await visit('exportAccount', 200, own);
    await visit('listSessions', 200, { token });
    await visit('issueToken', 200, { body: { refresh_token: refresh } });

    const other = await logIn(email);
    const { body } = await visit('listSessions', 200, { token: other.access });
    const sessions = (Array.isArray(body.items) ? body.items : []).map(toNode);
    const sessionId = String(sessions.find(({ current }) => current !== true)?.id);
    await visit('endSession', 204, { token: other.access, path: { sessionId } });
    await visit('endOtherSessions', 204, { token: other.access });
    await visit('getAccount', 401, { ...own, token: 'none' });
    await visit('revokeToken', 204, { body: { refresh_token: other.refresh } });

    await visit('requestPasswordReset', 202, { body: { email } });
    const reset = { token: await tokenSentTo(email, 'password-reset'), password: 'a short and loud brook' };
    await visit('confirmPasswordReset', 204, { body: reset });
    const { access: last } = await logIn(email, reset.password);
    const moved = `${newId()}@example.com`;
    const change = { email: moved, current_password: reset.password };
    await visit('updateAccount', 200, { token: last, path: { accountId: 'me' }, body: change });
    await visit('undoEmailChange', 204, { body: { token: await tokenSentTo(email, 'email-change-undo') } });
    await visit('getKeySet', 200);
  });

  it('a walk through Prism has no violation in the erasure of an account, and in what staff does with accounts', async () => {
    const { id, email } = await register();
    const { access: token } = await logIn(email);
    const own = { token, path: { accountId: id } };
    // A further token ends the first one, so another account asks for it.
    await visit('resendVerification', 202, { token: (await logIn((await register()).email)).access });
    // An account with an unverified address would be erased immediately.
    await visit('verifyEmail', 204, { body: { token: await tokenSentTo(email, 'email-verification') } });
    await visit('eraseAccount', 202, { ...own, body: { current_password: password } });
    await visit('withdrawErasure', 204, { token: (await logIn(email)).access, path: { accountId: id } });

    const support = { token: staff, path: { accountId: id }, body: { reason: 'The holder asked for it.' } };
    await visit('findAccounts', 200, { token: staff, query: { email } });
    await visit('blockAccount', 204, support);
    await visit('issueToken', 403, { body: { email, password } });
    await visit('unblockAccount', 204, support);
    await visit('endAccountSessions', 204, support);
    await visit('sendPasswordReset', 202, support);
    const taxId = { ...support, body: { ...support.body, tax_id: { country: 'AT', value: 'ATU12345678' } } };
    await visit('setTaxId', 204, taxId);
    await visit('findAccounts', 200, { token: staff, query: { email } });
    await visit('listAccountAudit', 200, { token: staff, path: { accountId: id } });
    await visit('findAccounts', 403, { token: (await logIn(email)).access, query: { email } });
  });

  it('a walk through Prism has no violation in the operations of the catalogue', async () => {
    const first = await visit('listProducts', 200, { query: { status: 'available', sort: 'price:asc', limit: '2' } });
    const query = { status: 'available', sort: 'price:asc', limit: '2' };
    await visit('listProducts', 304, { query, headers: { 'If-None-Match': first.headers.get('etag') ?? '' } });
    const cursor = String(toNode(first.body.pagination).nextCursor);
    await visit('listProducts', 200, { query: { ...query, cursor } });
    const filters = { or: [{ price: { lt: 10 } }, { rating: { gte: 4.5 } }] };
    await visit('searchProducts', 200, { body: { filters, sort: [{ field: 'price', direction: 'asc' }] } });
    await visit('listBrands', 200, { query: { limit: '3' } });
    await visit('listCategories', 200);

    const mug = { name: 'Enamel mug', brand: 'Smith, Sons', category: 'kitchen', price: 14.5, stock: 9 };
    const created = await visit('createProduct', 201, { token: staff, body: { ...mug, sku: newId() } });
    const path = { productId: String(created.body.id) };
    await visit('getProduct', 200, { path });
    await visit('getProduct', 404, { path: { productId: newId() } });
    await visit('updateProduct', 200, { token: staff, path, body: { price: 12.9, rating: null } });
    await visit('getStock', 200, { token: staff, path });
    await visit('listProductHistory', 200, { token: staff, path });
    await visit('archiveProduct', 204, { token: staff, path });

    const lines = `${JSON.stringify({ externalKey: newId(), ...mug })}\n${JSON.stringify({ name: 'No price' })}\n`;
    const imported = await visit('importProducts', 202, { token: staff, body: lines });
    await visit('getProductImport', 200, { token: staff, path: { importId: String(imported.body.id) } });
  });

  it('a walk through Prism has no violation in the operations of orders and payments', async () => {
    const { email } = await register();
    const { access: token } = await logIn(email);
    const machine = ['machines', 'create', `payments-${newId()}`, '--scope', 'payments:write'];
    const { clientId, clientSecret } = await askShop<MachineSecret>(shop.dataDir, ...machine);
    const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const payer = String((await visit('issueToken', 200, { body: credentials })).body.access_token);
    const product = { name: 'Jug', brand: 'Acme', category: 'kitchen', price: 10, stock: 9 };
    const { body: jug } = await visit('createProduct', 201, { token: staff, body: product });

    const place = async (quantity: number): Promise<{ path: { orderId: string }; totalCost: unknown }> => {
      const body = { items: [{ productId: jug.id, quantity }] };
      await visit('quoteOrder', 200, { body });
      const placed = await visit('createOrder', 201, { token, headers: { 'Idempotency-Key': newId() }, body });
      return { path: { orderId: String(placed.body.id) }, totalCost: placed.body.totalCost };
    };
    const { path, totalCost } = await place(2);
    await visit('listOrders', 200, { token, query: { status: 'pending', limit: '1' } });
    await visit('getOrder', 200, { token, path });
    await visit('getOrder', 404, { token, path: { orderId: newId() } });
    const payment = { reference: newId(), amount: totalCost, currency: 'EUR' };
    await visit('recordPayment', 200, { token: payer, path, body: payment });
    const line = { lines: [{ productId: jug.id, quantity: 1 }] };
    await visit('cancelOrder', 200, { token, path, body: line });
    await visit('recordRefund', 200, { token: payer, path, body: { ...payment, reference: newId(), amount: 10 } });
    await visit('shipOrder', 409, { token: staff, path });
    await visit('processOrder', 200, { token: staff, path });
    await visit('shipOrder', 200, { token: staff, path, body: { carrier: 'Post', tracking_number: '9900' } });
    await visit('deliverOrder', 200, { token: staff, path });
    await visit('getOrderHistory', 200, { token, path });
    // The shop writes no invoices.
    await visit('getInvoice', 404, { token, path });

    const ask = async (): Promise<{ returnId: string }> => {
      const lines = [{ productId: jug.id, quantity: 1, reason: 'damaged' }];
      const { body } = await visit('createReturn', 201, { token, path, body: { lines } });
      return { returnId: String(body.id) };
    };
    await visit('withdrawReturn', 200, { token, path: await ask() });
    await visit('refuseReturn', 200, { token: staff, path: await ask(), body: { reason: 'It is used.' } });
    const returned = await ask();
    await visit('getReturn', 200, { token, path: returned });
    await visit('listReturns', 200, { token, query: { limit: '2' } });
    await visit('approveReturn', 200, { token: staff, path: returned });
    const arrived = { lines: [{ productId: jug.id, quantity: 1, restock: true }] };
    await visit('receiveReturn', 200, { token: staff, path: returned, body: arrived });

    const { path: cancelled } = await place(1);
    await visit('cancelOrder', 200, { token, path: cancelled, body: { cancellation_reason: 'Ordered twice' } });
    await visit('cancelOrder', 204, { token, path: cancelled, headers: { Prefer: 'return=minimal' } });
    await visit('createOrder', 422, { token, body: { items: [{ productId: newId(), quantity: 1 }] } });
    await visit('listOrders', 200, { token: staff, query: { accountId: 'all', limit: '5' } });
  });

  it('a walk through Prism has no violation in the operations of the settings of prices', async () => {
    const settings = [
      ['ShippingMethod', 'shippingMethodId', { name: { en: 'Parcel' }, countries: ['CH'], price: 8 }, { price: 9 }],
      ['TaxRate', 'taxRateId', { country: 'CH', rate: 8.1, name: 'MWST' }, { rate: 8.2 }],
      ['Discount', 'discountId', { name: 'Ten', code: newId(), kind: 'percent', value: 10 }, { value: 11 }],
    ] as const;
    for (const [name, parameter, body, patch] of settings) {
      const created = await visit(`create${name}`, 201, { token: staff, body });
      const path = { [parameter]: String(created.body.id) };
      await visit(`list${name}s`, 200, { token: staff });
      await visit(`get${name}`, 200, { token: staff, path });
      await visit(`update${name}`, 200, { token: staff, path, body: patch });
      await visit(`archive${name}`, 204, { token: staff, path });
    }
  });

  it('a walk through Prism has no violation in the feed of changes', async () => {
    const { access: token, refresh } = await logIn((await register()).email);
    const { body } = await visit('listChanges', 200, { query: { cursor: 'now' } });
    const query = { types: 'product,order', limit: '5' };
    await visit('listChanges', 200, { token, query });
    await visit('listChanges', 200, { token: staff, query: { cursor: String(body.nextCursor), wait: '1' } });
    await visit('listChanges', 400, { query: { cursor: 'none' } });
    // Prism sends a response when it is complete. The stream ends with the session of its token.
    const followed = visit('followChanges', 200, { token, query: { types: 'product' } });
    await visit('revokeToken', 204, { body: { refresh_token: refresh } });
    await followed;
  });

  it('a walk through Prism has no violation in the operations of webhooks', async () => {
    const url = 'https://warehouse.example/shop';
    const { body } = await visit('createWebhook', 201, { token: staff, body: { url, types: ['order'] } });
    await visit('createWebhook', 400, { token: staff, body: { url: 'https://10.0.0.1/', types: ['order'] } });
    const own = { token: staff, path: { webhookId: String(body.id) } };
    // The first failed ping changes the webhook, too.
    await eventually(async () => {
      const { headers } = await visit('getWebhook', 200, own);
      await visit('getWebhook', 304, { ...own, headers: { 'If-None-Match': headers.get('etag') ?? '' } });
    });
    await visit('listWebhooks', 200, { token: staff });
    await visit('updateWebhook', 200, { ...own, body: { collapse: true } });
    await visit('updateWebhook', 412, { ...own, body: { collapse: false }, headers: { 'If-Match': '"none"' } });
    await visit('testWebhook', 202, own);
    await visit('replayWebhook', 200, { ...own, body: { from: new Date().toISOString() } });
    await visit('rotateWebhookSecret', 200, own);
    await visit('listAttempts', 200, own);
    const { body: page } = await visit('listChanges', 200, { token: staff, query: { limit: '1' } });
    const changeId = String((page.items as readonly Node[])[0]?.id);
    await visit('listDeliveries', 200, { token: staff, path: { changeId } });
    await visit('listDeliveries', 404, { token: staff, path: { changeId: newId() } });
    await visit('deleteWebhook', 204, own);
    await visit('getWebhook', 404, own);
    await visit('getWebhookKeys', 200, {});
  });

  it('a walk through Prism visits every operation of the document', () => {
    expect([...operations.keys()].filter((operationId) => !visited.has(operationId))).toEqual([]);
  });
});

describe('Prism', () => {
  it('Prism rejects a request that does not conform to the document', async () => {
    const response = await fetch(`${prism.url}/v1/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 7, password }),
    });
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(violation)]);
  });

  it('Prism rejects a response that does not conform to the document', async () => {
    const document = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8')) as Node;
    Object.assign(toNode(toNode(toNode(document.components).schemas).Pagination), { required: ['absent'] });
    const file = join(folder, 'other.json');
    await writeFile(file, JSON.stringify(document));
    const other = await startPrism(file, shop.url);
    try {
      const response = await fetch(`${other.url}/v1/brands`);
      expect([response.status, await response.text()]).toEqual([500, expect.stringContaining(violation)]);
    } finally {
      await other.stop();
    }
  });
});
