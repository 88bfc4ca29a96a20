// The start of the gateway, its refusal of an invalid configuration, the reload, and the stop.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, plainEnvironment } from '@shop/shared/testing';
import { configWith, copyConfig, spawnGateway, startGateway } from '../start-gateway.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-gateway-'));
});
afterAll(() => rm(folder, { recursive: true }));

const complete = {
  GATEWAY_PORT: '0',
  ACCOUNTS_URL: 'http://127.0.0.1:9',
  ORDERS_URL: 'http://127.0.0.1:9',
  CATALOGUE_URL: 'http://127.0.0.1:9',
  JWKS_URL: 'http://127.0.0.1:9/',
  JWT_ISSUER: 'i',
  JWT_AUDIENCE: 'a',
};

async function outcome(child: ChildProcess): Promise<{ code: number | null; error: string }> {
  let error = '';
  child.stderr?.on('data', (data) => {
    error += String(data);
  });
  const [code] = await once(child, 'exit');
  return { code, error };
}

describe('does not start', () => {
  it('the gateway does not start without its environment, and lists every missing variable', async () => {
    const { code, error } = await outcome(spawnGateway({ ACCOUNTS_URL: 'http://a/path', GATEWAY_PORT: 'x' }));
    expect(code).toBe(1);
    expect(
      error
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[1])
        .sort(),
    ).toEqual(['ACCOUNTS_URL', 'GATEWAY_PORT', 'JWKS_URL', 'JWT_AUDIENCE', 'JWT_ISSUER']);
  });

  it.each([
    'https://shop.example/',
    'https://shop.example/path',
    'https://Shop.example',
    'https://shop.example:443',
    'shop.example',
    'null',
    'ftp://shop.example',
    'https://user@shop.example',
    'https://*.shop.example',
    'https://a.example, *',
    'https://a.example,',
  ])('the gateway does not start with %s in CORS_ORIGINS', async (value) => {
    const { code, error } = await outcome(spawnGateway({ ...complete, CORS_ORIGINS: value }));
    expect(code).toBe(1);
    expect(error).toContain('CORS_ORIGINS must be *, or one or several origins like https://shop.example');
  });

  it('the gateway does not start on a port that is taken', async () => {
    const first = await startGateway();
    try {
      const { code, error } = await outcome(spawnGateway({ ...complete, GATEWAY_PORT: String(first.port) }));
      expect({ code, error }).toEqual({
        code: 1,
        error: `gateway: cannot listen on 127.0.0.1:${first.port} (the port is taken)\n`,
      });
    } finally {
      await first.stop();
    }
  });

  it.each([
    ['a policy that does not exist', 'policies: [api,', 'policies: [api, verify,', 'no such policy: verify'],
    ['a pipeline with an undeclared policy', 'policies: [api, ', 'policies: [', 'POLICY_NOT_DECLARED'],
    [
      'a policy that forwards without authentication',
      'policies: [api, ',
      'policies: [api, forward, ',
      'no such policy: forward',
    ],
    ['an API pipeline without a contract', 'contract: contract.yaml', 'document: contract.yaml', 'PARAMS'],
    ['an API pipeline without a limit', 'limit:\n', 'limits:\n', 'PARAMS'],
    [
      'an endpoint without a pipeline',
      'apiEndpoints: [orders]',
      'apiEndpoints: [products]',
      'pipelines instead of one',
    ],
    ['a contract that is not there', 'contract.yaml', 'missing.yaml', 'missing.yaml'],
    [
      'a service endpoint that is not there',
      'serviceEndpoint: orders',
      'serviceEndpoint: nowhere',
      'nowhere has no address',
    ],
    [
      'a limit for an unknown operation',
      'createToken:',
      'makeToken:',
      'the limit of makeToken belongs to no operation',
    ],
    [
      'a time that no timer can keep',
      'serviceEndpoint: orders',
      'serviceEndpoint: orders, bodyTimeout: 600001',
      'PARAMS',
    ],
    ['an unreadable file', 'apiEndpoints:', '\t: [', 'is not valid'],
  ])('the gateway does not start with %s', async (name, text, replacement, reason) => {
    const config = await configWith(join(folder, name.replaceAll(' ', '-')), text, replacement);
    const { code, error } = await outcome(spawnGateway({ ...complete, GATEWAY_CONFIG_DIR: config }));
    expect(code).toBe(1);
    expect(error).toContain(reason);
  });

  it('the gateway does not start with another plugin', async () => {
    const config = await copyConfig(join(folder, 'plugin'));
    await appendFile(join(config, 'system.config.yml'), '  other: {}\n');
    const { code, error } = await outcome(spawnGateway({ ...complete, GATEWAY_CONFIG_DIR: config }));
    expect({ code, error }).toEqual({
      code: 1,
      error: expect.stringContaining('must name the plugin shop and no other'),
    });
  });
});

