// The access matrix: every rule is tested through the gateway and directly, because services verify tokens again.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServiceTokens } from '@shop/shared/auth';
import { loadContract, type OperationOutline, outlineOperations, readDocument } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import {
  type AccessCaller,
  type AccessResource,
  type AccessRule,
  type AccessTarget,
  accessCallers,
  accessTargets,
  type CallOptions,
  createClient,
  eventually,
  type SettingResource,
  scopesOf,
  setReadOnly,
  startServices,
  type TestClient,
  type TestService,
  type TestServices,
} from '@shop/shared/testing';
import { decodeJwt } from 'jose';
import { sendRaw } from '../../../gateway/test/raw.ts';
import { startGateway, type TestGateway } from '../../../gateway/test/start-gateway.ts';
import { someone } from '../../../services/accounts/test/access-rules.ts';
import { product } from '../../../services/catalogue/test/access-rules.ts';
import { gatewayFields } from '../../gateway-fields.ts';
import { expectedStatus, refusal, rules } from './rules.ts';
import { startWitness, type Witness } from './witness.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const secret = 'between-services-between-services';

interface Known extends OperationOutline {
  /** Undefined for operations that the gateway answers itself. */
  readonly service: ServiceName | undefined;
}

const operations: readonly Known[] = globSync('{services/*,web/src/**}/openapi.yaml', { cwd: root }).flatMap((file) => {
  const service = /^services\/([^/]+)/.exec(file)?.[1] as ServiceName | undefined;
  return outlineOperations(readDocument(join(root, file))).map((outline) => ({ ...outline, service }));
});
const internal = operations.filter((operation) => operation.internal);
const offered = operations.filter((operation) => !operation.internal);
/** The services that accept requests. */
const services = serviceNames.filter((name) => operations.some(({ service }) => service === name));

const ways = ['through the gateway', 'past the gateway'] as const;
type Way = (typeof ways)[number];

interface Cell {
  readonly id: string;
  readonly way: Way;
  readonly operation: Known;
  readonly rule: AccessRule;
  readonly caller: AccessCaller;
}

/** Every operation as every caller, through the gateway and directly. */
const cells: readonly Cell[] = offered.flatMap((operation) => {
  const { operationId: id, service } = operation;
  const rule = rules[id];
  if (rule === undefined) return [];
  return ways
    .filter((way) => way === 'through the gateway' || service !== undefined)
    .flatMap((way) => accessCallers.map((caller) => ({ id, way, operation, rule, caller })));
});

const settingsOf = {
  shippingMethod: { path: '/v1/shipping-methods', rule: rules.createShippingMethod },
  taxRate: { path: '/v1/tax-rates', rule: rules.createTaxRate },
  discount: { path: '/v1/discounts', rule: rules.createDiscount },
} satisfies Record<SettingResource, unknown>;
const settingResources = ['shippingMethod', 'taxRate', 'discount'] as const;

let shop: TestServices;
let witnesses: readonly Witness[] = [];
let gateway: TestGateway;
let client: TestClient;
const tokens = new Map<AccessCaller, string>();
const ids: Record<AccessResource, Record<AccessTarget, string>> = {
  account: { own: '', foreign: '', absent: newId() },
  session: { own: '', foreign: '', absent: newId() },
  order: { own: '', foreign: '', absent: newId() },
  product: { own: '', foreign: '', absent: newId() },
  import: { own: '', foreign: '', absent: newId() },
  return: { own: '', foreign: '', absent: newId() },
  shippingMethod: { own: '', foreign: '', absent: newId() },
  taxRate: { own: '', foreign: '', absent: newId() },
  discount: { own: '', foreign: '', absent: newId() },
  webhook: { own: '', foreign: '', absent: newId() },
  change: { own: '', foreign: '', absent: newId() },
};

