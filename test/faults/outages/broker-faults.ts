// The broker is unavailable, silent, full, or without its declarations. Orders continue, and their events wait in the
// outbox.
import { connect } from 'amqplib';
import { countRows, eventsWait, type Fault, pause, seen } from './fault.ts';
import { consumerQueues, withChannel } from './queues.ts';
import type { System } from './system.ts';

/** Whether the broker at this address accepts a connection within a second. */
export async function answers(url: string): Promise<boolean> {
  try {
    const connection = await connect(url, { timeout: 1_000 });
    connection.on('error', () => {});
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

/**
 * Injects a fault into the broker and always removes it. Returns whether the fault was observed and events waited
 * meanwhile.
 */
function away(
  name: string,
  broken: { readonly cut: Act; readonly seen: (system: System) => Promise<boolean>; readonly restore: Act },
): Fault<System> {
  return {
    name,
    interrupts: 'nothing',
    async inject({ system }) {
      try {
        await broken.cut(system);
        const [happened, waited] = [await broken.seen(system), await eventsWait(system)];
        return happened && waited ? 'it was seen to be so, and events waited' : undefined;
      } finally {
        await broken.restore(system);
      }
    },
  };
}

type Act = (system: System) => Promise<unknown>;

const isSilent = async ({ broker }: System): Promise<boolean> => !(await answers(broker.url));

export const brokerFaults: readonly Fault<System>[] = [
  away('the broker is out of reach', {
    cut: async ({ brokerProxy }) => brokerProxy.refuse(),
    seen: async () => true,
    restore: async ({ brokerProxy }) => brokerProxy.pass(),
  }),
  away('the broker is stopped and started', {
    cut: ({ broker }) => broker.control('stop_app'),
    seen: isSilent,
    restore: ({ broker }) => broker.control('start_app'),
  }),
  away('the broker is killed', {
    cut: ({ broker }) => broker.kill(),
    seen: isSilent,
    restore: ({ broker }) => broker.start(),
  }),
  away('the broker hangs', {
    cut: ({ broker }) => broker.freeze(),
    async seen(system) {
      await pause(6_000); // longer than a confirm is waited for
      return isSilent(system);
    },
    restore: ({ broker }) => broker.thaw(),
  }),
  away('the broker blocks publishers (disk alarm)', {
    cut: ({ broker }) => broker.control('set_disk_free_limit', '900GB'),
    seen: ({ broker }) =>
      seen(async () => (await broker.control('eval', 'rabbit_alarm:get_alarms().')).includes('disk')),
    restore: ({ broker }) => broker.control('set_disk_free_limit', '50MB'),
  }),
  {
    name: "every consumer's queue is deleted",
    interrupts: 'nothing',
    async inject({ system }) {
      const lost = await withChannel(system, async (channel) => {
        let messages = 0;
        for (const queue of consumerQueues) messages += (await channel.deleteQueue(queue)).messageCount;
        return messages;
      });
      const back = await seen(() =>
        withChannel(system, async (channel) => {
          for (const queue of consumerQueues) await channel.checkQueue(queue);
          return true;
        }).catch(() => false),
      );
      return back
        ? `${consumerQueues.length} queues were deleted with ${lost} messages, and declared again`
        : undefined;
    },
  },
  {
    name: 'a binding is taken away, so that events are returned',
    interrupts: 'nothing',
    async inject({ system }) {
      // No other consumer handles these events, so without the binding no queue receives them.
      const queue = 'shop.orders.effects';
      const returned = (): Promise<number> =>
        countRows(
          system,
          `(SELECT attempts FROM catalogue.outbox UNION ALL SELECT attempts FROM notifications.outbox)
          AS sent WHERE attempts > 1`,
        );
      const before = await returned();
      await withChannel(system, async (channel) => {
        for (const key of ['stock.released.*', 'notification.sent.*']) {
          await channel.unbindQueue(queue, 'shop.events', key);
        }
      });
      return (await seen(async () => (await returned()) > before)) ? 'events came back and were sent again' : undefined;
    },
  },
];
