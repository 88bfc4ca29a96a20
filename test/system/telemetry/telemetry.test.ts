// The telemetry of a running shop: one trace from the gateway to the e-mail, every monitored metric, and logs with the
// request of each line and without secrets.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/shop';
import {
  eventually,
  type OtlpReceiver,
  type ReceivedMetric,
  type ReceivedSpan,
  startOtlpReceiver,
} from '@shop/shared/testing';
import { launchShop, runningShop, runShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { type Receiver, startReceiver } from '../../../services/changes/test/webhooks/receiver.ts';
import { consumers } from '../../../shared/src/events/generated.ts';
import { namesIn, scrape } from './exposition.ts';
import { alertRules, dashboards, documentedMetrics } from './watched.ts';

const secret = 'hush-hush-hush';
const email = `${secret}@example.com`;
const trace = randomUUID().replaceAll('-', '');
const client = 'b7ad6b7169203331';
const traceparent = `00-${trace}-${client}-01`;

let folder: string;
let receiver: OtlpReceiver;
let endpoint: Receiver;
let shop: StartedShop;
let token: string;

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${shop.gateway}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  endpoint = await startReceiver();
  folder = await mkdtemp(join(tmpdir(), 'shop-telemetry-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  shop = await launchShop({
    dataDir: join(folder, 'data'),
    environment: {
      LOG_LEVEL: 'trace',
      CONTRACT_WATCH: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      WEBHOOKS_ALLOW: '127.0.0.0/8',
    },
  });
  await shop.ready;
  await post('/v1/accounts', { name: 'Kim', email, password: secret });
  await runShop(join(folder, 'data'), 'accounts', 'verify-email', email);
  await runShop(join(folder, 'data'), 'staff', 'grant', email, 'webhooks:write');
  const issued = (await (await post('/v1/tokens', { email, password: secret })).json()) as { access_token: string };
  token = issued.access_token;
  const bearer = { Authorization: `Bearer ${token}`, traceparent };
  const webhook = await post(
    '/v1/webhooks',
    { url: endpoint.url, types: ['order'] },
    { Authorization: `Bearer ${token}` },
  );
  expect(webhook.status).toBe(201);
  const page = await fetch(`${shop.gateway}/v1/products?inStock=true&limit=1`);
  const { items } = (await page.json()) as { items: { id: string }[] };
  const order = await post('/v1/orders', { items: [{ productId: items[0]?.id, quantity: 1 }] }, bearer);
  const { id } = (await order.json()) as { id: string };
  expect((await post(`/v1/orders/${id}/cancel`, {}, bearer)).status).toBe(200);
});

afterAll(async () => {
  await shop.end();
  await receiver.close();
  await endpoint.close();
  await rm(folder, { recursive: true, force: true });
});

const expected: readonly (readonly [service: string, span: string])[] = [
  ['gateway', 'POST /v1/orders'],
  ['gateway', 'POST orders'],
  ['orders', 'POST /v1/orders'],
  ['orders', 'POST catalogue'],
  ['catalogue', 'POST /internal/reservations'],
  ['catalogue', 'TRANSACTION'],
  ['orders', 'TRANSACTION'],
  ['orders', 'create order.created.v1'],
  ['orders', 'send order.created.v1'],
  ['catalogue', 'process order.created.v1'],
  ['notifications', 'process order.created.v1'],
  ['notifications', 'send order-received'],
  ['gateway', 'POST /v1/orders/{orderId}/cancel'],
  ['orders', 'send order.cancelled.v1'],
  ['catalogue', 'process order.cancelled.v1'],
  ['catalogue', 'send stock.released.v1'],
  ['orders', 'process stock.released.v1'],
  ['notifications', 'send order-cancelled'],
  ['orders', 'process notification.sent.v1'],
];

