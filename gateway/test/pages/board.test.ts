// The board: its access rules, its data, and that it can be switched off.
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readYaml } from '@shop/shared/contract';
import { eventually } from '@shop/shared/testing';
import type { GatewayConfig } from '../../src/entry/gateway-config.ts';
import { Traffic } from '../../src/entry/traffic.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { type StubService, startStub } from '../stub-service.ts';

const folder = fileURLToPath(new URL('../../config', import.meta.url));
const { serviceEndpoints } = readYaml(`${folder}/gateway.config.yml`) as Pick<GatewayConfig, 'serviceEndpoints'>;

let gateway: TestGateway | undefined;
let orders: StubService | undefined;
let notifications: StubService | undefined;
let reader: ReadableStreamDefaultReader<string> | undefined;
afterEach(async () => {
  await reader?.cancel();
  reader = undefined;
  await gateway?.stop();
  await orders?.close();
  orders = undefined;
  await notifications?.close();
  notifications = undefined;
});

async function startReal(environment: Record<string, string> = {}): Promise<TestGateway> {
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: folder, ...environment });
  return gateway;
}

interface BoardState {
  readonly parts: readonly { readonly kind: string; readonly name: string; readonly state: string }[];
  readonly shop?: { readonly within: number; readonly processes: readonly { readonly requests: number }[] };
}

/** Reads the events of a stream, one after the other. */
function events(response: Response): () => Promise<BoardState> {
  const source = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  reader = source;
  let text = '';
  return async () => {
    for (let end = text.indexOf('\n\n'); ; end = text.indexOf('\n\n')) {
      if (end >= 0) {
        const event = text.slice('data: '.length, end);
        text = text.slice(end + 2);
        return JSON.parse(event) as BoardState;
      }
      const { value } = (await source?.read()) ?? {};
      if (value === undefined) throw new Error('the stream is over');
      text += value;
    }
  };
}

async function firstEvent(url: string, token: string): Promise<{ response: Response; state: BoardState }> {
  const response = await fetch(`${url}/board/events`, { headers: { Authorization: `Bearer ${token}` } });
  return { response, state: await events(response)() };
}

