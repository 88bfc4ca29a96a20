// Finds a RabbitMQ for tests: the one that the environment names, a container, or an installed server.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../../embedded/free-ports.ts';
import { installPackage } from './install-package.ts';

export interface BrokerServer {
  /** The URL `amqp://user:password@host:port`. It stays the same when the broker is stopped and started. */
  readonly url: string;
  /** Runs `rabbitmqctl` for this server and returns its output. */
  control(...parameters: readonly string[]): Promise<string>;
  /** Kills the server with SIGKILL, like a loss of power. Its data is kept. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`. Resolves when it accepts connections. */
  start(): Promise<void>;
  /**
   * Suspends all its processes (SIGSTOP) until `thaw`, like a machine that hangs: connections stay open and nothing
   * answers.
   */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  stop(): Promise<void>;
}

const image = 'rabbitmq:4-management';
const startWithin = 90_000;
const run = promisify(execFile);

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

/** Immediately after its start, a server may not even know its own name. */
async function untilStarted(control: BrokerServer['control']): Promise<void> {
  for (const deadline = performance.now() + startWithin; ; ) {
    try {
      await control('await_startup', '--timeout', String(startWithin / 1000));
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/**
 * Returns the folder of the programs themselves, because Debian's wrapper in the PATH changes the user and loses the
 * settings.
 */
const programFolders = ['/usr/lib/rabbitmq/bin', '/opt/rabbitmq/sbin', ...(process.env.PATH ?? '').split(delimiter)];

async function startFromPath(): Promise<BrokerServer> {
  const folder = await findPrograms();
  const data = await mkdtemp(join(tmpdir(), 'shop-rabbitmq-'));
  await chmod(data, 0o700);
  const ports = await freePorts(3);
  const environment = brokerEnvironment(data, ports);
  const server = new BrokerProcess(join(folder, 'rabbitmq-server'), environment);
  const control = async (...parameters: readonly string[]): Promise<string> => {
    const options = { env: environment, timeout: startWithin };
    const { stdout } = await run(join(folder, 'rabbitmqctl'), [...parameters], options);
    return stdout;
  };
  const stop = async (): Promise<void> => {
    await server.kill(); // nobody keeps its data
    await stopNames(environment);
    await rm(data, { recursive: true, force: true });
  };
  try {
    await Promise.race([
      control('wait', join(data, 'pid'), '--timeout', String(startWithin / 1000)),
      server.ended.then(() => Promise.reject(new Error('it ended at once'))),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `amqp://guest:guest@127.0.0.1:${ports[0]}`,
    control,
    kill: () => server.kill(),
    async start() {
      server.launch();
      await untilStarted(control);
    },
    freeze: async () => server.signal('SIGSTOP'),
    thaw: async () => server.signal('SIGCONT'),
    stop,
  };
}

/** @throws Error when RabbitMQ is not installed */
async function findPrograms(): Promise<string> {
  for (const folder of programFolders) if (await isProgram(join(folder, 'rabbitmq-server'))) return folder;
  throw new Error('not found');
}

/** @param ports the ports of the server, of Erlang's distribution and of its port mapper */
function brokerEnvironment(data: string, ports: readonly number[]): NodeJS.ProcessEnv {
  const [port, distribution, names] = ports;
  return {
    ...process.env,
    HOME: data, // the Erlang cookie
    LANG: 'C.UTF-8',
    ERL_EPMD_PORT: String(names),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `test-${randomBytes(4).toString('hex')}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(data, 'data'),
    RABBITMQ_LOG_BASE: join(data, 'log'),
    RABBITMQ_PID_FILE: join(data, 'pid'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(data, 'plugins'),
    RABBITMQ_CONF_ENV_FILE: join(data, 'no-file'),
    RABBITMQ_CONFIG_FILE: join(data, 'no-file'),
    RABBITMQ_SERVER_START_ARGS: '-setcookie shop-tests',
    RABBITMQ_CTL_ERL_ARGS: '-setcookie shop-tests',
  };
}

/** Starts the server in its own process group, so that a signal reaches all of its processes. */
class BrokerProcess {
  readonly #program: string;
  readonly #environment: NodeJS.ProcessEnv;
  #server: ChildProcess;
  ended: Promise<unknown>;

  constructor(program: string, environment: NodeJS.ProcessEnv) {
    this.#program = program;
    this.#environment = environment;
    this.#server = this.#spawn();
    this.ended = once(this.#server, 'exit');
  }

  launch(): void {
    this.#server = this.#spawn();
    this.ended = once(this.#server, 'exit');
  }

  signal(name: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#server;
    if (exitCode === null && signalCode === null && pid !== undefined) process.kill(-pid, name);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  #spawn(): ChildProcess {
    return spawn(this.#program, { env: this.#environment, stdio: 'ignore', detached: true });
  }
}

/**
 * Stops Erlang's port mapper, which was started with the server. It can be stopped once it has noticed the server's
 * end.
 */
async function stopNames(environment: NodeJS.ProcessEnv): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const refused = await run('epmd', ['-kill'], { env: environment }).then(
      () => false,
      (error: { stdout?: string }) => error.stdout?.includes('living nodes') === true,
    );
    if (!refused) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function installAndStart(): Promise<BrokerServer> {
  await installPackage('rabbitmq-server');
  return startFromPath();
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, 1).then(
    () => true,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  return port;
}
