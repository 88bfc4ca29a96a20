// Starts the real gateway process for a test, with the contract and configuration of test/config.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@shop/shared/embedded';
import { serviceNames } from '@shop/shared/shop';
import {
  createClient,
  eventually,
  plainEnvironment,
  startIssuer,
  type TestClient,
  type TestIssuer,
} from '@shop/shared/testing';
import { type StubService, startStub } from './stub-service.ts';

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly client: TestClient;
  readonly issuer: TestIssuer;
  /** The service of every path, unless the test set other addresses. */
  readonly service: StubService;
  readonly process: ChildProcess;
  output(): string;
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const testConfig = fileURLToPath(new URL('config', import.meta.url));

/** Waits until the gateway is ready, or with `ready: false` until it answers at all. */
export async function startGateway(
  environment: Readonly<Record<string, string>> = {},
  options: { ready?: boolean } = {},
): Promise<TestGateway> {
  const [issuer, service, [port = 0]] = await Promise.all([startIssuer(), startStub(), freePorts(1)]);
  const url = `http://127.0.0.1:${port}`;
  const written: string[] = [];
  const child = spawnGateway({
    GATEWAY_PORT: String(port),
    ...Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, service.url])),
    JWKS_URL: issuer.jwksUrl,
    JWT_ISSUER: issuer.issuer,
    JWT_AUDIENCE: issuer.audience,
    ...environment,
  });
  child.stdout?.on('data', (data) => written.push(String(data)));
  child.stderr?.on('data', (data) => written.push(String(data)));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await Promise.all([service.close(), issuer.close()]);
  };
  try {
    await eventually(async () => {
      const { status } = await fetch(`${url}/health/ready`);
      if (options.ready !== false && status !== 200) throw new Error(`the gateway answers ${status}`);
    }, 45_000);
  } catch (error) {
    await stop();
    throw new Error(`the gateway did not start: ${written.join('')}`, { cause: error });
  }
  return {
    url,
    port,
    client: createClient(url, []),
    issuer,
    service,
    process: child,
    output: () => written.join(''),
    stop,
  };
}

/** Copies the test configuration. */
export async function copyConfig(folder: string): Promise<string> {
  await cp(testConfig, folder, { recursive: true });
  return folder;
}

/** Copies the test configuration with a text replaced. @throws when it does not contain the text */
export async function configWith(folder: string, text: string, replacement: string): Promise<string> {
  const file = join(await copyConfig(folder), 'gateway.config.yml');
  const before = await readFile(file, 'utf8');
  if (!before.includes(text)) throw new Error(`the configuration lacks ${text}`);
  await writeFile(file, before.replace(text, replacement));
  return folder;
}

/** Starts the process with only the given environment. */
export function spawnGateway(environment: Readonly<Record<string, string>>): ChildProcess {
  const env = { ...plainEnvironment(), HOST: '127.0.0.1', GATEWAY_CONFIG_DIR: testConfig, ...environment };
  return spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
}
