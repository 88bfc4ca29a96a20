// What a listener may do and gets, on either broker.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openListeners } from '../../src/events/index.ts';
import type { AddedListener, Listeners } from '../../src/events/listeners.ts';
import type { Transport } from '../../src/events/transport.ts';
import { newId } from '../../src/runtime/index.ts';
import { eventually } from '../../src/testing/index.ts';

export interface ListenerBroker {
  /** The value of EVENTS_URL. */
  readonly url: string;
  readonly adminUrl: string;
  readonly transport: Transport;
  /** Consumes all events in the queue of a listener, with its own login. */
  consume(listener: AddedListener): Promise<readonly { readonly id: string; readonly type: string }[]>;
  /** Attempts what a listener may not do. Returns what was permitted. */
  permitted(listener: AddedListener, other: AddedListener): Promise<readonly string[]>;
  close(): Promise<void>;
}

export function listenersSuite(start: () => Promise<ListenerBroker>): void {
  let broker: ListenerBroker;
  let listeners: Listeners;
  beforeAll(async () => {
    broker = await start();
    listeners = await openListeners(broker);
  });
  afterAll(async () => {
    // The users belong to the whole server, which other tests share.
    for (const { name } of (await listeners?.list()) ?? []) await listeners.remove(name);
    await broker?.close();
  });

  const publish = async (...types: string[]): Promise<string[]> => {
    const events = types.map((type) => ({ id: newId(), type }));
    await broker.transport.publish(events.map((event) => ({ ...event, content: JSON.stringify(event) })));
    return events.map(({ id }) => id);
  };
  const idsOf = async (listener: AddedListener): Promise<string[]> =>
    (await broker.consume(listener)).map(({ id }) => id);

  it('a listener gets the events of its types that are published after it was added, and no others', async () => {
    await publish('order.created.v1');
    const added = await listeners.add('first', ['order.created.v1', 'order.paid.v1', 'order.paid.v1']);
    expect(added).toMatchObject({ name: 'first', types: ['order.created.v1', 'order.paid.v1'] });
    const [created, , paid] = await publish('order.created.v1', 'order.cancelled.v1', 'order.paid.v1');
    await eventually(async () => {
      expect(await listeners.list()).toEqual([
        { name: 'first', types: ['order.created.v1', 'order.paid.v1'], backlog: 2 },
      ]);
    }, 20_000);
    expect((await idsOf(added)).sort()).toEqual([created, paid].sort());
    expect(await idsOf(added)).toEqual([]);
  });

  it('a listener reads no other queue, publishes nothing, and changes no queue', async () => {
    const one = await listeners.add('one', ['order.created.v1']);
    const other = await listeners.add('other', ['order.created.v1']);
    await publish('order.created.v1');
    expect(await broker.permitted(one, other)).toEqual([]);
    expect(await idsOf(one)).toHaveLength(1);
    expect(await idsOf(other)).toHaveLength(1);
  });

  it('a second listener of a name is refused, and the first one stays', async () => {
    const added = await listeners.add('twice', ['order.created.v1']);
    await expect(listeners.add('twice', ['order.paid.v1'])).rejects.toThrow('there is a listener twice already');
    const [id] = await publish('order.created.v1', 'order.paid.v1');
    expect(await idsOf(added)).toEqual([id]);
  });

  it('a removed listener gets nothing and cannot log in, and its name can be used again', async () => {
    const removed = await listeners.add('removed', ['order.created.v1']);
    await publish('order.created.v1');
    await listeners.remove('removed');
    await expect(broker.consume(removed)).rejects.toThrow();
    expect((await listeners.list()).map(({ name }) => name)).not.toContain('removed');
    await expect(listeners.remove('removed')).rejects.toThrow('there is no listener removed');
    await publish('order.created.v1');
    const again = await listeners.add('removed', ['order.created.v1']);
    expect(await idsOf(again)).toEqual([]);
    const [id] = await publish('order.created.v1');
    expect(await idsOf(again)).toEqual([id]);
  });
}
