// Nodes of the RabbitMQ cluster are killed, suspended, partitioned and started again. Orders continue, and their events wait at most
// until a majority of the nodes is there again.
import type { RabbitmqNode } from '../../../shared/src/testing/servers/rabbitmq-node.ts';
import { answers } from '../outages/broker-faults.ts';
import { countRows, eventsWait, type Fault, pause, seen } from '../outages/fault.ts';
import type { Link, Machine } from './machines.ts';
import type { ClusterSystem } from './system.ts';

type ClusterFault = Fault<ClusterSystem>;

const published = (system: ClusterSystem): Promise<number> =>
  countRows(system, 'orders.outbox WHERE published_at IS NOT NULL');

/** Milliseconds after which the other nodes consider a silent node as lost, and more. */
const untilLost = 25_000;

/** Whether events that were published since then were confirmed by the nodes that are left. */
async function confirmsWithoutIt(system: ClusterSystem): Promise<boolean> {
  await pause(1_000); // confirms that were already on their way have arrived
  const before = await published(system);
  return seen(async () => (await published(system)) >= before + 20, 60_000);
}

interface LostNode {
  readonly server: RabbitmqNode;
  readonly machine: Machine;
}

/** A random node is lost for a while, and the shop works with the others. */
function nodeIsLost(
  name: string,
  lose: (node: LostNode) => Promise<void>,
  restore: (node: LostNode) => Promise<void>,
): ClusterFault {
  let server: RabbitmqNode | undefined;
  return {
    name,
    interrupts: 'nothing',
    async inject({ system, random }) {
      const index = random.integer(0, 2);
      const machine = system.broker.machines[index];
      server = system.broker.nodes[index];
      if (server === undefined || machine === undefined) return undefined;
      const lost = server;
      await lose({ server: lost, machine });
      try {
        const confirmed = await confirmsWithoutIt(system);
        await pause(untilLost);
        // A node that is partitioned from its peers only has stopped by now, because it is a minority.
        const isLost = await seen(async () => !(await answers(lost.url)));
        return confirmed && isLost ? `the nodes other than ${machine.name} confirmed events` : undefined;
      } finally {
        await restore({ server: lost, machine });
      }
    },
    async repair({ broker }) {
      if (server !== undefined) await broker.untilRejoined(server);
    },
  };
}

const partitioned = (name: string, ...links: readonly Link[]): ClusterFault =>
  nodeIsLost(
    name,
    ({ machine }) => machine.cut(...links),
    ({ machine }) => machine.reconnect(),
  );

export const rabbitmqFaults: readonly ClusterFault[] = [
  ...[0, 1, 2].map(
    (index): ClusterFault => ({
      name: `node ${index} of the broker is killed`,
      interrupts: 'nothing',
      async inject({ system }) {
        await system.broker.nodes[index]?.kill();
        return (await confirmsWithoutIt(system)) ? 'the other nodes confirmed events' : undefined;
      },
      async repair({ broker }) {
        await broker.nodes[index]?.start();
        await broker.untilComplete();
      },
    }),
  ),
  nodeIsLost(
    'a node of the broker hangs',
    ({ server }) => server.freeze(),
    ({ server }) => server.thaw(),
  ),
  partitioned('a node of the broker is partitioned from its peers', 'peers'),
  partitioned('a node of the broker is partitioned from the services', 'shop'),
  partitioned('a node of the broker is partitioned from its peers and from the services', 'peers', 'shop'),
  {
    name: 'the broker loses its majority',
    interrupts: 'nothing',
    async inject({ system }) {
      const lost = system.broker.nodes.slice(1);
      await Promise.all(lost.map((node) => node.kill()));
      const waited = await eventsWait(system);
      await Promise.all(lost.map((node) => node.start()));
      return waited ? 'events waited in the outbox' : undefined;
    },
    repair: ({ broker }) => broker.untilComplete(),
  },
  {
    name: 'all nodes of the broker are killed',
    interrupts: 'nothing',
    async inject({ system }) {
      const { nodes } = system.broker;
      await Promise.all(nodes.map((node) => node.kill()));
      const waited = await eventsWait(system);
      await Promise.all(nodes.map((node) => node.start()));
      return waited ? 'events waited in the outbox' : undefined;
    },
    repair: ({ broker }) => broker.untilComplete(),
  },
];
