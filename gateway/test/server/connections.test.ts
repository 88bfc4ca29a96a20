// The bound of open connections.
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const limit = 5;
const sockets: Socket[] = [];
let gateway: TestGateway | undefined;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.stop();
});

it('the gateway closes connections beyond CONNECTION_LIMIT, and accepts new ones when others have ended', async () => {
  gateway = await startGateway({ CONNECTION_LIMIT: String(limit) });
  const { port, output } = gateway;
  /** @returns whether the gateway answers on a new connection, which then stays open */
  const isAnswered = (): Promise<boolean> => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write('GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n');
    return new Promise((resolve) => socket.once('data', () => resolve(true)).once('close', () => resolve(false)));
  };
  const answered: boolean[] = [];
  while (answered.length <= limit) answered.push(await isAnswered());
  // The connection of the probe that waited for the gateway may still count.
  expect([limit - 1, limit]).toContain(answered.indexOf(false));
  await eventually(() => expect(output()).toContain('too many connections are open'));
  sockets[0]?.destroy();
  await eventually(async () => expect(await isAnswered()).toBe(true));
});
