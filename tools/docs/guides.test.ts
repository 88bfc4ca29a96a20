// The guides are tested with a running shop: the command line of every request in them is run, and the response is
// compared with the shown one.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MachineSecret } from '@shop/accounts/operator';
import { createShop } from '@shop/client';
import { dereference, toNode } from '@shop/shared/contract';
import { eventually, installPackage } from '@shop/shared/testing';
import { askShop } from '../../cli/test/started-shop.ts';
import { type RunningShop, startShop } from '../../test/running-shop.ts';
import { guideNames } from '../../web/src/docs/chapters.ts';
import { variables } from '../../web/src/docs/guide-request.ts';
import { differences, type Exchange, examplesOf } from './guide-examples.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const password = 'a long and quiet river';

let shop: RunningShop;

beforeAll(async () => {
  await promisify(execFile)('curl', ['--version']).catch(() => installPackage('curl'));
  shop = await startShop();
});

afterAll(() => shop.stop());

/** The values of the placeholders of a guide. Responses add further values. */
type Values = Record<string, string>;

async function newCustomer(): Promise<Values> {
  const email = `${randomUUID()}@example.com`;
  const client = createShop({ baseUrl: shop.url });
  const account = await client.call.POST('/v1/accounts', { body: { email, name: 'Kim Park', password } });
  const { data } = await client.call.POST('/v1/tokens', { body: { email, password } });
  const page = await client.call.GET('/v1/products', { params: { query: { status: ['available'], limit: 1 } } });
  return {
    email,
    accountId: account.data?.id ?? '',
    accessToken: data?.access_token ?? '',
    productId: page.data?.items[0]?.id ?? '',
  };
}

/** A customer who is also staff, with a token that has the scopes. */
async function newStaff(): Promise<Values> {
  const [values, customer] = [await newCustomer(), await newCustomer()];
  const scopes = [
    'accounts:support',
    'catalogue:write',
    'orders:fulfil',
    'orders:read-all',
    'settings:write',
    'webhooks:write',
  ];
  await shop.grant(values.email ?? '', ...scopes);
  const client = createShop({ baseUrl: shop.url });
  const { data } = await client.call.POST('/v1/tokens', { body: { email: values.email ?? '', password } });
  const token = data?.access_token ?? '';
  const { email: customerEmail = '', accountId: customerId = '' } = customer;
  return { ...values, customerEmail, customerId, staffToken: token };
}

/** A customer, and a machine that reports payments. */
async function newPayer(): Promise<Values> {
  const create = ['machines', 'create', `payments-${randomUUID()}`, '--scope', 'payments:write'];
  const { clientId, clientSecret } = await askShop<MachineSecret>(shop.dataDir, ...create);
  return { ...(await newCustomer()), clientId, clientSecret };
}

/** A customer, and a shop in which two products were added. */
async function newFollower(): Promise<Values> {
  const values = await newStaff();
  const client = createShop({ baseUrl: shop.url });
  const headers = { Authorization: `Bearer ${values.staffToken}` };
  for (const name of ['Enamel mug', 'Tin mug']) {
    const body = { name, brand: 'Acme', category: 'kitchen', price: 14.5, stock: 1, status: 'active' } as const;
    await client.call.POST('/v1/products', { body, headers });
  }
  return values;
}

/** The callers of guides in which others than a customer send requests. */
const callers = new Map([
  ['staff', newStaff],
  ['following-changes', newFollower],
  ['shipping-taxes-discounts', newStaff],
  ['returns', newStaff],
  ['webhooks', newStaff],
  ['taking-payments', newPayer],
]);

