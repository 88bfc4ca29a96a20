// Finds a RabbitMQ for tests: the one that the environment names, a container, or an installed server.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../embedded/free-ports.ts';
import { installPackage } from './install-package.ts';
import { startRabbitmqNode, startWithin, untilStarted } from './rabbitmq-node.ts';

export interface BrokerServer {
  /** The URL `amqp://user:password@host:port`. It stays the same when the broker is stopped and started. */
  readonly url: string;
  /** Runs `rabbitmqctl` for this server and returns its output. */
  control(...parameters: readonly string[]): Promise<string>;
  /** Kills the server with SIGKILL, like a loss of power. Its data stays on the disk. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`. Resolves when it accepts connections. */
  start(): Promise<void>;
  /**
   * Suspends all its processes (SIGSTOP) until `thaw`, like a machine that hangs: connections stay open without
   * responses.
   */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates users, permissions, exchanges and queues, as `load_definitions` does. */
export async function importDefinitions(server: Pick<BrokerServer, 'control'>, definitions: object): Promise<void> {
  const encoded = Buffer.from(JSON.stringify(definitions)).toString('base64');
  await server.control('eval', `rabbit_definitions:import_raw(base64:decode("${encoded}")).`);
}

const image = 'rabbitmq:4-management';

/** Whether the test needs its own server, because it stops or blocks the server. */
export interface BrokerWish {
  readonly own?: boolean;
}

/**
 * Starts a broker in the first way that works on this machine.
 * @throws Error with one line that names the ways and why each of them failed
 */
export async function startBrokerServer({ own = false }: BrokerWish = {}): Promise<BrokerServer> {
  const given = process.env.TEST_AMQP_URL;
  if (!own && given !== undefined && given !== '') return givenServer(given);
  const reasons: string[] = [];
  for (const [way, start] of [
    ['a container', startContainer],
    ['rabbitmq-server from the PATH', startFromPath],
    ['rabbitmq-server installed with apt-get', installAndStart],
  ] as const) {
    try {
      return await start();
    } catch (error) {
      const [line] = (error instanceof Error ? error.message : String(error)).split('\n');
      reasons.push(`${way} (${line})`);
    }
  }
  throw new Error(
    'No RabbitMQ for the tests: set TEST_AMQP_URL, or run a Docker engine, or install rabbitmq-server. ' +
      `Tried: ${reasons.join('; ')}`,
  );
}

function givenServer(url: string): BrokerServer {
  const refuse = () => Promise.reject(new Error('a broker given by TEST_AMQP_URL is not controlled by the tests'));
  return { url, control: refuse, kill: refuse, start: refuse, freeze: refuse, thaw: refuse, stop: async () => {} };
}

async function startContainer(): Promise<BrokerServer> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
  const engine = await getContainerRuntimeClient().catch(() => {
    throw new Error('no Docker engine answers');
  });
  const port = await freePort();
  const container = await new GenericContainer(image)
    .withExposedPorts({ container: 5672, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Server startup complete/))
    .withStartupTimeout(startWithin)
    .start();
  const control = async (...parameters: readonly string[]): Promise<string> => {
    const { output, exitCode } = await container.exec(['rabbitmqctl', ...parameters]);
    if (exitCode !== 0) throw new Error(`rabbitmqctl ${parameters.join(' ')}: ${output}`);
    return output;
  };
  const handle = engine.container.getById(container.getId());
  return {
    url: `amqp://guest:guest@${container.getHost()}:${container.getMappedPort(5672)}`,
    control,
    async kill() {
      await handle.kill({ signal: 'SIGKILL' });
      await handle.wait();
    },
    async start() {
      await handle.start();
      await untilStarted(control);
    },
    async freeze() {
      await handle.pause();
    },
    async thaw() {
      await handle.unpause();
    },
    async stop() {
      await container.stop();
    },
  };
}

async function startFromPath(): Promise<BrokerServer> {
  const data = await mkdtemp(join(tmpdir(), 'shop-rabbitmq-'));
  const remove = () => rm(data, { recursive: true, force: true });
  const [amqp = 0, distribution = 0, names = 0] = await freePorts(3);
  const name = `test-${randomBytes(4).toString('hex')}@localhost`;
  const node = await startRabbitmqNode({ name, data, ports: { amqp, distribution, names } }).catch(async (error) => {
    await remove();
    throw error;
  });
  return {
    url: node.url,
    control: (...parameters) => node.control(...parameters),
    kill: () => node.kill(),
    start: () => node.start(),
    freeze: () => node.freeze(),
    thaw: () => node.thaw(),
    async stop() {
      await node.stop();
      await remove();
    },
  };
}

async function installAndStart(): Promise<BrokerServer> {
  await installPackage('rabbitmq-server');
  return startFromPath();
}

async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  return port;
}
