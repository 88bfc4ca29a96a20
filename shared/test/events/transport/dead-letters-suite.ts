// The dead letters as operators see them, on both transports.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDeadLetters } from '../../../src/events/index.ts';
import type { Topology } from '../../../src/events/transport.ts';
import { newId } from '../../../src/runtime/index.ts';
import { eventually } from '../../../src/testing/index.ts';
import { type Kind, log, record, startEventsFor, type TestEvents } from '../brokers.ts';

const topology: Topology = {
  consumers: { one: ['order.shipped.v1'], two: ['order.shipped.v1'] },
  retries: 0,
  retryDelay: 1,
};

export const deadLettersSuite = (kind: Kind): void =>
  describe(`the desk for dead letters on ${kind}`, () => {
    let events: TestEvents;
    beforeAll(async () => {
      events = await startEventsFor(kind);
    });
    afterAll(() => events.close());

    it('lists them over all consumers, shows one, replays and discards it', async () => {
      const transport = await events.open(topology);
      let verdict: 'dead' | 'done' = 'dead';
      const takers = await Promise.all(
        ['one', 'two'].map((consumer) =>
          record(transport, consumer, () =>
            verdict === 'done' ? { kind: 'done' } : { kind: 'dead', reason: 'no good' },
          ),
        ),
      );
      const id = newId();
      const content = JSON.stringify({ id, type: 'order.shipped.v1', subject: 'order-7', requestid: 'request-7' });
      await transport.publish([{ id, type: 'order.shipped.v1', content }]);
      const desk = await openDeadLetters({ url: events.url, log, topology });
      const letters = await eventually(async () => {
        const found = await desk.list();
        expect(found).toHaveLength(2);
        return found;
      });
      expect(letters.map(({ consumer }) => consumer).sort()).toEqual(['one', 'two']);
      expect(letters[0]).toMatchObject({
        type: 'order.shipped.v1',
        subject: 'order-7',
        requestId: 'request-7',
        reason: 'no good',
      });
      expect(await desk.list('two')).toHaveLength(1);

      const [first, second] = letters;
      expect(await desk.show(first?.id ?? '')).toMatchObject({ content });
      expect(await desk.show(newId())).toBeUndefined();
      verdict = 'done';
      expect(await desk.replay(first?.id ?? '')).toBe(true);
      await eventually(() => expect(takers.flatMap(({ deliveries }) => deliveries).length).toBeGreaterThan(2));
      if (second?.id !== first?.id) expect(await desk.discard(second?.id ?? '')).toBe(true);
      await eventually(async () => expect(await desk.list()).toEqual([]));
      expect(await desk.replay(newId())).toBe(false);
      expect(await desk.discard(newId())).toBe(false);
      await desk.close();
      await Promise.all(takers.map(({ stop }) => stop()));
    });

    it('has an id also for messages without one', async () => {
      const taker = await record(await events.open(topology), 'one', () => ({ kind: 'dead', reason: 'no event' }));
      await events.inject('one', 'anything');
      const desk = await openDeadLetters({ url: events.url, log, topology });
      const id = await eventually(async () => {
        const [letter] = await desk.list();
        expect(letter).toMatchObject({ content: 'anything', reason: 'no event' });
        return letter?.id ?? '';
      });
      expect(await desk.discard(id)).toBe(true);
      expect(await desk.list()).toEqual([]);
      await desk.close();
      await taker.stop();
    });

    it('reports immediately that the broker is unavailable', async () => {
      const url = new URL(events.url);
      url.port = '9';
      await expect(openDeadLetters({ url: url.href, log, topology })).rejects.toThrow(/is unavailable/);
    });
  });