beforeAll(async () => {
  shop = await startServices(services, { environment: { INTERNAL_SECRET: secret } });
  const { issuer } = shop;
  witnesses = await Promise.all(services.map((name) => startWitness(shop.service(name).url)));
  gateway = await startGateway({
    GATEWAY_CONFIG_DIR: join(root, 'gateway/config'),
    JWKS_URL: issuer.jwksUrl,
    ...Object.fromEntries(services.map((name, index) => [`${name.toUpperCase()}_URL`, witnesses[index]?.url ?? ''])),
  });
  const contracts = services.map((name) => loadContract(join(root, 'services', name, 'openapi.yaml')));
  client = createClient(gateway.url, contracts, gatewayFields);

  for (const target of ['own', 'foreign'] as const) {
    const body = { ...someone, email: `${target}@example.com` };
    ids.account[target] = idOf(await client.post('/v1/accounts', { body }));
    ids.session[target] = await logIn(target);
  }
  const owner = { accountId: ids.account.own };
  tokens.set('expired', await issuer.sign({ ...owner, expiresIn: -60 }));
  tokens.set('forged', await issuer.forge(owner));
  tokens.set('owner', await issuer.sign({ ...owner, loggedIn: true }));
  const staff = ['other', 'reader', 'fulfiller', 'editor', 'payer', 'supporter', 'configurer', 'integrator'] as const;
  for (const caller of staff) tokens.set(caller, await issuer.sign({ scopes: scopesOf(caller) }));
  tokens.set('machine', await issuer.sign({ scopes: scopesOf('machine'), isMachine: true }));

  const stocked = { token: tokens.get('editor') ?? '', body: { ...product, stock: 100 } };
  const productId = idOf(await client.post('/v1/products', stocked));
  ids.product = { own: productId, foreign: productId, absent: newId() };
  for (const resource of settingResources) await addSetting(resource);
  const file = { rawBody: '{}', headers: { 'Content-Type': 'application/x-ndjson' } };
  const importId = idOf(await client.post('/v1/products/imports', { ...stocked, ...file }));
  ids.import = { own: importId, foreign: importId, absent: newId() };
  for (const target of ['own', 'foreign'] as const) {
    const token = await issuer.sign({ accountId: ids.account[target] });
    const body = { items: [{ productId, quantity: 1 }] };
    ids.order[target] = idOf(await client.post('/v1/orders', { token, body }));
    await client.post(`/v1/orders/${ids.order[target]}/cancel`, { token });
    ids.return[target] = await addReturn(token, productId);
  }
  ids.webhook.own = await addWebhook(tokens.get('integrator') ?? '');
  ids.webhook.foreign = await addWebhook(await issuer.sign({ scopes: scopesOf('integrator') }));
  // Everybody sees the change of the product.
  const changeId = await eventually(async () => idOf(await firstChange()));
  ids.change = { ...ids.change, own: changeId, foreign: changeId };
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all(witnesses.map((witness) => witness.close()));
  await shop?.stop();
});

it('the access matrix has a rule for every operation of every contract except internal ones, and for no other', () => {
  expect(Object.keys(rules).sort()).toEqual(offered.map(({ operationId }) => operationId).sort());
});

/** The id of what a request has created. @throws when the request was refused */
function idOf({ status, body, text }: Awaited<ReturnType<TestClient['post']>>): string {
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body.id;
}

/** The response with the first change of the feed. @throws when the feed has none */
async function firstChange(): ReturnType<TestClient['get']> {
  const answer = await client.get('/v1/changes?limit=1');
  const [change] = answer.body.items;
  if (change === undefined) throw new Error('the feed has no change yet');
  return { ...answer, body: change };
}

async function addWebhook(token: string): Promise<string> {
  return idOf(await client.post('/v1/webhooks', { token, body: rules.createWebhook?.body?.() }));
}

/** Adds a return of an order that has shipped, and withdraws it. */
async function addReturn(token: string, productId: string): Promise<string> {
  const orderId = idOf(await client.post('/v1/orders', { token, body: { items: [{ productId, quantity: 1 }] } }));
  const fulfiller = tokens.get('fulfiller') ?? '';
  for (const step of ['process', 'ship']) await client.post(`/v1/orders/${orderId}/${step}`, { token: fulfiller });
  const body = { lines: [{ productId, quantity: 1, reason: 'other' }] };
  const id = idOf(await client.post(`/v1/orders/${orderId}/returns`, { token, body }));
  await client.post(`/v1/returns/${id}/withdraw`, { token });
  return id;
}

