// Starts real service processes for a test file, on a database of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Contract, loadContract } from '../contract/index.ts';
import { freePorts } from '../embedded/free-ports.ts';
import { type ServiceName, serviceNames } from '../shop/index.ts';
import { createClient } from './client.ts';
import { createTestDatabase, serviceFolder } from './database.ts';
import { highHoldLimits } from './hold-limits.ts';
import { atThisPace } from './pace.ts';
import { plainEnvironment } from './plain-environment.ts';
import { takeSharedServices } from './shared-services.ts';
import type { TestService, TestServices } from './test-service.ts';
import { startIssuer } from './tokens.ts';

export interface StartOptions {
  /** The URL of the broker; default the embedded queue on the test database. */
  readonly eventsUrl?: string;
  /** Variables that are added to the environment of each process. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Whether other test files of the worker use the processes, too (`shared-services.ts`). By default they do when no
   * other option is given. A file that ends or restarts processes needs its own.
   */
  readonly shared?: boolean;
}

/** The `INTERNAL_SECRET` of the services, with which tests sign internal calls and open the tokens of e-mails. */
export const testSecret = 'only-for-tests-only-for-tests-only-for-tests';

const readyWithin = 45_000;

/** The contracts that this worker has read, by the folder of their service. */
const contracts = new Map<string, Contract>();

/** Starts the services, and waits until each is ready. Call `stop` at the end of the test file. */
export function startServices(names: readonly ServiceName[], options: StartOptions = {}): Promise<TestServices> {
  const { shared = Object.keys(options).length === 0 } = options;
  const start = () => launch(names, options);
  return shared ? takeSharedServices({ names, options }, start) : start();
}

async function launch(names: readonly ServiceName[], options: StartOptions): Promise<TestServices> {
  const [database, issuer, mailFolder, ports] = await Promise.all([
    createTestDatabase(names),
    startIssuer(),
    mkdtemp(join(tmpdir(), 'shop-mail-')),
    freePorts(names.length),
  ]);
  const urls = new Map(names.map((name, index) => [name, `http://127.0.0.1:${ports[index]}`]));
  const shared = {
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    EVENTS_URL: options.eventsUrl ?? database.urls.events,
    JWKS_URL: issuer.jwksUrl,
    JWT_ISSUER: issuer.issuer,
    JWT_AUDIENCE: issuer.audience,
    INTERNAL_SECRET: testSecret,
    KEY_ENCRYPTION_SECRET: Buffer.alloc(32, 7).toString('base64url'),
    CURSOR_KEYS: Buffer.alloc(32, 8).toString('base64url'),
    WEBHOOK_KEYS: Buffer.alloc(32, 9).toString('base64url'),
    // The tokens of tests have an issuer of their own.
    WEBHOOK_SCOPES: 'token',
    MAIL_DIR: mailFolder,
    EMAILS_PER_HOUR: '1000000',
    ...highHoldLimits,
    // Pages are not cached, because a test reads what it has just written. page-cache.test.ts tests cached pages.
    PAGE_CACHE_MB: '0',
    ...Object.fromEntries(
      serviceNames.map((name) => [`${name.toUpperCase()}_URL`, urls.get(name) ?? 'http://127.0.0.1:9']),
    ),
    ...options.environment,
  };
  const services = new Map<ServiceName, TestService & { close(): Promise<void> }>();
  const stop = async (): Promise<void> => {
    await Promise.all([...services.values()].map((service) => service.close()));
    await Promise.all([issuer.close(), database.drop(), rm(mailFolder, { recursive: true, force: true })]);
  };
  try {
    await Promise.all(
      names.map(async (name, index) => {
        const environment = { ...shared, DATABASE_URL: database.urls[name], PORT: String(ports[index]) };
        const service = createService(name, environment, `http://127.0.0.1:${ports[index]}`);
        services.set(name, service);
        await service.restart();
      }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const service = (name: ServiceName): TestService => {
    const found = services.get(name);
    if (found === undefined) throw new Error(`${name} was not started`);
    return found;
  };
  return { service, issuer, database, mailFolder, stop };
}

function createService(
  name: ServiceName,
  environment: Readonly<Record<string, string>>,
  url: string,
): TestService & { close(): Promise<void> } {
  const pool = new pg.Pool({ connectionString: environment.DATABASE_URL, max: 4, allowExitOnIdle: true });
  pool.on('error', () => {});
  const written: string[] = [];
  let child: ChildProcess | undefined;
  const kill = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.ref();
    child.kill(signal);
    await ended;
  };
  return {
    url,
    client: createClient(url, [contractOf(name)]),
    database: pool,
    output: () => written.join(''),
    kill,
    async restart(more = {}) {
      await kill();
      child = spawn(process.execPath, [`${serviceFolder(name)}/src/main.ts`], {
        env: { ...plainEnvironment(), ...environment, ...more },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      child.stdout?.on('data', (data) => written.push(String(data)));
      child.stderr?.on('data', (data) => written.push(String(data)));
      await untilReady(name, url, child, written);
      // A process that several files share does not prevent the worker from exiting, which stops the process.
      child.unref();
      child.channel?.unref();
      for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
    },
    async close() {
      await kill();
      await pool.end();
    },
  };
}

function contractOf(service: ServiceName): Contract {
  const contract = contracts.get(service) ?? loadContract(`${serviceFolder(service)}/openapi.yaml`);
  contracts.set(service, contract);
  return contract;
}

async function untilReady(name: string, url: string, child: ChildProcess, written: readonly string[]): Promise<void> {
  const deadline = performance.now() + atThisPace(readyWithin);
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    const ready = await fetch(`${url}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${name} did not become ready:\n${written.join('').slice(-4000)}`);
}