describe('the trace of an order that is placed and cancelled', () => {
  let spans: readonly ReceivedSpan[] = [];
  const has = (service: string, name: string) => spans.some((span) => span.service === service && span.name === name);

  beforeAll(async () => {
    const allThere = (): void => {
      spans = receiver.spans.filter(({ traceId }) => traceId === trace);
      expect(expected.filter(([service, name]) => !has(service, name))).toEqual([]);
    };
    await eventually(allThere, 60_000).catch(() => {}); // the tests say which of them did not come
  });

  it.each(expected)('the trace of an order that is placed and cancelled has in %s: %s', (service, name) => {
    expect(has(service, name)).toBe(true);
  });

  it('the trace of an order that is placed and cancelled is one tree below the trace context of the client', async () => {
    await eventually(() => {
      const all = receiver.spans.filter(({ traceId }) => traceId === trace);
      const known = new Set([client, ...all.map(({ spanId }) => spanId)]);
      expect(all.filter(({ parentSpanId = '' }) => !known.has(parentSpanId))).toEqual([]);
      expect(all.filter(({ parentSpanId }) => parentSpanId === client)).toHaveLength(2);
    }, 15_000);
  });

  it('the trace of an order that is placed and cancelled shows each statement as a child of its transaction', async () => {
    await eventually(() => {
      const all = receiver.spans.filter(({ traceId }) => traceId === trace);
      const transactions = new Set(all.filter(({ name }) => name === 'TRANSACTION').map(({ spanId }) => spanId));
      const statements = all.filter(({ parentSpanId = '' }) => transactions.has(parentSpanId));
      const services = new Set(statements.map(({ service }) => service));
      const handling = Object.entries(consumers).filter(([, types]: [string, readonly string[]]) =>
        types.some((type) => type === 'order.created.v1' || type === 'order.cancelled.v1'),
      );
      expect(services).toEqual(new Set(['orders', ...handling.map(([consumer]) => consumer.split('.')[0])]));
    }, 15_000);
  });
});

describe('metrics', () => {
  const used = [
    ...alertRules().map(({ alert, expr }) => [`the alert ${alert}`, expr] as const),
    ...dashboards().flatMap(({ title, panels }) =>
      panels.flatMap((panel) => panel.targets.map(({ expr }) => [`${title}, ${panel.title}`, expr] as const)),
    ),
  ];
  /** Labels that Prometheus itself adds. */
  const ofPrometheus = { metrics: ['up'], labels: ['job', 'instance'] };

  it.each(used)('metrics of %s are exported by the processes', async (_where, expr) => {
    const { metrics } = await runningShop(shop.dataDir);
    const wanted = namesIn(expr);
    expect(wanted.metrics.size).toBeGreaterThan(0);
    await eventually(async () => {
      const { names, labels } = await scrape(Object.values(metrics));
      const known = { metrics: [...names, ...ofPrometheus.metrics], labels: [...labels, ...ofPrometheus.labels] };
      expect([...wanted.metrics].filter((name) => !known.metrics.includes(name))).toEqual([]);
      expect([...wanted.labels].filter((name) => !known.labels.includes(name))).toEqual([]);
    }, 15_000);
  });

  describe('of shared/contracts/metrics.yaml', () => {
    /** The exported metrics, each with the combinations of attributes of all processes. */
    const exported = () => {
      const all = new Map<string, ReceivedMetric>();
      for (const [name, metric] of [...receiver.metrics.values()].flatMap((metrics) => [...metrics])) {
        all.set(name, { ...metric, attributes: [...(all.get(name)?.attributes ?? []), ...metric.attributes] });
      }
      return all;
    };

    beforeAll(async () => {
      // A page that was kept is dropped when a new product belongs on it.
      const page = async () => (await fetch(`${shop.gateway}/v1/products?status=active`)).arrayBuffer();
      await page();
      await page();
      const cup = { externalKey: 'CUP', name: 'Cup', brand: 'Acme', category: 'kitchen', price: 4.5, stock: 3 };
      await writeFile(join(folder, 'cups.ndjson'), JSON.stringify(cup));
      await runShop(shop.dataDir, 'products', 'import', join(folder, 'cups.ndjson'));
      await eventually(() => expect(exported().has('shop.pages.age')).toBe(true), 30_000);
    });

    it('the metrics of shared/contracts/metrics.yaml are all that the processes export', () => {
      expect([...exported().keys()].sort()).toEqual([...documentedMetrics.keys()].sort());
    });

    it.each([...documentedMetrics])(
      'the metrics of shared/contracts/metrics.yaml are exported as documented: %s',
      (name, documented) => {
        const { attributes: combinations = [], ...metric } = exported().get(name) ?? {};
        const { kind, unit, boundaries = [], attributes = [], sometimes = [] } = documented;
        expect(metric).toEqual({ kind, unit, boundaries });
        const permitted = [...attributes, ...sometimes];
        for (const combination of combinations) {
          expect(combination).toEqual(expect.arrayContaining([...attributes]));
          expect(combination.filter((attribute) => !permitted.includes(attribute))).toEqual([]);
        }
        // No request fails here.
        const seen = new Set(combinations.flat());
        expect(sometimes.filter((attribute) => attribute !== 'error.type' && !seen.has(attribute))).toEqual([]);
      },
    );
  });

  it('metrics are sent to the collector by every process', async () => {
    await eventually(() => {
      const senders = [...receiver.metrics].filter(([, names]) => names.has('nodejs.eventloop.delay'));
      expect(senders.map(([service]) => service).sort()).toEqual(['gateway', ...serviceNames].sort());
    }, 30_000);
  });

  it('metrics are not exposed to clients', async () => {
    expect((await fetch(`${shop.gateway}/metrics`)).status).toBe(404);
  });
});