/** Logs in to start a new session of the account. */
async function logIn(target: 'own' | 'foreign'): Promise<string> {
  const body = { email: `${target}@example.com`, password: someone.password };
  return String(decodeJwt((await client.post('/v1/tokens', { body })).body.access_token).sid);
}

/** Adds a setting, which the next requests name. */
async function addSetting(resource: SettingResource): Promise<void> {
  const { path, rule } = settingsOf[resource];
  const token = tokens.get('configurer') ?? '';
  const id = idOf(await shop.service('orders').client.post(path, { token, body: rule?.body?.() }));
  ids[resource] = { ...ids[resource], own: id, foreign: id };
}

function serviceBehind({ operationId, service }: Known): TestService {
  if (service === undefined) throw new Error(`there is no service behind ${operationId}`);
  return shop.service(service);
}

function pathOf({ path }: Known, { resource }: AccessRule, target: AccessTarget): string {
  return path.replace(/\{\w+\}/, resource === undefined ? '' : ids[resource][target]);
}

const heardByService = (requestId: string): boolean => witnesses.some((witness) => witness.heard(requestId));

async function call({ way, operation, rule, caller }: Cell, target: AccessTarget, requestId: string) {
  const method = operation.method.toUpperCase();
  const path = pathOf(operation, rule, target);
  const token = tokens.get(caller);
  if (rule.streams === true) {
    const { url } = way === 'through the gateway' ? gateway : serviceBehind(operation);
    const headers = { 'X-Request-Id': requestId, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
    const answer = await fetch(new URL(path, url), { method, headers });
    await answer.body?.cancel();
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: '' };
  }
  const toward = way === 'through the gateway' ? client : serviceBehind(operation).client;
  const { body, mediaType } = rule;
  const content = mediaType === undefined ? { body: body?.() } : { rawBody: String(body?.()) };
  return toward.call(method, path, {
    ...(token === undefined ? {} : { token }),
    ...content,
    headers: { 'X-Request-Id': requestId, ...(mediaType && { 'Content-Type': mediaType }) },
  });
}

describe.each(cells)('$id $way as $caller', (cell) => {
  const { way, operation, rule, caller } = cell;
  it.each(rule.resource === undefined ? (['own'] as const) : accessTargets)(
    'the access follows the rule of the operation on %s',
    async (target) => {
      const requestId = newId();
      // Each request needs a session of its own, because a session can be ended only once.
      if (rule.resource === 'session' && caller === 'owner') ids.session.own = await logIn('own');
      if (operation.operationId === 'deleteWebhook' && caller === 'integrator')
        ids.webhook.own = await addWebhook(tokens.get(caller) ?? '');
      // An archived setting can neither be read nor changed.
      if (rule.scope === 'settings:write')
        await Promise.all(settingResources.filter((each) => each === rule.resource).map(addSetting));
      const { status, headers, text } = await call(cell, target, requestId);
      const refused = refusal(rule, caller);
      expect([status, text.slice(0, 300)]).toEqual([expectedStatus(rule, caller, target), expect.any(String)]);
      if (refused !== undefined) expect(headers['www-authenticate']).toMatch(/^Bearer /);
      // The gateway refuses this before the service would.
      if (way === 'through the gateway' && operation.service !== undefined)
        expect(heardByService(requestId)).toBe(refused === undefined);
    },
  );
});

