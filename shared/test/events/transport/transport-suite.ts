// The guarantees of both transports, tested with a real RabbitMQ and a real PostgreSQL.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message, Topology, Transport } from '../../../src/events/transport.ts';
import { newId } from '../../../src/runtime/index.ts';
import { eventually } from '../../../src/testing/index.ts';
import { type Kind, record, startEventsFor, type TestEvents } from '../brokers.ts';

const topology: Topology = {
  consumers: {
    both: ['order.created.v1', 'order.cancelled.v1'],
    cancelled: ['order.cancelled.v1'],
    early: ['order.shipped.v1'],
    failing: ['stock.released.v1'],
    waiting: ['account.updated.v1'],
    poisoned: ['notification.sent.v1'],
    deleted: ['account.registered.v1'],
  },
  retries: 2,
  retryDelay: 1,
};

function message(type: string): Message {
  const id = newId();
  return { id, type, content: JSON.stringify({ id, type }) };
}

export const transportSuite = (kind: Kind): void =>
  describe(kind, () => {
    let events: TestEvents;
    let transport: Transport;

    beforeAll(async () => {
      events = await startEventsFor(kind);
      transport = await events.open(topology);
    });

    afterAll(() => events.close());

    it('starts several processes concurrently on an empty broker', async () => {
      const fresh = await startEventsFor(kind);
      const started = await Promise.all([1, 2, 3, 4].map((n) => fresh.open(topology, `process ${n}`)));
      await Promise.all(started.map((each) => each.ping()));
      await fresh.close();
    });

    it('delivers an event to every consumer of its type and to no other', async () => {
      const both = await record(transport, 'both');
      const cancelled = await record(transport, 'cancelled');
      const [first, second] = [message('order.created.v1'), message('order.cancelled.v1')];
      expect(await transport.publish([first, second])).toEqual(['confirmed', 'confirmed']);
      await eventually(() => {
        expect(both.deliveries.map(({ content }) => content).sort()).toEqual([first.content, second.content].sort());
        expect(cancelled.deliveries).toEqual([{ content: second.content, attempt: 1 }]);
      });
      await Promise.all([both.stop(), cancelled.stop()]);
    });

    it('delivers a later version of an event to the consumers of the earlier one', async () => {
      const cancelled = await record(transport, 'cancelled');
      const later = message('order.cancelled.v2');
      await transport.publish([later]);
      await eventually(() => expect(cancelled.deliveries.map(({ content }) => content)).toEqual([later.content]));
      await cancelled.stop();
    });

    it('confirms an event that no consumer handles', async () => {
      expect(await transport.publish([message('order.delivered.v1')])).toEqual(['confirmed']);
    });

    it('keeps an event for a consumer that never ran', async () => {
      const shipped = message('order.shipped.v1');
      await transport.publish([shipped]);
      const early = await record(transport, 'early');
      await eventually(() => expect(early.deliveries.map(({ content }) => content)).toEqual([shipped.content]));
      await early.stop();
    });

    it('repeats a failed delivery after growing delays, then keeps it as a dead letter with the reason', async () => {
      const times: number[] = [];
      const failing = await record(transport, 'failing', () => {
        times.push(performance.now());
        return { kind: 'failed', reason: 'the shelf is empty' };
      });
      const released = message('stock.released.v1');
      await transport.publish([released]);
      const [letter] = await eventually(async () => {
        const letters = await transport.deadLetters('failing', 10);
        expect(letters).toHaveLength(1);
        return letters;
      }, 15_000);
      expect(failing.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      expect(Number(times[1]) - Number(times[0])).toBeGreaterThan(400);
      expect(Number(times[2]) - Number(times[1])).toBeGreaterThan(800);
      expect(letter).toMatchObject({
        consumer: 'failing',
        id: released.id,
        reason: 'the shelf is empty',
        attempts: 3,
        content: released.content,
      });
      expect(await transport.replay('failing', released.id)).toBe(true);
      await eventually(() => expect(failing.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1]));
      await failing.stop();
    });

    it('delivers a rescheduled message again without counting the attempt', async () => {
      let putOff = 0;
      const waiting = await record(transport, 'waiting', () => {
        putOff += 1;
        return putOff <= 3 ? { kind: 'later', reason: 'the database is away' } : { kind: 'done' };
      });
      await transport.publish([message('account.updated.v1')]);
      await eventually(() => expect(waiting.deliveries).toHaveLength(4), 10_000);
      expect(waiting.deliveries.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
      expect(await transport.deadLetters('waiting', 10)).toEqual([]);
      await waiting.stop();
    });

    it('shows, replays and discards dead letters', async () => {
      let poison = true;
      const poisoned = await record(transport, 'poisoned', () =>
        poison ? { kind: 'dead', reason: 'no event at all' } : { kind: 'done' },
      );
      const [kept, dropped] = [message('notification.sent.v1'), message('notification.sent.v1')];
      await transport.publish([kept, dropped]);
      const look = async () => {
        const letters = await transport.deadLetters('poisoned', 10);
        expect(letters).toHaveLength(2);
        return letters;
      };
      const letters = await eventually(look);
      expect(letters.map(({ reason, attempts }) => ({ reason, attempts }))).toEqual(
        Array(2).fill({ reason: 'no event at all', attempts: 1 }),
      );
      expect(await look()).toEqual(letters); // looking takes nothing away
      expect(await transport.deadLetters('poisoned', 1)).toHaveLength(1);

      poison = false;
      const idOf = ({ content }: Message) => letters.find((letter) => letter.content === content)?.id ?? 'none';
      expect(await transport.discard('poisoned', idOf(dropped))).toBe(true);
      expect(await transport.replay('poisoned', idOf(kept))).toBe(true);
      await eventually(() => expect(poisoned.deliveries).toHaveLength(3));
      expect(poisoned.deliveries[2]).toEqual({ content: kept.content, attempt: 1 });
      expect(await transport.deadLetters('poisoned', 10)).toEqual([]);
      expect(await transport.replay('poisoned', idOf(kept))).toBe(false);
      expect(await transport.discard('poisoned', newId())).toBe(false);
      await poisoned.stop();
    });

    it('reports an event as unroutable while the queue is missing, and declares the queue again', async () => {
      const registered = message('account.registered.v1');
      await events.deleteQueue('deleted');
      expect(await transport.publish([registered])).toEqual(['unroutable']);
      await eventually(async () => expect(await transport.publish([registered])).toEqual(['confirmed']), 10_000);
      const deleted = await record(transport, 'deleted');
      await eventually(() => expect(deleted.deliveries.map(({ content }) => content)).toEqual([registered.content]));
      await deleted.stop();
    });

    it('continues consuming after its queue was deleted', async () => {
      const deleted = await record(transport, 'deleted');
      await events.deleteQueue('deleted');
      const registered = message('account.registered.v1');
      await eventually(async () => expect(await transport.publish([registered])).toEqual(['confirmed']), 10_000);
      await eventually(
        () => expect(deleted.deliveries.map(({ content }) => content)).toEqual([registered.content]),
        10_000,
      );
      await deleted.stop();
    });

    it('keeps shops of other namespaces apart', async () => {
      const other = await startEventsFor(kind);
      const elsewhere = await record(await other.open(topology), 'early');
      const early = await record(transport, 'early');
      await transport.publish([message('order.shipped.v1')]);
      await eventually(() => expect(early.deliveries).toHaveLength(1));
      expect(elsewhere.deliveries).toEqual([]);
      await early.stop();
      await other.close();
    });
  });