function filled(text: string, values: Values): string {
  return text
    .replaceAll('kim@example.com', values.email ?? '')
    .replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** Runs commands in a shell in which the variables have the values. An unset variable is an error. */
async function inShell(script: string, values: Values): Promise<string> {
  const own = Object.entries(variables).map(([name, variable]) => [variable, values[name]]);
  const env = { ...process.env, ...Object.fromEntries(own.filter(([, value]) => value !== undefined)) };
  return (await promisify(execFile)('sh', ['-uc', script], { env })).stdout;
}

/** Runs the command line of the page in a shell, as a reader does. */
async function send({ curl }: Exchange, values: Values) {
  const line = curl
    .replaceAll(/OWN_(\w+?)_VALUE/g, (_mark, name: string) => (name === 'origin' ? shop.url : (values[name] ?? name)))
    .replaceAll(/(?:\{|%7B)(\w+)(?:\}|%7D)/g, (place, name: string) => values[name] ?? place);
  const run = (script: string) => inShell(script, values);
  // A line that keeps a token prints no response. The test that pastes the page runs the whole line.
  const [, inner = line] = /^[A-Z_]+=\$\((curl .*?)(?: \| sed [^\n]*)?\)(?:\nprintf .*)?$/s.exec(line) ?? [];
  const [head = '', ...rest] = (await run(inner.replace(/^curl(?: -sS)? /, 'curl -sS --include '))).split('\r\n\r\n');
  const [first = '', ...fields] = head.split('\r\n');
  const names = new Set(fields.map((field) => field.slice(0, field.indexOf(':')).toLowerCase()));
  const text = rest.join('\r\n\r\n');
  return {
    status: Number(first.split(' ')[1]),
    names,
    body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** The command lines of a page as a reader copies them, with own values in place of those of the page. */
function pastedFrom(page: string, values: Values): string {
  return [...page.matchAll(/ data-tab="curl"><code>(.*?)<\/code>/gs)]
    .map(([, html = '']) => {
      const own = (name: string, example: string): string => (name === 'origin' ? shop.url : (values[name] ?? example));
      const text = html
        .replaceAll(/<span class="own" data-own="(\w+)">(.*?)<\/span>/g, (_, name: string, text: string) =>
          own(name, text),
        )
        .replaceAll(/<[^>]+>/g, '')
        .replaceAll('&quot;', '"')
        .replaceAll('&#x27;', "'")
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&');
      return text.replaceAll(/(?:\{|%7B)(\w+)(?:\}|%7D)/g, (place, name: string) => values[name] ?? place);
    })
    .join('\n');
}

function remember(values: Values, { target, body: sent }: Exchange, body: Record<string, unknown> | undefined): void {
  const { access_token: token, id, pagination, totalCost, nextCursor } = body ?? {};
  if (typeof token === 'string') values[sent?.includes('client_credentials') ? 'payerToken' : 'accessToken'] = token;
  if (typeof id === 'string' && target === '/v1/orders') values.orderId = id;
  if (typeof id === 'string' && target.endsWith('/returns')) values.returnId = id;
  if (typeof id === 'string' && target === '/v1/webhooks') values.webhookId = id;
  if (typeof id === 'string' && target === '/v1/products/imports') values.importId = id;
  if (typeof totalCost === 'number') values.totalCost = String(totalCost);
  const next = (pagination as { nextCursor?: string } | undefined)?.nextCursor;
  if (next !== undefined) values.nextCursor = next;
  if (typeof nextCursor === 'string') values.changesCursor = nextCursor;
}

describe.each(guideNames)('the guide %s', (name) => {
  const examples = examplesOf(name);
  const exchanges = examples.filter((example) => example.kind === 'http');
  const snippets = examples.filter((example) => example.kind === 'ts');

  if (exchanges.length > 0) {
    it('each guide shows requests with their actual responses', async () => {
      const values = await (callers.get(name) ?? newCustomer)();
      // This guide registers the account itself.
      if (name === 'getting-started') values.email = `${randomUUID()}@example.com`;
      for (const exchange of exchanges) {
        // Waits for effects that the guide describes as "soon after".
        await eventually(
          async () => {
            const given = await send(exchange, values);
            const line = `${exchange.method} ${exchange.target}`;
            expect([line, given.status, given.body]).toEqual([line, exchange.answer?.status ?? 200, given.body]);
            expect([line, differences(exchange.answer?.body ?? {}, given.body ?? {})]).toEqual([line, []]);
            const missing = Object.keys(exchange.answer?.headers ?? {}).filter(
              (field) => !given.names.has(field.toLowerCase()),
            );
            expect([line, missing]).toEqual([line, []]);
            remember(values, exchange, given.body);
          },
          exchange.method === 'GET' ? 5_000 : 1,
        );
      }
    });
  }

  if (exchanges.length > 0) {
    it('each guide can be pasted into a shell as a whole', async () => {
      const values = await (callers.get(name) ?? newCustomer)();
      if (name === 'getting-started') for (const given of ['accessToken', 'productId']) delete values[given];
      // What the pages cannot show, as their texts say.
      else values.nextCursor ??= '';
      const page = await (await fetch(`${shop.url}/docs/${name}`)).text();
      const commands = pastedFrom(page, { ...values, email: `${randomUUID()}@example.com` });
      const stored = [...commands.matchAll(/^([A-Z_]+)=\$\(/gm)].map(([, variable = '']) => variable);
      const kept = stored.filter((variable) => variable !== 'RESPONSE');
      const shown = kept.map((variable) => `echo "kept ${variable}=$${variable}"`);
      const printed = await inShell([commands, ...shown].join('\n'), values);
      // A refusal would be kept as a whole, because it has no such member.
      for (const variable of kept) expect(printed).toMatch(new RegExp(`kept ${variable}=[\\w.-]+$`, 'm'));
      if (name !== 'getting-started') return;
      expect(kept).toEqual(['TOKEN', 'PRODUCT', 'ORDER']);
      expect(printed).toMatch(/"email_verified":false.*"status":"pending".*"status":"cancelled".*"stockReleased"/s);
    });
  }

  for (const { code } of snippets) {
    it(`each guide has TypeScript that runs: ${code.slice(0, 60).replaceAll('\n', ' ')}…`, async () => {
      const { email = '', productId } = await newCustomer();
      const prelude = `import { createShop } from '@shop/client';
        const shop = createShop({ baseUrl: 'http://localhost:8080' });
        const productId = '${productId}';
        await shop.logIn({ email: 'kim@example.com', password: '${password}' });\n`;
      const program = filled(code.includes('createShop') ? code : prelude + code, { email });
      const { stderr } = await promisify(execFile)(
        process.execPath,
        [
          '--disable-warning=ExperimentalWarning',
          '--conditions=@shop/source',
          '--input-type=module-typescript',
          '--eval',
          program.replaceAll('http://localhost:8080', shop.url),
        ],
        { cwd: root },
      );
      expect(stderr).toBe('');
    });
  }
});

describe('the published document', () => {
  it('the published document has only examples of parameters that are accepted', async () => {
    const { staffToken } = await newStaff();
    const document = toNode(await (await fetch(new URL('/v1/openapi.json', shop.url))).json());
    const refused: string[] = [];
    let sent = 0;
    for (const [path, item] of Object.entries(toNode(document.paths))) {
      const { parameters } = toNode(toNode(item).get);
      for (const given of Array.isArray(parameters) ? parameters : []) {
        const { name, in: place, examples } = dereference(document, given);
        for (const { value } of place === 'query' ? Object.values(toNode(examples)).map(toNode) : []) {
          const query = new URLSearchParams(
            [value].flat().map((text): [string, string] => [String(name), String(text)]),
          );
          const headers = { Authorization: `Bearer ${staffToken}` };
          const { status } = await fetch(new URL(`${path}?${query}`, shop.url), { headers });
          sent += 1;
          if (status !== 200) refused.push(`${path}?${query}`);
        }
      }
    }
    expect(sent).toBeGreaterThan(10);
    expect(refused).toEqual([]);
  });
});

describe('the client', () => {
  it('the client iterates over every product once, page after page', async () => {
    const client = createShop({ baseUrl: shop.url });
    const criteria = { price: { gte: 10 }, status: ['available', 'active'] as ('available' | 'active')[] };
    const sort = [{ field: 'price', direction: 'asc' }] as const;
    const walked = await Array.fromAsync(client.products(criteria, { sort, fields: ['id', 'price'], limit: 7 }));
    expect(walked.length).toBeGreaterThan(20);
    expect(new Set(walked.map(({ id }) => id)).size).toBe(walked.length);
    expect(walked.map(({ price }) => price)).toEqual(walked.map(({ price }) => price).sort((a, b) => a - b));
    expect(walked.every(({ price }) => price >= 10)).toBe(true);
    expect(Object.keys(walked[0] ?? {}).sort()).toEqual(['id', 'price']);
  });

  it('the client orders, lists its orders by the same criteria, and cancels', async () => {
    const { email = '', productId = '' } = await newCustomer();
    const client = createShop({ baseUrl: shop.url });
    await client.logIn({ email, password });
    const body = { items: [{ productId, quantity: 1 }] };
    const placed = await client.call.POST('/v1/orders', { body });
    const id = placed.data?.id ?? '';
    expect(await Array.fromAsync(client.orders({ status: 'pending', totalCost: { gte: 0 } }))).toEqual([placed.data]);
    const cancelled = await client.call.POST('/v1/orders/{orderId}/cancel', { params: { path: { orderId: id } } });
    expect(cancelled.data?.status).toBe('cancelled');
    expect(await Array.fromAsync(client.orders({ status: ['pending', 'shipped'] }))).toEqual([]);
    expect(await Array.fromAsync(client.orders({ status: { ne: 'pending' } }, { fields: ['id'] }))).toEqual([{ id }]);
  });

  it('the client throws the reason why an iteration was rejected', async () => {
    const client = createShop({ baseUrl: shop.url });
    const walk = Array.fromAsync(
      client.products({ brand: Array.from({ length: 101 }, (_, index) => `brand ${index}`) }),
    );
    await expect(walk).rejects.toMatchObject({ name: 'ShopError', status: 422, code: 'query-too-costly' });
  });
});
