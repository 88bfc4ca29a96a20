// Three nodes of RabbitMQ, each on a machine of its own.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, installPackage } from '@shop/shared/testing';
import {
  hasRabbitmq,
  type RabbitmqNode,
  startRabbitmqNode,
} from '../../../shared/src/testing/servers/rabbitmq-node.ts';
import type { Machine } from './machines.ts';

/**
 * A silent node counts as lost after 15 s. A node without a majority stops, and starts when it sees the others again.
 * The user `guest` may connect from other machines. docs/deploying/rabbitmq-cluster.md has the other settings.
 */
const configuration = `
loopback_users = none
cluster_partition_handling = pause_minority
net_ticktime = 15
`;

/** The ports of a node, of Erlang's distribution and of its port mapper. */
const ports = { amqp: 5672, distribution: 25_672, names: 4369 };

export class RabbitmqCluster {
  readonly nodes: readonly RabbitmqNode[];
  /** The machine of each node, in the same order. */
  readonly machines: readonly Machine[];
  readonly #stop: () => Promise<void>;

  constructor(nodes: readonly RabbitmqNode[], machines: readonly Machine[], stop: () => Promise<void>) {
    this.nodes = nodes;
    this.machines = machines;
    this.#stop = stop;
  }

  /** EVENTS_URL with the addresses of all nodes. */
  get url(): string {
    const [first = '', ...others] = this.nodes.map(({ url }) => url);
    return [first, ...others.map((url) => new URL(url).host)].join(',');
  }

  /** Resolves when every node runs and sees all others, and none remembers a partition. */
  async untilComplete(within = 120_000): Promise<void> {
    const names = this.nodes.map(({ name }) => name);
    await eventually(async () => {
      for (const node of this.nodes) {
        const status = JSON.parse(await node.control('cluster_status', '--formatter', 'json')) as {
          running_nodes: readonly string[];
          partitions: object;
        };
        const missing = names.filter((name) => !status.running_nodes.includes(name));
        if (missing.length > 0 || Object.keys(status.partitions).length > 0) throw new Error(JSON.stringify(status));
      }
    }, within);
  }

  /**
   * Resolves when the cluster is complete after a node was lost for a while. Restarts a node that does not join again
   * by itself, as its supervisor or an operator does.
   */
  async untilRejoined(node: RabbitmqNode): Promise<void> {
    await this.untilComplete(30_000).catch(async () => {
      await node.kill();
      await node.start();
      await this.untilComplete();
    });
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

/**
 * Starts a node on each of these machines, and joins them.
 * @throws Error when RabbitMQ is not installed and cannot be installed
 */
export async function startRabbitmqCluster(machines: readonly Machine[]): Promise<RabbitmqCluster> {
  if (!(await hasRabbitmq())) await installPackage('rabbitmq-server');
  const folder = await mkdtemp(join(tmpdir(), 'shop-brokers-'));
  const started: RabbitmqNode[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((node) => node.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const file = join(folder, 'rabbitmq.conf');
    await writeFile(file, configuration);
    for (const machine of machines) {
      const node = await startRabbitmqNode({
        name: `shop@${machine.address.peers}`,
        data: join(folder, machine.name),
        ports,
        configuration: file,
        network: { address: machine.address.shop, command: machine.command },
      });
      started.push(node);
    }
    const [first, ...others] = started;
    for (const node of others) {
      await node.control('stop_app');
      await node.control('join_cluster', first?.name ?? '');
      await node.control('start_app');
    }
    const cluster = new RabbitmqCluster(started, machines, stop);
    await cluster.untilComplete();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}
