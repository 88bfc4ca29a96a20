// The shop of docker-compose.yml, started by testcontainers as a project of its own on a free port.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DockerComposeEnvironment, getContainerRuntimeClient, Wait } from 'testcontainers';
import { freePorts } from '../../../shared/src/embedded/free-ports.ts';
import { highHoldLimits } from '../../../shared/src/testing/hold-limits.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const composeFile = 'docker-compose.yml';
const healthyWithin = 120_000;
/** Seconds that the compose file allows a process to end. */
const grace = 15;

export type Engine = Awaited<ReturnType<typeof getContainerRuntimeClient>>;
export type Container = ReturnType<Engine['container']['getById']>;

export interface ComposeShop {
  readonly engine: Engine;
  /** The published address. */
  readonly url: string;
  /** The running containers of a service of the compose file, in the order of their numbers. */
  containersOf(service: string): Promise<Container[]>;
  /** Runs a script with Node.js in a service's container and folder. @returns the JSON that it prints */
  script<T>(service: string, script: string): Promise<T>;
  /** Runs a program inside a service's container. */
  run(service: string, ...command: string[]): Promise<{ readonly exitCode: number; readonly output: string }>;
  /**
   * Runs `docker compose run --rm operator …`, with a folder of this machine as `/files` when one is given. Builds the
   * image first.
   * @returns the exit code and the output
   */
  operate(
    folder: string | undefined,
    ...command: string[]
  ): Promise<{ readonly exitCode: number; readonly output: string }>;
  /** Runs `docker compose up --scale`, and waits until all replicas are healthy. */
  scale(numbers: Readonly<Record<string, number>>): Promise<void>;
  /** Runs `deploy/compose.sh …` as an operator does. @throws Error with its output when it fails */
  change(...command: string[]): Promise<void>;
  /** Restarts a container as an operator does and waits until it is healthy again. */
  restart(container: Container): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Builds the images and starts everything. The function is longer than others, because all methods share the project.
 * @throws Error with one line when no engine answers or Compose is missing
 */
export async function startComposeShop(): Promise<ComposeShop> {
  const engine = await getContainerRuntimeClient().catch(() => {
    throw new Error('The container tests need a Docker engine, and none answers.');
  });
  const standalone = await onlyStandalone();
  const [port] = await freePorts(1);
  const projectName = `shop-test-${randomBytes(4).toString('hex')}`;
  // The limits are raised, because the load places more orders for each customer in a minute than a recipient may get
  // e-mails in an hour, and than an account may hold.
  const environment = { GATEWAY_PORT: String(port), EMAILS_PER_HOUR: '1000000', ...highHoldLimits };
  const executable = standalone ? { executable: { standalone: true as const } } : {};
  const started = await new DockerComposeEnvironment(root, composeFile)
    .withProjectName(projectName)
    .withEnvironment(environment)
    .withClientOptions(executable)
    // The images have no shell, which testcontainers needs to check open ports.
    .withDefaultWaitStrategy(Wait.forHealthCheck())
    .withBuild()
    .up();

  const containersOf = async (service: string): Promise<Container[]> => {
    const all = await engine.container.list();
    return all
      .filter(({ Labels }) => Labels['com.docker.compose.project'] === projectName)
      .filter(({ Labels }) => Labels['com.docker.compose.service'] === service)
      .sort((a, b) => numberOf(a.Labels) - numberOf(b.Labels))
      .map(({ Id }) => engine.container.getById(Id));
  };
  const run = async (service: string, ...command: string[]) => {
    const [container] = await containersOf(service);
    if (container === undefined) throw new Error(`${service} does not run`);
    return engine.container.exec(container, command, { log: false });
  };
  const untilHealthy = async (container: Container): Promise<void> => {
    const deadline = performance.now() + healthyWithin;
    for (;;) {
      const { State, Name } = await engine.container.inspect(container);
      if (State.Health?.Status === 'healthy') return;
      if (performance.now() > deadline) throw new Error(`${Name} is ${State.Status} and ${State.Health?.Status}`);
      await sleep(250);
    }
  };
  const compose = async (...parameters: string[]): Promise<{ exitCode: number; output: string }> => {
    const [program, ...first] = standalone ? ['docker-compose'] : ['docker', 'compose'];
    return execute(program as string, [...first, '--file', composeFile, ...parameters]);
  };
  const execute = async (
    program: string,
    parameters: readonly string[],
  ): Promise<{ exitCode: number; output: string }> => {
    const env = { ...process.env, ...environment, COMPOSE_PROJECT_NAME: projectName };
    const child = execFile(program, parameters, { cwd: root, env });
    const written = Promise.all([child.stdout, child.stderr].map((stream) => (stream === null ? '' : text(stream))));
    const [exitCode] = (await once(child, 'close')) as [number];
    return { exitCode, output: (await written).join('') };
  };
  const allHealthy = async (services: readonly string[]): Promise<void> => {
    for (const service of services) await Promise.all((await containersOf(service)).map(untilHealthy));
  };

  return {
    engine,
    url: `http://127.0.0.1:${port}`,
    containersOf,
    run,
    async script(service, script) {
      const { exitCode, stdout, output } = await run(service, 'node', '-e', script);
      if (exitCode !== 0) throw new Error(`the script in ${service} failed: ${output}`);
      return JSON.parse(stdout);
    },
    async operate(folder, ...command) {
      const built = await compose('build', 'operator');
      if (built.exitCode !== 0) throw new Error(`the image of the operator is not built: ${built.output}`);
      const volume = folder === undefined ? [] : ['--volume', `${folder}:/files`];
      return compose('run', '--rm', ...volume, 'operator', ...command);
    },
    async change(...command) {
      const { exitCode, output } = await execute('deploy/compose.sh', command);
      if (exitCode !== 0) throw new Error(`deploy/compose.sh ${command.join(' ')} failed: ${output}`);
    },
    async scale(numbers) {
      const wanted = Object.entries(numbers).flatMap(([service, number]) => ['--scale', `${service}=${number}`]);
      await engine.compose.up({
        ...executable,
        filePath: root,
        files: composeFile,
        projectName,
        environment,
        commandOptions: ['--no-recreate', ...wanted],
      });
      await allHealthy(Object.keys(numbers));
    },
    async restart(container) {
      await engine.container.restart(container, { timeout: grace * 1_000 });
      await untilHealthy(container);
    },
    async stop() {
      await started.down({ removeVolumes: true, timeout: 1_000 });
    },
  };
}

function numberOf(labels: Readonly<Record<string, string>>): number {
  return Number(labels['com.docker.compose.container-number']);
}

/** Whether Compose is installed as the program docker-compose and not as `docker compose`. */
async function onlyStandalone(): Promise<boolean> {
  const answers = (program: string, ...parameters: string[]): Promise<boolean> =>
    promisify(execFile)(program, parameters).then(
      () => true,
      () => false,
    );
  if (await answers('docker', 'compose', 'version')) return false;
  if (await answers('docker-compose', 'version')) return true;
  throw new Error('The container tests need Docker Compose, and neither `docker compose` nor docker-compose is here.');
}
