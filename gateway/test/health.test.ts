// The addresses that are asked by those who run the gateway.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

describe.each(['/health/live', '/health/ready'])('%s', (path) => {
  it('can be read', async () => {
    expect(await gateway.client.get(path)).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(await gateway.client.call('HEAD', path)).toMatchObject({ status: 200, text: '' });
  });

  it('says with OPTIONS what can be done', async () => {
    const { status, headers, text } = await gateway.client.call('OPTIONS', path);
    expect([status, headers.allow, text]).toEqual([204, 'GET, HEAD, OPTIONS', '']);
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-content-type-options': 'nosniff' });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('refuses %s', async (method) => {
    expect(await gateway.client.call(method, path)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
      body: { code: 'method-not-allowed' },
    });
  });
});
