// The probe of a service: it measures the service, and not the requests of clients.
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { configWith, startGateway } from '../start-gateway.ts';

it('the gateway keeps a service in rotation while a request occupies its only connection', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-config-'));
  await configWith(folder, '{ serviceEndpoint: catalogue }', '{ serviceEndpoint: catalogue, connections: 1 }');
  const gateway = await startGateway({ GATEWAY_CONFIG_DIR: folder });
  try {
    const held: ServerResponse[] = [];
    gateway.service.answer = (_request, response) => void held.push(response);
    const asked = gateway.client.get('/v1/products/1');
    await eventually(() => expect(held).toHaveLength(1));
    // Several probes, each of which waits for at most a second.
    for (let waited = 0; waited < 4_000; waited += 100) {
      expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
      await setTimeout(100);
    }
    held[0]?.end('{}');
    expect((await asked).status).toBe(200);
    // A probe that waited for the connection would end now.
    await setTimeout(1_000);
    expect(gateway.output()).not.toContain('address not ready');
  } finally {
    await gateway.stop();
    await rm(folder, { recursive: true });
  }
});
