// Who may do what: every public operation of every contract, as every kind of caller, on one's own, somebody else's and no resource.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ContractOperation, loadContract } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import { type ServiceName, serviceFolder, startServices, type TestServices } from '@shop/shared/testing';

const owners: readonly ServiceName[] = ['accounts', 'orders', 'catalogue'];
const contracts = new Map(owners.map((name) => [name, loadContract(`${serviceFolder(name)}/openapi.yaml`)]));

const callers = ['nobody', 'expired', 'forged', 'owner', 'other', 'reader', 'fulfiller', 'editor'] as const;
type Caller = (typeof callers)[number];
const targets = ['own', 'foreign', 'absent'] as const;
type Target = (typeof targets)[number];

/** What a path parameter names, or undefined where there is none. */
type Resource = 'account' | 'order' | 'product' | undefined;

interface Rule {
  readonly resource: Resource;
  readonly body?: () => unknown;
  /** What a caller with a good token gets; a missing, expired or forged one is 401 wherever a token is needed. */
  readonly expected: (caller: Caller, target: Target) => number;
  readonly public?: true;
}

const isOwner = (caller: Caller) => caller === 'owner';
const account = (caller: Caller, target: Target) => (isOwner(caller) && target === 'own' ? 200 : 403);
const ownOrder = (caller: Caller, target: Target) => (isOwner(caller) && target === 'own' ? 200 : 404);
const readOrder = (caller: Caller, target: Target) =>
  target !== 'absent' && caller === 'reader' ? 200 : ownOrder(caller, target);
/** The scope, and then whether the order is in a state for it: these orders have been cancelled before. */
const fulfil = (caller: Caller, target: Target) => (caller !== 'fulfiller' ? 403 : target === 'absent' ? 404 : 409);
const someone = { name: 'Someone', email: 'someone@example.com', password: 'a quiet green door' };
const product = { name: 'A', brand: 'B', category: 'C', price: 1, status: 'active' };

const rules: Record<string, Rule> = {
  registerAccount: {
    resource: undefined,
    public: true,
    body: () => ({ ...someone, email: `${newId()}@example.com` }),
    expected: () => 201,
  },
  getAccount: { resource: 'account', expected: account },
  updateAccount: { resource: 'account', body: () => ({ phone_number: '+49 30 1234' }), expected: account },
  issueToken: {
    resource: undefined,
    public: true,
    body: () => ({ email: 'none@example.com', password: 'wrong password' }),
    expected: () => 401,
  },
  revokeToken: { resource: undefined, public: true, body: () => ({ refresh_token: 'none' }), expected: () => 204 },
  getKeySet: { resource: undefined, public: true, expected: () => 200 },
  createOrder: {
    resource: undefined,
    body: () => ({ items: [{ productId: newId(), quantity: 1 }] }),
    expected: () => 422,
  },
  listOrders: { resource: undefined, expected: () => 200 },
  getOrder: { resource: 'order', expected: readOrder },
  getOrderHistory: { resource: 'order', expected: readOrder },
  cancelOrder: { resource: 'order', expected: ownOrder },
  processOrder: { resource: 'order', expected: fulfil },
  shipOrder: { resource: 'order', expected: fulfil },
  deliverOrder: { resource: 'order', expected: fulfil },
  listProducts: { resource: undefined, public: true, expected: () => 200 },
  searchProducts: { resource: undefined, public: true, body: () => ({}), expected: () => 200 },
  getProduct: { resource: 'product', public: true, expected: (_caller, target) => (target === 'absent' ? 404 : 200) },
  createProduct: { resource: undefined, body: () => product, expected: (caller) => (caller === 'editor' ? 201 : 403) },
  updateProduct: {
    resource: 'product',
    body: () => ({ name: 'A2' }),
    expected: (caller, target) => (caller !== 'editor' ? 403 : target === 'absent' ? 404 : 200),
  },
};

let shop: TestServices;
const tokens = new Map<Caller, string | undefined>();
const ids: Record<'account' | 'order' | 'product', Record<Target, string>> = {
  account: { own: '', foreign: '', absent: newId() },
  order: { own: '', foreign: '', absent: newId() },
  product: { own: '', foreign: '', absent: newId() },
};

