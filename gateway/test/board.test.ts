// The board: for whom its figures are, what they say, and that it can be off.
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Traffic } from '../board/traffic.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

const folder = fileURLToPath(new URL('../config', import.meta.url));

let gateway: TestGateway | undefined;
afterEach(() => gateway?.stop());

async function startReal(environment: Record<string, string> = {}): Promise<TestGateway> {
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: folder, ...environment });
  return gateway;
}

async function firstEvent(url: string, token: string): Promise<{ response: Response; state: unknown }> {
  const response = await fetch(`${url}/board/events`, { headers: { Authorization: `Bearer ${token}` } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const { value = '' } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return { response, state: JSON.parse(value.replace(/^data: /, '')) };
}

describe('the board', () => {
  it('shows its page to anybody, its figures to staff only', async () => {
    const { client, issuer, url } = await startReal();
    const page = await fetch(`${url}/board`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe|\*/);
    expect((await client.get('/board/events')).status).toBe(401);
    const customer = await issuer.sign({ scopes: ['orders:fulfil'] });
    expect((await client.get('/board/events', { token: customer })).status).toBe(403);
    const { response } = await firstEvent(url, await issuer.sign({ scopes: ['orders:read-all'] }));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect((await fetch(`${url}/board`, { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it('tells which services are ready and what came through in the last minute', async () => {
    const { client, issuer, url } = await startReal();
    for (let left = 3; left > 0; left--) await client.get('/v1/products');
    expect((await client.get('/v1/orders')).status).toBe(401);
    const { state } = await firstEvent(url, await issuer.sign({ scopes: ['orders:read-all'] }));
    expect(state).toMatchObject({
      services: { accounts: true, orders: true, catalogue: true },
      operations: [
        { operation: 'listProducts', requests: 3, refused: 0, failed: 0 },
        { operation: 'listOrders', requests: 1, refused: 1 },
      ],
    });
  });

  it('is nowhere when it is off', async () => {
    const { issuer, url } = await startReal({ BOARD: 'off' });
    const headers = { Authorization: `Bearer ${await issuer.sign({ scopes: ['orders:read-all'] })}` };
    expect((await fetch(`${url}/board`)).status).toBe(404);
    expect((await fetch(`${url}/board/events`, { headers })).status).toBe(404);
  });
});

describe('traffic', () => {
  it('counts by how a request ended, and says how long they took', () => {
    const traffic = new Traffic();
    for (let took = 1; took <= 100; took++)
      traffic.record('listProducts', took > 98 ? 503 : took > 95 ? 404 : 200, took, 1_000);
    traffic.record('getOrder', 200, 60_000, 1_000);
    expect(traffic.figures(1_000)).toEqual([
      { operation: 'listProducts', requests: 100, refused: 3, failed: 2, half: 50, most: 100 },
      { operation: 'getOrder', requests: 1, refused: 0, failed: 0, half: 10_000, most: 10_000 },
    ]);
  });

  it('forgets what is older than a minute', () => {
    const traffic = new Traffic();
    traffic.record('listProducts', 200, 1, 1_000);
    traffic.record('listProducts', 200, 1, 50_000);
    expect(traffic.figures(59_000)).toMatchObject([{ requests: 2 }]);
    expect(traffic.figures(61_000)).toMatchObject([{ requests: 1 }]);
    expect(traffic.figures(200_000)).toEqual([]);
  });
});
