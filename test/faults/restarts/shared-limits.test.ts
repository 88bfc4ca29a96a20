// Two gateways and Redis: they share their limits, count separately while Redis is dead or hangs, and share them again
// afterwards.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { Redis } from 'ioredis';
import { startGateway, type TestGateway } from '../../../gateway/test/start-gateway.ts';
import { type RealRedis, startRealRedis } from './redis-server.ts';

const perMinute = 300;
const recovery = 30_000;
let redis: RealRedis;
let gateways: readonly [TestGateway, TestGateway];

beforeAll(async () => {
  redis = await startRealRedis();
  const environment = { TRUSTED_PROXIES: '1', REDIS_URL: redis.url };
  gateways = await Promise.all([startGateway(environment), startGateway(environment)]);
  for (const { service } of gateways) service.answer = (_request, response) => void response.end();
});
afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
  await redis?.signal('SIGCONT');
  await redis?.signal('SIGKILL');
});

/** Logs in with a new e-mail address. `from` is the client's address, whose log-ins are counted. */
async function logIn(gateway: TestGateway, from: string, turn: number): Promise<number> {
  const headers = { 'X-Forwarded-For': from };
  return (await gateway.client.post('/v1/tokens', { body: { email: `l${turn}@shop.test` }, headers })).status;
}

/** Sends `count` log-ins to the gateways in turn, a few at a time. Returns the number of accepted ones. */
async function passing(at: readonly TestGateway[], from: string, count: number): Promise<number> {
  let passed = 0;
  for (let turn = 0; turn < count; turn += 10) {
    const some = Array.from({ length: 10 }, (_, index) =>
      logIn(at[index % at.length] as TestGateway, from, turn + index),
    );
    passed += (await Promise.all(some)).filter((status) => status === 200).length;
  }
  return passed;
}

/** Waits until both gateways have logged the line again. */
function listening(): (line: string) => Promise<void> {
  const before = gateways.map((gateway) => gateway.output().length);
  return async (line) => {
    for (const [index, gateway] of gateways.entries()) {
      await eventually(() => expect(gateway.output().slice(before[index])).toContain(line), recovery);
    }
  };
}

async function keysInRedis(): Promise<string[]> {
  const client = new Redis(redis.url);
  try {
    return await client.keys('shop:*');
  } finally {
    client.disconnect();
  }
}

it('both gateways enforce one common limit', async () => {
  process.stdout.write(`Redis ${redis.version}\n`);
  const passed = await passing(gateways, '192.0.2.1', 2 * perMinute);
  expect(passed).toBeGreaterThanOrEqual(perMinute);
  // Each gateway alone would accept 300. A few requests may have been counted by one gateway alone while Redis was
  // slow.
  expect(passed).toBeLessThan(perMinute + 60);
  expect(await keysInRedis()).toContain('shop:createToken:steady:192.0.2.1');
});

it('each gateway counts alone after Redis was killed, and both count together when Redis is back', async () => {
  const said = listening();
  await redis.signal('SIGKILL');
  await said('this gateway counts requests alone');
  for (const gateway of gateways) expect(await passing([gateway], '192.0.2.2', perMinute + 20)).toBe(perMinute);
  await redis.start();
  await said('counted together again');
  expect(await passing(gateways, '192.0.2.3', 20)).toBe(20);
  expect(await keysInRedis()).toContain('shop:createToken:steady:192.0.2.3');
});

it('each gateway counts alone while Redis hangs', async () => {
  const said = listening();
  await redis.signal('SIGSTOP');
  expect(await passing(gateways, '192.0.2.4', 20)).toBe(20);
  await said('this gateway counts requests alone');
  for (const gateway of gateways) expect(await passing([gateway], '192.0.2.5', perMinute + 20)).toBe(perMinute);
  await redis.signal('SIGCONT');
  await said('counted together again');
  expect(await passing(gateways, '192.0.2.6', 20)).toBe(20);
  expect(await keysInRedis()).toContain('shop:createToken:steady:192.0.2.6');
});
