// Every process is replaced in turn, two replicas each, under 300 requests a second: nobody notices.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually, startIssuer, type TestIssuer } from '@shop/shared/testing';
import { Pool, request } from 'undici';
import { spawnGateway } from '../../gateway/test/start-gateway.ts';

/** A process that can be stopped and started again on its port. */
interface Replica {
  readonly url: string;
  start(): ChildProcess;
  child: ChildProcess;
}

const perSecond = 300;
const replicaFile = fileURLToPath(new URL('replica.ts', import.meta.url));
const services: Replica[] = [];
const gateways: (Replica & { pool: Pool; ready: boolean })[] = [];
let issuer: TestIssuer;
const tokens: string[] = [];

beforeAll(async () => {
  issuer = await startIssuer();
  tokens.push(...(await Promise.all(Array.from({ length: 50 }, () => issuer.sign()))));
  const [one = 0, two = 0, three = 0, four = 0] = await freePorts(4);
  for (const port of [one, two]) services.push(replica(port, () => startService(port)));
  const urls = services.map(({ url }) => url).join(',');
  const environment = {
    ACCOUNTS_URL: urls,
    ORDERS_URL: urls,
    CATALOGUE_URL: urls,
    JWKS_URL: issuer.jwksUrl,
    JWT_ISSUER: issuer.issuer,
    JWT_AUDIENCE: issuer.audience,
    DRAIN_MS: '2000',
    LOG_LEVEL: 'error',
  };
  for (const port of [three, four]) {
    const made = replica(port, () => spawnGateway({ ...environment, GATEWAY_PORT: String(port) }));
    gateways.push({ ...made, pool: new Pool(made.url, { connections: 32 }), ready: false });
  }
  await Promise.all([...services, ...gateways].map(({ url }) => untilReady(url)));
}, 60_000);

afterAll(async () => {
  for (const { child } of [...services, ...gateways]) child.kill('SIGKILL');
  await Promise.all(gateways.map(({ pool }) => pool.destroy()));
  await issuer.close();
});

it('loses no request', async () => {
  let running = true;
  const balancer = (async () => {
    while (running) {
      await Promise.all(
        gateways.map(async (gateway) => {
          gateway.ready = await isReady(gateway.url);
        }),
      );
      await pause(200);
    }
  })();
  await eventually(() => expect(gateways.every(({ ready }) => ready)).toBe(true));

  const outcomes = new Map<string, number>();
  const asked: Promise<void>[] = [];
  const load = (async () => {
    const began = performance.now();
    for (let sent = 0; running; ) {
      for (; sent < ((performance.now() - began) * perSecond) / 1_000; sent += 1) asked.push(ask(sent, outcomes));
      await pause(3);
    }
  })();
  for (const process of [...services, ...gateways]) await restart(process);
  running = false;
  await Promise.all([balancer, load]);
  await Promise.all(asked);
  expect(asked.length).toBeGreaterThan(3_000);
  expect([...outcomes]).toEqual([['200', asked.length]]);
}, 120_000);

/** As a load balancer does: the next gateway that says it is ready; half of the requests change something. */
async function ask(index: number, outcomes: Map<string, number>): Promise<void> {
  const ready = gateways.filter((gateway) => gateway.ready);
  const { pool } = ready[index % ready.length] ?? {};
  const headers = { authorization: `Bearer ${tokens[index % tokens.length]}` };
  const creating = {
    method: 'POST',
    path: '/v1/orders',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{}',
  } as const;
  const reading = { method: 'GET', path: '/v1/orders/1', headers } as const;
  const outcome = await (
    pool?.request(index % 2 ? creating : reading) ?? Promise.reject(new Error('no gateway is ready'))
  ).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return String(statusCode);
    },
    (error: Error) => error.message,
  );
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

async function restart(process: Replica): Promise<void> {
  const exited = once(process.child, 'exit');
  process.child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  process.child = process.start();
  await untilReady(process.url);
  // The others have noticed that it is back before the next one goes.
  await pause(1_500);
}

function replica(port: number, start: () => ChildProcess): Replica {
  return { url: `http://127.0.0.1:${port}`, start, child: start() };
}

function startService(port: number): ChildProcess {
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: String(port),
    JWKS_URL: issuer.jwksUrl,
    DRAIN_MS: '3000',
    LOG_LEVEL: 'error',
  };
  return spawn(process.execPath, [replicaFile], { env, stdio: ['ignore', 'inherit', 'inherit'] });
}

function untilReady(url: string): Promise<void> {
  return eventually(async () => expect(await isReady(url)).toBe(true), 15_000);
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/health/ready`, {
      signal: AbortSignal.timeout(1_000),
      reset: true,
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
