// Starts real service processes for a test file, on a database of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { loadContract } from '../contract/index.ts';
import { freePorts } from '../embedded/free-ports.ts';
import { type ServiceName, serviceNames } from '../shop/index.ts';
import { createClient, type TestClient } from './client.ts';
import { createTestDatabase, serviceFolder, type TestDatabase } from './database.ts';
import { highHoldLimits } from './hold-limits.ts';
import { atThisPace } from './pace.ts';
import { plainEnvironment } from './plain-environment.ts';
import { startIssuer, type TestIssuer } from './tokens.ts';

export interface TestService {
  readonly url: string;
  readonly client: TestClient;
  /** A pool that connects as the service's own role. */
  readonly database: pg.Pool;
  /** The output of the process so far. */
  output(): string;
  /** Sends a signal to the process and waits for its end. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the process again on the same port and database. `environment` is added to the first environment. */
  restart(environment?: Readonly<Record<string, string>>): Promise<void>;
}

export interface TestServices {
  /** @throws when the service was not started */
  service(name: ServiceName): TestService;
  readonly issuer: TestIssuer;
  readonly database: TestDatabase;
  /** The folder in which the notifications service writes its e-mails. */
  readonly mailFolder: string;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The URL of the broker; default the embedded queue on the test database. */
  readonly eventsUrl?: string;
  /** Variables that are added to the environment of each process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The `INTERNAL_SECRET` of the services, with which tests sign internal calls and open the tokens of e-mails. */
export const testSecret = 'only-for-tests-only-for-tests-only-for-tests';

const readyWithin = 20_000;

/** Starts the services and waits until each is ready. Call `stop` at the end of the test file. */
export async function startServices(names: readonly ServiceName[], options: StartOptions = {}): Promise<TestServices> {
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
  const pool = new pg.Pool({ connectionString: environment.DATABASE_URL, max: 4 });
  pool.on('error', () => {});
  const written: string[] = [];
  let child: ChildProcess | undefined;
  const kill = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    url,
    client: createClient(url, [loadContract(`${serviceFolder(name)}/openapi.yaml`)]),
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
    },
    async close() {
      await kill();
      await pool.end();
    },
  };
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