describe('the board', () => {
  it('the board shows its page to everyone and its data to staff only', async () => {
    const { client, issuer, url } = await startReal();
    const page = await fetch(`${url}/board`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe|\*/);
    expect((await client.get('/board/events')).status).toBe(401);
    const customer = await issuer.sign({ scopes: ['orders:fulfil'] });
    expect((await client.get('/board/events', { token: customer })).status).toBe(403);
    const { response } = await firstEvent(url, await issuer.sign({ scopes: ['orders:read-all'] }));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const staff = { Authorization: `Bearer ${await issuer.sign({ scopes: ['orders:read-all'] })}` };
    for (const path of ['/board', '/board/events']) {
      const ask = (method: string) => fetch(`${url}${path}`, { method, headers: staff });
      expect((await ask('POST')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect((await ask('OPTIONS')).status).toBe(204);
      expect([(await ask('HEAD')).status, await (await ask('HEAD')).text()]).toEqual([200, '']);
    }
  });

  it('the board reports which services are ready, and the requests of the last minute', async () => {
    const { client, issuer, url } = await startReal();
    for (let left = 3; left > 0; left--) await client.get('/v1/products');
    expect((await client.get('/v1/orders')).status).toBe(401);
    const { state } = await firstEvent(url, await issuer.sign({ scopes: ['orders:read-all'] }));
    expect(state).toMatchObject({
      blind: true,
      parts: ['gateway', ...Object.keys(serviceEndpoints)].map((name) => ({
        kind: 'process',
        name,
        state: 'ready',
        faults: [],
      })),
      operations: [
        { operation: 'listProducts', requests: 3, refused: 0, failed: 0 },
        { operation: 'listOrders', requests: 1, refused: 1 },
      ],
    });
  });

  it('the board shows that a service becomes unavailable and recovers', async () => {
    const { issuer, url, service } = await startReal();
    const headers = { Authorization: `Bearer ${await issuer.sign({ scopes: ['orders:read-all'] })}` };
    const next = events(await fetch(`${url}/board/events`, { headers }));
    const stateOfOrders = async (): Promise<string | undefined> =>
      (await next()).parts.find(({ name }) => name === 'orders')?.state;
    service.ready = false;
    while ((await stateOfOrders()) !== 'not ready');
    service.ready = true;
    while ((await stateOfOrders()) !== 'ready');
  });

  it('the board can be open five times for one account and 50 times in all, and logs further error responses', async () => {
    const { issuer, url, output } = await startReal();
    let leave = new AbortController();
    // The responses are kept in a variable: `fetch` closes the connection of a response that is garbage-collected.
    const answers: Response[] = [];
    const watch = async (accountId: string) => {
      const token = await issuer.sign({ accountId, scopes: ['orders:read-all'] });
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/board/events`, { headers, signal: leave.signal });
      answers.push(answer);
      return answer;
    };
    const accounts = Array.from({ length: 10 }, (_, index) => `01932f7c-8e5a-7c3e-9d52-00000000000${index}`);
    const [first = '', ...others] = accounts;
    try {
      for (let open = 0; open < 5; open += 1) expect((await watch(first)).status).toBe(200);
      const refused = await watch(first);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
      expect(await refused.json()).toMatchObject({
        code: 'too-many-requests',
        detail: 'This account has 5 boards open; close one of them.',
      });
      for (const account of others)
        for (let open = 0; open < 5; open += 1) expect((await watch(account)).status).toBe(200);
      const full = await watch('01932f7c-8e5a-7c3e-9d52-00000000000a');
      expect([full.status, full.headers.get('retry-after')]).toEqual([503, '60']);
      await eventually(() => expect(output()).toContain('"reason":"50 boards are open"'));
    } finally {
      leave.abort();
    }
    leave = new AbortController();
    await eventually(async () => expect((await watch(first)).status).toBe(200));
    for (let open = 1; open < 5; open += 1) expect((await watch(first)).status).toBe(200);
    leave.abort();
  });

  it('the board ends a stream when its token expires', async () => {
    const { issuer, url } = await startReal();
    // A token is accepted for 5 s after its expiry.
    const token = await issuer.sign({ scopes: ['orders:read-all'], expiresIn: 1 });
    const next = events(await fetch(`${url}/board/events`, { headers: { Authorization: `Bearer ${token}` } }));
    await expect(
      (async () => {
        for (let count = 0; count < 20; count += 1) await next();
      })(),
    ).rejects.toThrow('the stream is over');
  });

  it('the board returns 404 when it is switched off', async () => {
    const { issuer, url } = await startReal({ BOARD: 'off' });
    const headers = { Authorization: `Bearer ${await issuer.sign({ scopes: ['orders:read-all'] })}` };
    expect((await fetch(`${url}/board`)).status).toBe(404);
    expect((await fetch(`${url}/board/events`, { headers })).status).toBe(404);
  });
});

/** The metrics of orders after the given number of requests. */
const metrics = (
  requests: number,
  failed: number,
  reserved: number,
): string => `# TYPE http_server_request_duration histogram
http_server_request_duration_count{http_response_status_code="200",service_name="orders"} ${requests}
http_server_request_duration_count{http_response_status_code="503",service_name="orders"} ${failed}
http_server_request_duration_bucket{http_response_status_code="200",service_name="orders",le="0.01"} ${requests / 2}
http_server_request_duration_bucket{http_response_status_code="200",service_name="orders",le="0.1"} ${requests}
http_server_request_duration_bucket{http_response_status_code="200",service_name="orders",le="+Inf"} ${requests}
shop_outbox_lag{service_name="orders"} 1.5
shop_queue_depth{messaging_consumer_group_name="orders.effects",shop_state="waiting"} 3
shop_queue_depth{messaging_consumer_group_name="orders.effects",shop_state="delayed"} 2
shop_queue_depth{messaging_consumer_group_name="orders.effects",shop_state="dead"} 1
shop_webhooks{shop_webhook_state="active"} 2
shop_webhooks{shop_webhook_state="suspended"} 1
shop_webhooks_failing_age 4000
shop_webhooks_parked 3
shop_orders_open{shop_status="pending"} 7
shop_orders_finished{shop_status="delivered"} 4000
shop_stock_movements_total{shop_kind="reserved"} ${reserved}
shop_relay_events_total{shop_outcome="confirmed"} ${reserved}
shop_relay_events_total{shop_outcome="unknown"} ${2 * reserved}
shop_deliveries_total{messaging_consumer_group_name="orders.effects",shop_outcome="done"} ${reserved}
http_client_request_duration_count{server_address="catalogue",http_response_status_code="200"} ${reserved}
shop_health{shop_check="ready"} 0
shop_health{shop_check="database"} 0
shop_health{shop_check="outboxLag"} 1
`;

describe('the metrics of all processes', () => {
  it('the metrics of all processes show the state of each process, and the changes since the board was opened', async () => {
    orders = await startStub();
    let text = metrics(10, 0, 5);
    orders.answer = (_request, response) => {
      response.setHeader('Content-Type', 'text/plain').end(text);
    };
    const { issuer, url } = await startReal({
      METRICS_URLS: `orders=${orders.url}/metrics,catalogue=http://127.0.0.1:9/metrics`,
    });
    const token = await issuer.sign({ scopes: ['orders:read-all'] });
    const response = await fetch(`${url}/board/events`, { headers: { Authorization: `Bearer ${token}` } });
    const next = events(response);
    let { shop } = await next();
    while (shop === undefined) ({ shop } = await next());
    text = metrics(110, 4, 25);
    while (shop?.processes[0]?.requests === 0) ({ shop } = await next());
    expect(shop).toMatchObject({
      processes: [
        {
          ...{ process: 'orders', known: 1, replicas: 1, ready: 0, failing: ['database'] },
          ...{ requests: 104, failed: 4, half: 10, most: 100, lag: 1.5, published: 20, calls: { catalogue: 20 } },
        },
        { process: 'catalogue', known: 1, replicas: 0, ready: 0, failing: [], requests: 0 },
      ],
      queues: [{ consumer: 'orders.effects', waiting: 3, delayed: 2, dead: 1, taken: 20 }],
      webhooks: { states: { active: 2, suspended: 1 }, failingAge: 4_000, parked: 3 },
      orders: { pending: 7, delivered: 4_000 },
      stock: { reserved: 20 },
    });
  });
});

describe('the trace of an order', () => {
  const id = '01a1fd73-5e3e-74c8-9e75-bb405acc89fd';
  const order = { orderId: id, accountId: '01a1fd73-5e3e-74c8-9e75-bb405acc89fe', status: 'cancelled' };

  it('the trace of an order is read from the services with the token of the operator', async () => {
    const mails = await startStub();
    notifications = mails;
    const { client, issuer, service } = await startReal({ NOTIFICATIONS_URL: mails.url });
    const step = (second: number, kind: string, what: string) => ({
      kind,
      at: `2026-01-01T00:00:0${second}.000Z`,
      what,
    });
    service.answer = (request, response) => {
      const body = request.url?.startsWith('/internal/orders/')
        ? { ...order, reservationId: 'r', steps: [step(2, 'transition', 'cancelled'), step(2, 'event', 'published')] }
        : { steps: [step(1, 'reservation', 'reserved'), step(3, 'reservation', 'released')] };
      response.end(JSON.stringify(body));
    };
    mails.answer = (_request, response) => {
      response.end(JSON.stringify({ steps: [step(2, 'delivery', 'taken'), step(2, 'e-mail', 'sent')] }));
    };
    const token = await issuer.sign({ scopes: ['orders:read-all'] });
    const { status, body } = await client.get(`/board/orders/${id}`, { token });
    expect([status, body]).toEqual([
      200,
      {
        ...order,
        steps: [
          { service: 'catalogue', ...step(1, 'reservation', 'reserved') },
          { service: 'notifications', ...step(2, 'delivery', 'taken') },
          { service: 'orders', ...step(2, 'transition', 'cancelled') },
          { service: 'notifications', ...step(2, 'e-mail', 'sent') },
          { service: 'orders', ...step(2, 'event', 'published') },
          { service: 'catalogue', ...step(3, 'reservation', 'released') },
        ],
        missing: [],
      },
    ]);
    expect(mails.seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      [`/internal/orders/${id}/trace`, `Bearer ${token}`],
    ]);
    expect(service.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
    expect(service.seen.map(({ url }) => url)).toEqual([
      `/internal/orders/${id}/trace`,
      '/internal/reservations/r/trace',
    ]);
  });

  it('the trace of an order names the services that do not respond, and the gateway stays ready without notifications', async () => {
    const mails = await startStub();
    notifications = mails;
    mails.ready = false;
    const { client, issuer, service } = await startReal({ NOTIFICATIONS_URL: mails.url });
    service.answer = (request, response) => {
      const isOrder = request.url?.startsWith('/internal/orders/') === true;
      response.writeHead(isOrder ? 200 : 500).end(JSON.stringify({ ...order, reservationId: 'r', steps: [] }));
    };
    mails.answer = (_request, response) => void response.writeHead(503).end('{}');
    const token = await issuer.sign({ scopes: ['orders:read-all'] });
    const { status, body } = await client.get(`/board/orders/${id}`, { token });
    expect([status, body.steps, new Set(body.missing as string[])]).toEqual([
      200,
      [],
      new Set(['catalogue', 'notifications']),
    ]);
    const { status: ready, body: health } = await client.get('/health/ready');
    const checks = { accounts: 'ok', orders: 'ok', changes: 'ok', catalogue: 'ok' };
    expect([ready, health]).toEqual([200, { status: 'ready', checks }]);
  });

  it('the trace of an order is available to staff only, and returns 404 for an unknown order', async () => {
    const { client, issuer, service } = await startReal();
    expect((await client.get(`/board/orders/${id}`)).status).toBe(401);
    const customer = await issuer.sign({ scopes: [] });
    expect((await client.get(`/board/orders/${id}`, { token: customer })).status).toBe(403);
    const token = await issuer.sign({ scopes: ['orders:read-all'] });
    expect((await client.get('/board/orders/nonsense', { token })).status).toBe(404);
    expect(service.seen).toEqual([]);
    service.answer = (_request, response) => {
      response.writeHead(404).end('{}');
    };
    expect((await client.get(`/board/orders/${id}`, { token })).status).toBe(404);
    service.answer = (_request, response) => {
      response.writeHead(500).end('{}');
    };
    expect((await client.get(`/board/orders/${id}`, { token })).status).toBe(503);
  });
});

describe('traffic', () => {
  it('the traffic table counts requests by outcome and measures their duration', () => {
    const traffic = new Traffic();
    for (let took = 1; took <= 100; took++)
      traffic.record('listProducts', took > 98 ? 503 : took > 95 ? 404 : 200, took, 1_000);
    traffic.record('getOrder', 200, 60_000, 1_000);
    expect(traffic.figures(1_000)).toEqual([
      { operation: 'listProducts', requests: 100, refused: 3, failed: 2, half: 50, most: 100 },
      { operation: 'getOrder', requests: 1, refused: 0, failed: 0, half: 10_000, most: 10_000 },
    ]);
  });

  it('the traffic table does not count requests that are older than a minute', () => {
    const traffic = new Traffic();
    traffic.record('listProducts', 200, 1, 1_000);
    traffic.record('listProducts', 200, 1, 50_000);
    expect(traffic.figures(59_000)).toMatchObject([{ requests: 2 }]);
    expect(traffic.figures(61_000)).toMatchObject([{ requests: 1 }]);
    expect(traffic.figures(200_000)).toEqual([]);
  });
});
