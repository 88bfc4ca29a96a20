// A RabbitMQ server of this machine, alone or as a node of a cluster.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Milliseconds within which a server starts. */
export const startWithin = 90_000;

/** The network of a server: addresses other than the loopback interface, and how programs run there. */
export interface NodeNetwork {
  /** The address at which clients reach the server. It listens on all addresses. */
  readonly address: string;
  /** Returns the program and the parameters that run a command in this network. */
  command(program: string, parameters: readonly string[]): [string, string[]];
}

export interface NodeOptions {
  /** The name of the node, such as `rabbit@localhost`. */
  readonly name: string;
  /** The folder of its data and logs. */
  readonly data: string;
  /** The ports of the server, of Erlang's distribution and of its port mapper. The nodes of a cluster share the last. */
  readonly ports: { readonly amqp: number; readonly distribution: number; readonly names: number };
  /** The configuration file; none by default. */
  readonly configuration?: string;
  /** The loopback interface by default. With a network, the host in the name of the node is an address. */
  readonly network?: NodeNetwork;
}

const loopback: NodeNetwork = {
  address: '127.0.0.1',
  command: (program, parameters) => [program, [...parameters]],
};

/** Waits until the server has started. Immediately after its start, a server may not even know its own name. */
export async function untilStarted(control: (...parameters: readonly string[]) => Promise<string>): Promise<void> {
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

/** Returns undefined when RabbitMQ is not installed. */
async function findPrograms(): Promise<string | undefined> {
  for (const folder of programFolders) if (await isProgram(join(folder, 'rabbitmq-server'))) return folder;
  return undefined;
}

/** Returns whether RabbitMQ is installed. */
export async function hasRabbitmq(): Promise<boolean> {
  return (await findPrograms()) !== undefined;
}

/**
 * Starts a server, and resolves when it accepts connections.
 * @throws Error when RabbitMQ is not installed, or the server exits
 */
export async function startRabbitmqNode(options: NodeOptions): Promise<RabbitmqNode> {
  const programs = await findPrograms();
  if (programs === undefined) throw new Error('not found');
  await mkdir(options.data, { recursive: true, mode: 0o700 });
  const node = new RabbitmqNode(programs, options);
  try {
    await node.firstStart();
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

/** The server in its own process group, so that a signal reaches all of its processes. */
export class RabbitmqNode {
  readonly name: string;
  readonly url: string;
  readonly #programs: string;
  readonly #data: string;
  readonly #network: NodeNetwork;
  readonly #environment: NodeJS.ProcessEnv;
  #server: ChildProcess;
  #ended: Promise<unknown>;

  constructor(programs: string, options: NodeOptions) {
    this.name = options.name;
    this.#programs = programs;
    this.#data = options.data;
    this.#network = options.network ?? loopback;
    this.#environment = environmentOf(options);
    this.url = `amqp://guest:guest@${this.#network.address}:${options.ports.amqp}`;
    this.#server = this.#spawn();
    this.#ended = once(this.#server, 'exit');
  }

  async firstStart(): Promise<void> {
    await Promise.race([
      this.control('wait', join(this.#data, 'pid'), '--timeout', String(startWithin / 1000)),
      this.#ended.then(() => Promise.reject(new Error('it ended at once'))),
    ]);
  }

  /** Runs `rabbitmqctl` for this server and returns its output. */
  async control(...parameters: readonly string[]): Promise<string> {
    const options = { env: this.#environment, timeout: startWithin };
    const { stdout } = await run(...this.#network.command(join(this.#programs, 'rabbitmqctl'), parameters), options);
    return stdout;
  }

  /** Starts the server again after `kill`. Resolves when it accepts connections. */
  async start(): Promise<void> {
    this.#server = this.#spawn();
    this.#ended = once(this.#server, 'exit');
    await untilStarted((...parameters) => this.control(...parameters));
  }

  /** Kills the server (SIGKILL). Its data stays on the disk. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.#ended;
  }

  /** Suspends the server until `thaw`, like a machine that hangs. */
  async freeze(): Promise<void> {
    this.#signal('SIGSTOP');
  }

  async thaw(): Promise<void> {
    this.#signal('SIGCONT');
  }

  /** Kills the server, and Erlang's port mapper when no other server uses it. */
  async stop(): Promise<void> {
    await this.kill();
    await this.#stopNames();
  }

  #signal(name: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#server;
    if (exitCode === null && signalCode === null && pid !== undefined) process.kill(-pid, name);
  }

  #spawn(): ChildProcess {
    const command = this.#network.command(join(this.#programs, 'rabbitmq-server'), []);
    return spawn(...command, { env: this.#environment, stdio: 'ignore', detached: true });
  }

  /**
   * Stops Erlang's port mapper, which was started with the server. It can be stopped only after it has noticed that the
   * server has exited.
   */
  async #stopNames(): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const refused = await run(...this.#network.command('epmd', ['-kill']), { env: this.#environment }).then(
        () => false,
        (error: { stdout?: string }) => error.stdout?.includes('living nodes') === true,
      );
      if (!refused) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function environmentOf({ name, data, ports, configuration, network }: NodeOptions): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: data, // the Erlang cookie
    LANG: 'C.UTF-8',
    ERL_EPMD_PORT: String(ports.names),
    RABBITMQ_NODENAME: name,
    ...(network === undefined
      ? { ERL_EPMD_ADDRESS: loopback.address, RABBITMQ_NODE_IP_ADDRESS: loopback.address }
      : { RABBITMQ_USE_LONGNAME: 'true', RABBITMQ_NODE_IP_ADDRESS: '0.0.0.0' }),
    RABBITMQ_NODE_PORT: String(ports.amqp),
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_MNESIA_BASE: join(data, 'data'),
    RABBITMQ_LOG_BASE: join(data, 'log'),
    RABBITMQ_PID_FILE: join(data, 'pid'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(data, 'plugins'),
    RABBITMQ_CONF_ENV_FILE: join(data, 'no-file'),
    RABBITMQ_CONFIG_FILE: configuration ?? join(data, 'no-file'),
    RABBITMQ_SERVER_START_ARGS: '-setcookie shop-tests',
    RABBITMQ_CTL_ERL_ARGS: '-setcookie shop-tests',
  };
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, 1).then(
    () => true,
    () => false,
  );
}