/** Returns all bytes of a response, without the values that differ between requests. */
async function bytesOf({ way, operation, rule, caller }: Cell, target: AccessTarget): Promise<string> {
  const { host, port } = new URL(way === 'through the gateway' ? gateway.url : serviceBehind(operation).url);
  const token = tokens.get(caller);
  const body = rule.body === undefined ? '' : JSON.stringify(rule.body());
  const type = operation.method === 'patch' ? 'application/merge-patch+json' : 'application/json';
  const lines = [
    `${operation.method.toUpperCase()} ${pathOf(operation, rule, target)} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === '' ? [] : [`Content-Type: ${type}`, `Content-Length: ${body.length}`]),
  ];
  const { text } = await sendRaw(Number(port), `${lines.join('\r\n')}\r\n\r\n${body}`, 10_000);
  const [, id = ''] = /^X-Request-Id: (\S+)/im.exec(text) ?? [];
  expect(id).not.toBe('');
  return text.replaceAll(id, '').replace(/^(Date|traceparent|RateLimit): .*/gim, '$1:');
}

describe.each(ways)('the orders of all accounts, %s', (way) => {
  it.each(accessCallers)('the list of the orders of all accounts follows the access rule as %s', async (caller) => {
    const token = tokens.get(caller);
    const toward = way === 'through the gateway' ? client : shop.service('orders').client;
    const { status, body } = await toward.get('/v1/orders?accountId=all', token === undefined ? {} : { token });
    const permitted = scopesOf(caller).includes('orders:read-all');
    expect(status).toBe(refusal({ forMachines: true, expected: () => 200 }, caller) ?? (permitted ? 200 : 403));
    if (permitted)
      expect(body.items.map(({ id }) => id)).toEqual(expect.arrayContaining([ids.order.own, ids.order.foreign]));
  });
});

const hidden = cells.filter(({ rule, caller }) => {
  const foreign = expectedStatus(rule, caller, 'foreign');
  return rule.resource !== undefined && foreign >= 400 && foreign === expectedStatus(rule, caller, 'absent');
});

it.each(hidden)(
  'the request $id $way by $caller returns the same response for a foreign and for a missing resource',
  async (cell) => {
    const [foreign, absent] = await Promise.all([bytesOf(cell, 'foreign'), bytesOf(cell, 'absent')]);
    expect(foreign).toMatch(new RegExp(`^HTTP/1.1 ${expectedStatus(cell.rule, cell.caller, 'absent')} `));
    expect(foreign).toBe(absent);
  },
);

describe.each(internal)('$operationId, which is internal, does not exist at the gateway', (operation) => {
  const method = operation.method.toUpperCase();
  const path = () => operation.path.replace(/\{\w+\}/, ids.order.own);
  const nothing = [404, 'not-found', false];
  const ask = async (credentials: CallOptions): Promise<unknown[]> => {
    const requestId = newId();
    const headers = { ...credentials.headers, 'X-Request-Id': requestId };
    const { status, body } = await gateway.client.call(method, path(), { ...credentials, headers });
    return [status, body.code, heardByService(requestId)];
  };

  it.each(accessCallers)('the internal operation does not exist at the gateway for %s', async (caller) => {
    const token = tokens.get(caller);
    expect(await ask(token === undefined ? {} : { token })).toEqual(nothing);
  });

  it('the internal operation does not exist at the gateway for a service with an accepted token', async () => {
    const { service = '', security } = operation;
    const Authorization = createServiceTokens({ secrets: [secret], name: 'test' }).sign(service, {
      method,
      path: path(),
      body: '',
    });
    const allowed: CallOptions =
      security.access === 'service' ? { headers: { Authorization } } : { token: tokens.get('reader') ?? '' };
    const past = await serviceBehind(operation).client.call(method, path(), allowed);
    expect([401, 403]).not.toContain(past.status);
    expect(await ask(allowed)).toEqual(nothing);
  });
});

/**
 * The operations that do not do what their method says: a search only reads, and an export is written to the audit log.
 */
const exceptions: readonly string[] = ['searchProducts', 'quoteOrder', 'exportAccount'];

// The last test: no other one can use the services afterwards.
it('on a read-only server, every operation that changes data is rejected, and the others respond', async () => {
  await setReadOnly(shop.database.adminUrl, services, true);
  await eventually(async () => {
    for (const name of services) expect((await fetch(`${shop.service(name).url}/health/ready`)).status).toBe(503);
  });
  const wrong: string[] = [];
  for (const cell of cells) {
    const { id, way, operation, rule, caller } = cell;
    if (way === 'through the gateway' || refusal(rule, caller) !== undefined) continue;
    if (rule.expected(caller, 'own') >= 300) continue;
    const { status, text } = await call(cell, 'own', newId());
    const changes = (operation.method !== 'get') !== exceptions.includes(id);
    if ((status === 503) !== changes) wrong.push(`${id} as ${caller}: ${status} ${text.slice(0, 200)}`);
  }
  expect(wrong).toEqual([]);
});
