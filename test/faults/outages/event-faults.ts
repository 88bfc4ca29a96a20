// Events that are delivered again in any sequence, and messages that are not events.

import { serviceNames } from '@shop/shared/shop';
import { type StoredEvent, toCloudEvent } from '../../../shared/src/events/event.ts';
import { type Fault, type Scene, seen } from './fault.ts';
import { fullQueues, withChannel } from './queues.ts';

const times = 10;

export const eventFaults: readonly Fault[] = [
  {
    name: 'each event is delivered ten times, shuffled',
    interrupts: 'nothing',
    async inject(scene) {
      const { system, random } = scene;
      const events = await recentEvents(scene);
      const deliveries = shuffled(
        events.flatMap((event) => Array.from({ length: times }, () => event)),
        random,
      );
      await withChannel(system, async (channel) => {
        for (const { id, type, content } of deliveries) {
          channel.publish('shop.events', type, Buffer.from(content), { messageId: id, type, persistent: true });
        }
        await channel.waitForConfirms();
      });
      const taken = await seen(async () => (await fullQueues(system)).length === 0);
      return events.length > 0 && taken ? `${deliveries.length} deliveries of ${events.length} events` : undefined;
    },
  },
  {
    name: 'poison messages arrive',
    interrupts: 'nothing',
    async inject({ system }) {
      const poison = [
        '',
        'no JSON',
        '{}',
        '[]',
        '{"specversion":"1.0","id":"x","type":"order.cancelled.v1","data":null}',
      ];
      await withChannel(system, async (channel) => {
        for (const content of poison)
          channel.publish('shop.events', 'order.cancelled.v1', Buffer.from(content), { persistent: true });
        await channel.waitForConfirms();
      });
      // Two consumers handle this type of event, and each of them has to turn every event into a dead letter.
      const expected = 2 * poison.length;
      const letters = async () => (await fullQueues(system)).filter(({ dead }) => dead);
      const all = await seen(async () => (await letters()).reduce((sum, { count }) => sum + count, 0) === expected);
      const queues = await letters();
      await withChannel(system, async (channel) => {
        for (const { queue } of queues) await channel.purgeQueue(queue);
      });
      if (!all) throw new Error(`not ${expected} dead letters, but ${JSON.stringify(queues)}`);
      return `${expected} dead letters`;
    },
  },
];

/** The events that the services have sent since the buyers of this round began, from the outboxes. */
async function recentEvents({ system, journal }: Scene): Promise<{ id: string; type: string; content: string }[]> {
  const enough = await seen(() => journal.orders.filter(({ cancelled }) => cancelled === 200).length >= 10);
  if (!enough) return [];
  const seconds = (performance.now() - Math.min(...journal.answers.map(({ at }) => at))) / 1000;
  const lists = await Promise.all(
    serviceNames.map(async (service) => {
      const { rows } = await system.admin.query<StoredEvent>(
        `SELECT id, type, subject, sequence::int, previous_sequence::int AS "previousSequence", request_id AS "requestId", traceparent,
           created_at AS "createdAt", data::text AS data
         FROM ${service}.outbox WHERE published_at IS NOT NULL AND created_at > now() - $1 * interval '1 second'`,
        [seconds],
      );
      return rows.map((row) => ({ id: row.id, type: row.type, content: toCloudEvent(`/${service}`, row) }));
    }),
  );
  return lists.flat();
}

function shuffled<T>(list: readonly T[], random: Scene['random']): T[] {
  return list
    .map((item) => ({ item, at: random.integer(0, 2 ** 31) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