beforeAll(async () => {
  shop = await startServices(['accounts', 'orders', 'catalogue']);
  const { issuer } = shop;
  const accounts = shop.service('accounts').client;
  for (const target of ['own', 'foreign'] as const) {
    const created = await accounts.post('/v1/accounts', { body: { ...someone, email: `${target}@example.com` } });
    ids.account[target] = created.body.id;
  }
  const owner = { accountId: ids.account.own };
  tokens.set('nobody', undefined);
  tokens.set('expired', await issuer.sign({ ...owner, expiresIn: -60 }));
  tokens.set('forged', await issuer.forge(owner));
  tokens.set('owner', await issuer.sign(owner));
  tokens.set('other', await issuer.sign());
  tokens.set('reader', await issuer.sign({ scopes: ['orders:read-all'] }));
  tokens.set('fulfiller', await issuer.sign({ scopes: ['orders:fulfil'] }));
  tokens.set('editor', await issuer.sign({ scopes: ['catalogue:write'] }));

  const editor = tokens.get('editor') ?? '';
  const made = await shop
    .service('catalogue')
    .client.post('/v1/products', { token: editor, body: { ...product, stock: 100 } });
  ids.product = { own: made.body.id, foreign: made.body.id, absent: newId() };
  for (const target of ['own', 'foreign'] as const) {
    const token = await issuer.sign({ accountId: ids.account[target] });
    const orders = shop.service('orders').client;
    const order = await orders.post('/v1/orders', {
      token,
      body: { items: [{ productId: made.body.id, quantity: 1 }] },
    });
    ids.order[target] = order.body.id;
    await orders.post(`/v1/orders/${order.body.id}/cancel`, { token });
  }
});
afterAll(() => shop?.stop());

const operations = [...contracts].flatMap(([service, contract]) =>
  contract.operations.filter(({ internal }) => !internal).map((operation) => ({ service, operation })),
);

async function call(service: ServiceName, operation: ContractOperation, rule: Rule, caller: Caller, target: Target) {
  const id = rule.resource === undefined ? '' : ids[rule.resource][target];
  const path = operation.path.replace(/\{\w+\}/, id);
  const token = tokens.get(caller);
  return shop.service(service).client.call(operation.method.toUpperCase(), path, {
    ...(token === undefined ? {} : { token }),
    ...(rule.body === undefined ? {} : { body: rule.body() }),
    headers: { 'X-Request-Id': 'the-same-for-all' },
  });
}

it('has a rule for every public operation and for no other', () => {
  expect(Object.keys(rules).sort()).toEqual(operations.map(({ operation }) => operation.operationId).sort());
});

describe.each(operations.map(({ service, operation }) => [operation.operationId, service, operation] as const))(
  '%s',
  (id, service, operation) => {
    const rule = rules[id];
    if (rule === undefined) throw new Error(`no rule for ${id}`);
    const places = rule.resource === undefined ? (['own'] as const) : targets;
    it.each(callers.flatMap((caller) => places.map((target) => [caller, target] as const)))(
      'as %s on %s',
      async (caller, target) => {
        const bad = caller === 'nobody' || caller === 'expired' || caller === 'forged';
        const expected = bad && rule.public !== true ? 401 : rule.expected(caller, target);
        const answer = await call(service, operation, rule, caller, target);
        expect([answer.status, answer.text.slice(0, 300)]).toEqual([expected, expect.any(String)]);
        if (expected === 401 && bad) expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
      },
    );
  },
);

it.each(['getOrder', 'getOrderHistory', 'cancelOrder', 'getAccount', 'updateAccount'])(
  '%s answers alike for what is of somebody else and what does not exist',
  async (id) => {
    const found = operations.find(({ operation }) => operation.operationId === id);
    const rule = rules[id];
    if (found === undefined || rule === undefined) throw new Error(`no operation ${id}`);
    const [foreign, absent] = await Promise.all(
      (['foreign', 'absent'] as const).map((target) => call(found.service, found.operation, rule, 'owner', target)),
    );
    const { date: _, ...foreignHeaders } = foreign?.headers ?? {};
    const { date: __, ...absentHeaders } = absent?.headers ?? {};
    expect([foreign?.status, foreignHeaders, foreign?.text]).toEqual([absent?.status, absentHeaders, absent?.text]);
  },
);
