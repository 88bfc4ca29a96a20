// The gateways under test, each alone on one core, with the service and the load on the other.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@shop/shared/embedded';
import { memoryBounds } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { SignJWT } from 'jose';
import { undoAtSignal } from '../../cli/src/shop/clean-up.ts';
import { toolsOf } from '../../test/install-tools.ts';
import { keepAwake } from './awake.ts';
import { canRun } from './can-run.ts';

/** The gateways whose rate is measured. */
export const gateways = ['bare', 'fastify', 'stock', 'ours'] as const;
export type GatewayName = (typeof gateways)[number];

export interface Running {
  readonly port: number;
  /** A token that this gateway accepts, of the account with this index. */
  token(index: number): string;
  /** Resident memory in MB. */
  memory(): number;
  /** Microseconds of processor time so far. */
  processorTime(): number;
  stop(): Promise<void>;
}

export interface Stage {
  start(name: GatewayName | 'patient'): Promise<Running>;
  close(): Promise<void>;
}

const accounts = 400;
const microsecondsPerTick = 10_000;
const root = fileURLToPath(new URL('../..', import.meta.url));
const issuer = 'https://shop.bench';
const audience = 'shop';

/** Starts the service and a token issuer. Gateways are started one after the other. */
export async function openStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'shop-bench-'));
  const letSleep = keepAwake([0, 1]);
  const [servicePort = 0] = await freePorts(1);
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...elliptic.publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'ES256', use: 'sig' }];
  const keySet = createServer((_request, response) => response.end(JSON.stringify({ keys }))).listen(0, '127.0.0.1');
  await once(keySet, 'listening');
  const tokens = {
    ES256: await signAll('ES256', elliptic.privateKey),
    RS256: await signAll('RS256', rsa.privateKey),
  };
  const service = launch('bench/gateway/service.ts', 1, { PORT: String(servicePort) });
  await untilAnswering(servicePort);
  writeStockConfig(folder, servicePort, rsa.publicKey);

  const start: Stage['start'] = async (name) => {
    const [port = 0] = await freePorts(1);
    const jwksUrl = `http://127.0.0.1:${(keySet.address() as AddressInfo).port}/`;
    const environment =
      name === 'ours' ? ourEnvironment(port, servicePort, jwksUrl) : environmentOf(name, port, servicePort, folder);
    if (name === 'fastify') await toolsOf(new URL('fastify/', import.meta.url)).install();
    const { child, end } = launch(files[name], 0, environment);
    await untilAnswering(port);
    return {
      port,
      token: (index) => tokens[name === 'stock' ? 'RS256' : 'ES256'][index % accounts] ?? '',
      memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
      processorTime: () => {
        const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
        return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
      },
      stop: end,
    };
  };
  const close = undoAtSignal(async () => {
    await service.end();
    letSleep();
    keySet.close().closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  return { start, close };
}

const files = {
  bare: 'bench/gateway/bare.ts',
  patient: 'bench/gateway/patient.ts',
  fastify: 'bench/gateway/fastify/main.js',
  stock: 'bench/gateway/stock.cjs',
  ours: 'gateway/src/main.ts',
};

function ourEnvironment(port: number, servicePort: number, jwksUrl: string): Record<string, string> {
  const service = `http://127.0.0.1:${servicePort}`;
  return {
    GATEWAY_PORT: String(port),
    GATEWAY_CONFIG_DIR: join(root, 'gateway/config'),
    ...Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, service])),
    JWKS_URL: jwksUrl,
    JWT_ISSUER: issuer,
    JWT_AUDIENCE: audience,
    DRAIN_MS: '0',
    // The load comes from one address. X-Forwarded-For gives each request its own, because the limits apply to each
    // client.
    TRUSTED_PROXIES: '1',
    LOG_LEVEL: 'warn',
    ...memoryBounds,
  };
}

/** The environment of the other gateways; `folder` has the configuration of the stock engine. */
function environmentOf(name: string, port: number, servicePort: number, folder: string): Record<string, string> {
  return {
    PORT: String(port),
    SERVICE_PORT: String(servicePort),
    EG_HTTP_PORT: String(port),
    EG_CONFIG_DIR: folder,
    // It runs with the memory settings of this gateway, so only the code differs.
    ...(name === 'patient' ? memoryBounds : {}),
  };
}

interface Launched {
  readonly child: ChildProcess;
  end(): Promise<void>;
}

function launch(file: string, core: number, environment: Record<string, string>): Launched {
  const pinned = canPin ? ['taskset', '-c', String(core), process.execPath] : [process.execPath];
  const [command = '', ...options] = [...pinned, join(root, file)];
  const env = { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', ...environment };
  const child = spawn(command, options, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const end = undoAtSignal(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return { child, end };
}

const canPin = canRun('taskset', '-cp', '1', String(process.pid));

async function untilAnswering(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answered = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ status }) => status !== 503,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing answers on port ${port}`);
}

function signAll(alg: string, key: KeyObject): Promise<string[]> {
  const now = Math.floor(Date.now() / 1000);
  return Promise.all(
    Array.from({ length: accounts }, (_, index) => {
      const accountId = `01932f7c-8e5a-7c3e-9d52-${String(index).padStart(12, '0')}`;
      return new SignJWT({ accountId, scope: '' })
        .setProtectedHeader({ alg, kid: 'bench', typ: 'at+jwt' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(accountId)
        .setJti(String(index))
        .setIssuedAt(now)
        .setExpirationTime(now + 3600)
        .sign(key);
    }),
  );
}

/** Stock express-gateway needs models; it gets those of its own package. */
function writeStockConfig(folder: string, servicePort: number, key: KeyObject): void {
  const engine = dirname(createRequire(join(root, 'gateway/package.json')).resolve('express-gateway'));
  cpSync(join(engine, 'config'), folder, { recursive: true });
  const keyFile = join(folder, 'key.pem');
  writeFileSync(keyFile, key.export({ format: 'pem', type: 'spki' }));
  const jwt = {
    secretOrPublicKeyFile: keyFile,
    checkCredentialExistence: false,
    algorithms: ['RS256'],
    issuer,
    audience,
  };
  const config = {
    // The engine replaces this placeholder by the value of the environment variable.
    http: { port: ['$', '{EG_HTTP_PORT:-8080}'].join(''), hostname: '127.0.0.1' },
    apiEndpoints: { api: { host: '*', paths: '/v1/*' } },
    serviceEndpoints: { service: { url: `http://127.0.0.1:${servicePort}` } },
    policies: ['jwt', 'proxy'],
    pipelines: {
      api: {
        apiEndpoints: ['api'],
        policies: [{ jwt: [{ action: jwt }] }, { proxy: [{ action: { serviceEndpoint: 'service' } }] }],
      },
    },
  };
  rmSync(join(folder, 'gateway.config.yml'));
  writeFileSync(join(folder, 'gateway.config.json'), JSON.stringify(config).replace(/"(\$\{[^"]*)"/, '$1'));
}
