// A RabbitMQ server with its management interface.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../src/embedded/index.ts';
import { installPackage } from '../../src/testing/servers/install-package.ts';
import { hasRabbitmq, startRabbitmqNode } from '../../src/testing/servers/rabbitmq-node.ts';

export interface ManagedBroker {
  /** With the user guest, who is an administrator. */
  readonly url: string;
  readonly managementUrl: string;
  control(...parameters: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export async function startManagedBroker(): Promise<ManagedBroker> {
  if (!(await hasRabbitmq())) await installPackage('rabbitmq-server');
  const data = await mkdtemp(join(tmpdir(), 'shop-listeners-'));
  const [amqp = 0, distribution = 0, names = 0, management = 0] = await freePorts(4);
  const configuration = join(data, 'rabbitmq.conf');
  await writeFile(configuration, `management.tcp.port = ${management}\nmanagement.tcp.ip = 127.0.0.1\n`);
  await writeFile(join(data, 'plugins'), '[rabbitmq_management].');
  const name = `test-${randomBytes(4).toString('hex')}@localhost`;
  const node = await startRabbitmqNode({ name, data, ports: { amqp, distribution, names }, configuration });
  return {
    url: node.url,
    managementUrl: `http://guest:guest@127.0.0.1:${management}`,
    control: (...parameters) => node.control(...parameters),
    async stop() {
      await node.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}
