// Three nodes of RabbitMQ on the loopback interface.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@shop/shared/embedded';
import { eventually, installPackage } from '@shop/shared/testing';
import { hasRabbitmq, type RabbitmqNode, startRabbitmqNode } from '../../shared/src/testing/servers/rabbitmq-node.ts';

/**
 * A silent node counts as lost after 15 s. When it continues, `autoheal` restarts it. With `pause_minority`, it stayed
 * outside the cluster. Quorum queues need a majority in either case.
 */
const configuration = `
cluster_partition_handling = autoheal
net_ticktime = 15
`;

export class RabbitmqCluster {
  readonly nodes: readonly RabbitmqNode[];
  readonly #stop: () => Promise<void>;

  constructor(nodes: readonly RabbitmqNode[], stop: () => Promise<void>) {
    this.nodes = nodes;
    this.#stop = stop;
  }

  /** EVENTS_URL with the addresses of all nodes. */
  get url(): string {
    const [first = '', ...others] = this.nodes.map(({ url }) => url);
    return [first, ...others.map((url) => new URL(url).host)].join(',');
  }

  /** Resolves when every node runs and sees all others. */
  async untilComplete(): Promise<void> {
    const names = this.nodes.map(({ name }) => name);
    await eventually(async () => {
      for (const node of this.nodes) {
        const status = JSON.parse(await node.control('cluster_status', '--formatter', 'json')) as {
          running_nodes: readonly string[];
        };
        if (names.some((name) => !status.running_nodes.includes(name))) throw new Error(JSON.stringify(status));
      }
    }, 120_000);
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

/**
 * Starts the nodes and joins them.
 * @throws Error when RabbitMQ is not installed and cannot be installed
 */
export async function startRabbitmqCluster(): Promise<RabbitmqCluster> {
  if (!(await hasRabbitmq())) await installPackage('rabbitmq-server');
  const folder = await mkdtemp(join(tmpdir(), 'shop-brokers-'));
  const started: RabbitmqNode[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((node) => node.kill()));
    await started[0]?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const file = join(folder, 'rabbitmq.conf');
    await writeFile(file, configuration);
    const [names = 0, ...ports] = await freePorts(7);
    for (let index = 0; index < 3; index += 1) {
      const [amqp = 0, distribution = 0] = ports.slice(2 * index);
      started.push(
        await startRabbitmqNode({
          name: `node-${index}@localhost`,
          data: join(folder, String(index)),
          ports: { amqp, distribution, names },
          configuration: file,
        }),
      );
    }
    const [first, ...others] = started;
    for (const node of others) {
      await node.control('stop_app');
      await node.control('join_cluster', first?.name ?? '');
      await node.control('start_app');
    }
    const cluster = new RabbitmqCluster(started, stop);
    await cluster.untilComplete();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}
