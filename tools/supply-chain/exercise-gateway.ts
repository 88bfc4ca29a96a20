// Starts the gateway as it is shipped, sends requests through each of its policies, and reports which packages it
// loaded.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@shop/shared/embedded';
import { eventually, startOtlpReceiver } from '@shop/shared/testing';
import { startRedis } from '../../gateway/test/redis-server.ts';
import { startGateway, type TestGateway } from '../../gateway/test/start-gateway.ts';
import { neededOnlyBy } from './lock.ts';

const shippedConfig = fileURLToPath(new URL('../../gateway/config', import.meta.url));
const trace = new URL('trace-packages.ts', import.meta.url).href;

/** The packages that only the engine needs. */
export const ofEngine = neededOnlyBy('node_modules/express-gateway');

/** Not loaded in the runs: a stream of winston loads it when it gets an encoding. */
const loadedLater = 'node_modules/string_decoder';

/** The packages that only the engine needs and that no run has loaded. */
export function findUnloaded(runs: readonly LoadedPackages[]): string[] {
  const loaded = new Set([loadedLater, ...runs.flatMap(({ afterRequests }) => afterRequests)]);
  return ofEngine.filter((place) => !loaded.has(place));
}

/** The folders of the loaded packages, sorted: when the gateway was ready, and after the requests. */
export interface LoadedPackages {
  readonly atStart: readonly string[];
  readonly afterRequests: readonly string[];
}

/** Runs the gateway once with the given variables. @throws when a policy does not answer as expected */
export async function runGateway(environment: Readonly<Record<string, string>> = {}): Promise<LoadedPackages> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-packages-'));
  const file = join(folder, 'loaded');
  const loaded = async (): Promise<readonly string[]> => (await readFile(file, 'utf8')).trim().split('\n').sort();
  try {
    const gateway = await startGateway({
      GATEWAY_CONFIG_DIR: shippedConfig,
      BOARD: 'on',
      NODE_OPTIONS: `--import ${trace}`,
      TRACE_FILE: file,
      ...environment,
    });
    try {
      const atStart = await loaded();
      await sendRequests(gateway);
      await reload(gateway);
      await sendRequests(gateway);
      gateway.process.kill('SIGTERM');
      await once(gateway.process, 'exit');
      return { atStart, afterRequests: await loaded() };
    } finally {
      await gateway.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Runs the gateway like `runGateway`, but as in a container: in production mode, with rate limits in Redis, and spans
 * and metrics exported.
 */
export async function runConnectedGateway(): Promise<LoadedPackages> {
  const [redis, receiver, [port = 0]] = await Promise.all([startRedis(), startOtlpReceiver(), freePorts(1)]);
  try {
    const loaded = await runGateway({
      NODE_ENV: 'production',
      REDIS_URL: redis.url,
      METRICS_PORT: String(port),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER_ARG: '1',
    });
    if (redis.counts.size === 0) throw new Error('the gateway counted no request in Redis');
    if (receiver.spans.length === 0) throw new Error('the gateway exported no span');
    return loaded;
  } finally {
    await Promise.all([redis.close(), receiver.close()]);
  }
}

interface Probe {
  readonly status: number;
  readonly method?: string;
  readonly token?: string;
  readonly body?: string;
}

/**
 * Sends one accepted and one refused request of each policy. A stub that always answers 200 takes the place of the
 * service.
 */
async function sendRequests({ url, issuer }: TestGateway): Promise<void> {
  const customer = await issuer.sign({ scopes: [] });
  const staff = await issuer.sign({ scopes: ['orders:read-all'] });
  const login = JSON.stringify({ grantType: 'password', email: 'someone@example.com', password: 'wrong-password' });
  const probes: Readonly<Record<string, Probe | readonly Probe[]>> = {
    '/health/live': { status: 200 },
    '/health/accepting': { status: 200 },
    '/health/ready': [{ status: 200 }, { status: 405, method: 'DELETE' }],
    '/problems': { status: 200 },
    '/problems/not-found': { status: 200 },
    '/docs': { status: 200 },
    '/docs/missing': { status: 404 },
    '/v1/openapi.json': { status: 200 },
    '/board': { status: 200 },
    '/board/events': [{ status: 401 }, { status: 403, token: customer }, { status: 200, token: staff }],
    '/mail': { status: 404 },
    '/v1/tokens': { status: 200, method: 'POST', body: login },
    '/v1/orders': [{ status: 401 }, { status: 401, token: 'forged' }, { status: 200, token: customer }],
    '/v1/products': { status: 200 },
    '/v1/products?%ff': { status: 200 },
    '/v1/products/search': { status: 200, method: 'POST', body: '{}' },
    '/v1/unknown': { status: 404 },
  };
  for (const [path, expected] of Object.entries(probes)) {
    for (const probe of [expected].flat()) await send(url + path, probe);
  }
}

async function send(address: string, { status, method = 'GET', token, body }: Probe): Promise<void> {
  const aborter = new AbortController();
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(address, { method, headers, body: body ?? null, signal: aborter.signal });
  // The stream of the board never ends by itself.
  if (address.endsWith('/board/events')) aborter.abort();
  else await response.arrayBuffer();
  if (response.status !== status)
    throw new Error(`${method} ${address} was answered ${response.status}, not ${status}`);
}

async function reload(gateway: TestGateway): Promise<void> {
  gateway.process.kill('SIGHUP');
  await eventually(async () => {
    if (!gateway.output().includes('configuration reloaded')) throw new Error('the configuration is not reloaded yet');
  });
}