describe('a changed configuration', () => {
  it('a changed configuration is loaded without losing a request; an invalid one is rejected and logged', async () => {
    const config = await copyConfig(join(folder, 'reload'));
    const gateway = await startGateway({ GATEWAY_CONFIG_DIR: config });
    const file = join(config, 'gateway.config.yml');
    const good = await readFile(file, 'utf8');
    const statuses = new Set<number>();
    let asking = true;
    const asker = (async () => {
      for (let count = 0; asking; count += 1) {
        statuses.add((await gateway.client.post('/v1/products/search', { body: { count } })).status);
        await pause(15);
      }
    })();
    try {
      await writeFile(file, good.replace('/v1/products, /v1/products/*', '/v1/products/search'));
      gateway.process.kill('SIGHUP');
      await eventually(async () => expect((await gateway.client.get('/v1/products')).status).toBe(404));

      await writeFile(file, good.replace('policies: [api', 'policies: [apis'));
      await eventually(() => expect(gateway.output()).toContain('configuration refused'));
      expect((await gateway.client.get('/v1/products')).status).toBe(404);

      await writeFile(file, good);
      await eventually(async () => expect((await gateway.client.get('/v1/products')).status).toBe(200));
    } finally {
      asking = false;
      await asker;
      await gateway.stop();
    }
    expect([...statuses]).toEqual([200]);
  });
});

describe('at SIGTERM', () => {
  it('the gateway becomes unready and accepts no more requests at SIGTERM, finishes running requests, closes idle connections, and exits with 0 within 10 s', async () => {
    const gateway = await startGateway({ DRAIN_MS: '500' });
    try {
      gateway.service.answer = (_request, response) => void setTimeout(() => response.end('late'), 1_500);
      const running = gateway.client.get('/v1/products/1');
      await eventually(() => expect(gateway.service.seen).toHaveLength(1));
      const exited = once(gateway.process, 'exit');
      const begun = performance.now();
      gateway.process.kill('SIGTERM');
      await eventually(async () => {
        for (const path of ['/health/accepting', '/health/ready']) {
          const health = await fetch(`${gateway.url}${path}`);
          expect(health.status).toBe(503);
          expect(health.headers.get('connection')).toBe('close');
        }
      });
      expect(await running).toMatchObject({ status: 200, text: 'late' });
      expect(await exited).toEqual([0, null]);
      expect(performance.now() - begun).toBeLessThan(10_000);
    } finally {
      await gateway.stop();
    }
  });

  it('the gateway ignores proxy settings of the environment', async () => {
    const proxy = 'http://127.0.0.1:9';
    const gateway = await startGateway({
      HTTP_PROXY: proxy,
      http_proxy: proxy,
      ALL_PROXY: proxy,
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      const token = await gateway.issuer.sign();
      expect(await gateway.client.get('/v1/orders', { token })).toMatchObject({ status: 200 });
    } finally {
      await gateway.stop();
    }
  });
});

it('the shop’s own configuration names operations, services and files that exist', () => {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const env = { ...plainEnvironment(), ...complete, GATEWAY_PORT: '70000' };
  expect(String(spawnSync(process.execPath, [main], { env }).stderr)).toContain('GATEWAY_PORT');
});