describe('readiness', () => {
  it('readiness reports how long events wait in the outbox', async () => {
    const { processes } = await runningShop(shop.dataDir);
    for (const name of serviceNames) {
      const report: unknown = await (await fetch(`${processes[name]}/health/ready`)).json();
      expect(report).toMatchObject({ checks: { outboxLag: 'ok' }, figures: { outboxLag: expect.any(Number) } });
    }
  });
});

describe('the logs', () => {
  const logs = async (): Promise<{ name: string; lines: Record<string, unknown>[]; text: string }[]> => {
    const names = await readdir(join(shop.dataDir, 'logs'));
    return Promise.all(
      names.map(async (name) => {
        const text = await readFile(join(shop.dataDir, 'logs', name), 'utf8');
        const lines = text.split('\n').filter((line) => line.startsWith('{'));
        return { name, text, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
      }),
    );
  };

  it('the logs contain the request and the trace in the lines of every process that handled it', async () => {
    const about = (await logs()).flatMap(({ lines }) => lines.filter(({ trace_id }) => trace_id === trace));
    expect(about.length).toBeGreaterThan(0);
    expect(about.filter(({ requestId }) => typeof requestId !== 'string')).toEqual([]);
    const processes = about.map(({ name }) => name);
    expect(processes).toEqual(expect.arrayContaining(['catalogue', 'notifications', 'orders']));
  });

  it('the logs contain no secret, wherever it was sent', async () => {
    const anywhere: Record<string, string> = {
      Authorization: `Bearer ${secret}`,
      Cookie: `session=${secret}`,
      'X-Request-Id': email,
      'Idempotency-Key': secret,
      'X-Secret': secret,
    };
    const bearer = { Authorization: `Bearer ${token}` };
    const query = `password=${secret}&access_token=${token}&email=${email}`;
    await post('/v1/tokens', { email, password: `${secret} wrong` });
    await post('/v1/tokens', { refresh_token: secret }, anywhere);
    await post('/v1/tokens/revoke', { refresh_token: secret });
    await post('/v1/accounts', { name: secret, email, password: secret });
    await post('/v1/accounts', `{"password":"${secret}"`, anywhere);
    await post(`/v1/orders?${query}`, { items: secret }, bearer);
    await post('/v1/orders', { items: [] }, anywhere);
    const { processes } = await runningShop(shop.dataDir);
    for (const origin of [shop.gateway, ...Object.values(processes)]) {
      await fetch(`${origin}/v1/products?${query}`, { headers: anywhere });
      await fetch(`${origin}/v1/accounts/${secret}?${query}`, { headers: anywhere });
      await fetch(`${origin}/v1/orders?${query}`, { headers: bearer });
      await fetch(`${origin}/internal/reservations?${query}`, { method: 'POST', headers: anywhere, body: secret });
    }
    const found = (await logs()).filter(({ text }) => text.includes(secret) || text.includes(token.slice(0, 40)));
    expect(found.map(({ name }) => name)).toEqual([]);
    expect((await logs()).filter(({ lines }) => lines.length > 0).length).toBeGreaterThanOrEqual(5);
  });
});
