// The start of a service's events: it does not wait for the broker, and reports refusals that retrying cannot fix.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Events, startEvents } from '../../src/events/index.ts';
import { StartError } from '../../src/runtime/index.ts';
import { eventually, testBroker } from '../../src/testing/index.ts';
import { log } from './brokers.ts';
import { startStore, type TestStore } from './service.ts';
import { startProxy } from './tcp-proxy.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startStore();
});

afterAll(() => store?.close());

const start = (url: string, refused: (error: StartError) => void = () => {}): Promise<Events> =>
  startEvents({ service: 'notifications', url, databaseUrl: store.url, database: store.database, log, refused });

describe('startEvents', () => {
  it.each(['amqp', 'postgres'])(
    'startEvents does not wait for a server that accepts the connection and does not respond: %s',
    async (scheme) => {
      const sockets = new Set<Socket>();
      const silent = createServer((socket) => {
        socket.on('error', () => {});
        sockets.add(socket);
      });
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      // The connection attempt is abandoned after some seconds, when the start has already ended.
      const givenUp = once(silent, 'connection').then(async ([socket]: Socket[]) => {
        if (socket !== undefined) await once(socket, 'close');
        return 'the connection was given up';
      });
      const started = start(`${scheme}://shop:shop@127.0.0.1:${port}/shop`);
      expect(await Promise.race([started.then(() => 'started'), givenUp])).toBe('started');
      const events = await started;
      await expect(events.ping()).rejects.toThrow('is unavailable');
      for (const socket of sockets) socket.destroy();
      silent.close();
      await events.close();
    },
  );

  it('startEvents publishes earlier events when the broker becomes available', async () => {
    const proxy = await startProxy(await testBroker());
    await proxy.cut();
    const events = await start(proxy.url);
    await store.append();
    await expect(events.ping()).rejects.toThrow('RabbitMQ is unavailable');
    expect(await store.unpublished()).toHaveLength(1);
    await proxy.restore();
    await eventually(async () => expect(await store.unpublished()).toEqual([]), 30_000);
    await events.ping();
    await events.close();
    await proxy.close();
  });

  it('startEvents reports that the broker rejects its password', async () => {
    const url = new URL(await testBroker());
    url.password = 'wrong';
    const refusals: Error[] = [];
    const events = await start(url.href, (error) => refusals.push(error));
    await eventually(() => expect(refusals).not.toEqual([]), 30_000);
    expect(refusals[0]).toBeInstanceOf(StartError);
    expect(refusals[0]?.message).toMatch(/RabbitMQ refuses: .*ACCESS.REFUSED/);
    await events.close();
  });
});
