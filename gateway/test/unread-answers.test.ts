// A client that does not read its answers: what it holds is its own connection, never one to a service.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { configWith, startGateway, type TestGateway } from './start-gateway.ts';

/** Less than the gateway holds for a client; more of them than the buffers between it and the client take. */
const answer = Buffer.alloc(240 * 1_024, 'x');
const asked = 100;

let folder: string | undefined;
let gateway: TestGateway | undefined;
let silent: Socket | undefined;
afterEach(async () => {
  silent?.destroy();
  await gateway?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

it('leaves the only connection to the service to the others', async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-config-'));
  await configWith(folder, '{ serviceEndpoint: catalogue }', '{ serviceEndpoint: catalogue, connections: 1 }');
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: folder });
  const { service, client, port } = gateway;
  service.answer = (_request, response) => void response.end(answer);

  silent = connect(port, '127.0.0.1');
  silent.on('error', () => {});
  await once(silent, 'connect');
  silent.write('GET /v1/products/1 HTTP/1.1\r\nHost: shop\r\n\r\n'.repeat(asked));
  // Until nothing more fits between the gateway and this client.
  for (let before = -1; before !== service.seen.length || before === 0; await setTimeout(1_000))
    before = service.seen.length;
  expect(service.seen.length).toBeLessThan(asked);

  service.answer = (_request, response) => void response.end('{}');
  expect(await client.get('/v1/products/2')).toMatchObject({ status: 200 });
});
