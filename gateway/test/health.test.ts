// The health addresses of the gateway.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

describe.each(['/health/live', '/health/accepting', '/health/ready'])('%s', (path) => {
  it('a health endpoint can be read', async () => {
    expect(await gateway.client.get(path)).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(await gateway.client.call('HEAD', path)).toMatchObject({ status: 200, text: '' });
  });

  it('a health endpoint lists the allowed methods with OPTIONS', async () => {
    const { status, headers, text } = await gateway.client.call('OPTIONS', path);
    expect([status, headers.allow, text]).toEqual([204, 'GET, HEAD, OPTIONS', '']);
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-content-type-options': 'nosniff' });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('a health endpoint rejects %s', async (method) => {
    expect(await gateway.client.call(method, path)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
      body: { code: 'method-not-allowed' },
    });
  });
});

it('a health endpoint rejects a client address that sends thousands of probes, and no other', async () => {
  const ask = () => gateway.client.get('/health/live');
  let refused: Awaited<ReturnType<typeof ask>> | undefined;
  for (let asked = 0; asked < 10_000 && refused === undefined; asked += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    refused = answers.find(({ status }) => status !== 200);
    // Health probes send far fewer than 1,000 requests, so none of the first 1,000 may be refused.
    if (asked < 1_000) expect(refused).toBeUndefined();
  }
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
  expect(await gateway.client.get('/v1/products')).toMatchObject({ status: 200 });
  const probe = connect({ port: gateway.port, host: '127.0.0.1', localAddress: '127.0.1.1' });
  probe.write('GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n');
  expect(String(await once(probe, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  probe.destroy();
});
