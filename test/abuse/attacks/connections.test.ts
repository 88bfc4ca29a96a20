// Connections from one address that are idle, send or read slowly, or send expensive bodies, while another address is
// served.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { slowness } from '@shop/shared/testing';
import { Agent, request } from 'undici';
import { startGateway, type TestGateway } from '../../../gateway/test/start-gateway.ts';
import { hostileBodies } from '../../../shared/test/http/hostile-bodies.ts';
import { type RunningShop, startShop } from '../../running-shop.ts';
import { report } from './report.ts';

/** Each address is a separate client for the gateway. */
const attackers = '127.0.1.1';
const customers = '127.0.1.2';

/**
 * Sends requests from the customers' address until it is stopped.
 * @returns a line for each request that was not served
 */
function startServing(url: string, path: string, every: number) {
  const dispatcher = new Agent({ connect: { localAddress: customers }, connections: 4 });
  const failures: string[] = [];
  const running = new AbortController();
  let asked = 0;
  const ask = async (): Promise<void> => {
    asked += 1;
    const began = performance.now();
    try {
      const { statusCode, body } = await request(`${url}${path}`, { dispatcher });
      await body.dump();
      if (statusCode !== 200) failures.push(`answered ${statusCode}`);
    } catch (error) {
      failures.push(String(error));
    }
    const took = performance.now() - began;
    if (took > 2_000 * slowness()) failures.push(`took ${took.toFixed(0)} ms`);
  };
  const loop = (async () => {
    while (!running.signal.aborted) {
      await ask();
      await pause(every);
    }
  })();
  return async () => {
    running.abort();
    await loop;
    await dispatcher.close();
    return { asked, failures };
  };
}

describe('connections of one address', () => {
  const sockets: Socket[] = [];
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      GATEWAY_CONFIG_DIR: fileURLToPath(new URL('../../../gateway/config', import.meta.url)),
    });
    gateway.service.answer = (_request, response) => void response.end(Buffer.alloc(20 << 20, 'x'));
  });
  afterAll(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway?.stop();
  });

  async function open(bytes: string, read = true): Promise<Socket> {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress: attackers });
    sockets.push(socket);
    socket.on('error', () => {});
    if (read) socket.resume();
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    if (socket.writable) socket.write(bytes);
    return socket;
  }

  async function openMany(count: number, bytes: string, read = true): Promise<Socket[]> {
    const opened: Socket[] = [];
    for (let done = 0; done < count; done += 100)
      opened.push(...(await Promise.all(Array.from({ length: Math.min(100, count - done) }, () => open(bytes, read)))));
    return opened;
  }

  const stillOpen = (some: readonly Socket[]): number =>
    some.filter(({ destroyed, closed }) => !destroyed && !closed).length;

  it('connections of one address that idle do not affect other clients', async () => {
    const stop = startServing(gateway.url, '/health/live', 20);
    const idlers = await openMany(3_000, 'GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n');
    await pause(3_000);
    const { asked, failures } = await stop();
    expect(asked).toBeGreaterThan(10);
    report('idlers', idlers.length, failures);
    for (const socket of idlers) socket.destroy();
  });

  it('connections of one address that send slowly are closed in time, and do not affect other clients', async () => {
    const stop = startServing(gateway.url, '/health/live', 50);
    const head =
      'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n' +
      'Content-Length: 1000\r\n\r\n';
    const senders = [...(await openMany(200, head)), ...(await openMany(200, 'GET /v1/products HTTP/1.1\r\nHost: sh'))];
    const ticks = setInterval(() => {
      for (const socket of senders) if (socket.writable) socket.write(' ');
    }, 1_000);
    await pause(16_000 * slowness());
    clearInterval(ticks);
    const left = stillOpen(senders);
    const { failures } = await stop();
    report('slow senders', senders.length, [...failures, ...(left > 0 ? [`${left} are still open`] : [])]);
  });

  it('connections of one address whose client reads no data are closed, and do not affect other clients', async () => {
    const stop = startServing(gateway.url, '/health/live', 50);
    const asked = 'GET /v1/products HTTP/1.1\r\nHost: shop\r\n\r\n'.repeat(3);
    const readers = await openMany(50, asked, false);
    await pause(45_000 * slowness());
    for (const socket of readers) socket.resume();
    await pause(2_000);
    const left = stillOpen(readers);
    const { failures } = await stop();
    report('slow readers', readers.length, [...failures, ...(left > 0 ? [`${left} are still open`] : [])]);
  });
});

describe('expensive bodies', () => {
  let shop: RunningShop;
  beforeAll(async () => {
    shop = await startShop();
  });
  afterAll(() => shop?.stop());

  it('a hundred expensive bodies a second from one address do not affect other clients', async () => {
    const stop = startServing(shop.url, '/v1/products?limit=20', 50);
    const dispatcher = new Agent({ connect: { localAddress: attackers }, connections: 20 });
    const paths = ['/v1/products/search', '/v1/tokens', '/v1/tokens/revoke', '/v1/accounts'];
    const bodies = Object.values(hostileBodies(16 * 1_024));
    const faults: string[] = [];
    const attempts: Promise<void>[] = [];
    const send = async (path: string, body: string): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(`${shop.url}${path}`, { method: 'POST', headers, body, dispatcher });
      await answer.body.dump();
      if (answer.statusCode >= 500) faults.push(`${path}: ${answer.statusCode}`);
    };
    const began = performance.now();
    for (let index = 0; index < 1_500; index += 1) {
      const path = paths[index % paths.length] ?? '';
      attempts.push(send(path, bodies[index % bodies.length] ?? '').catch((error) => void faults.push(String(error))));
      const ahead = index * 10 - (performance.now() - began);
      if (ahead > 0) await pause(ahead);
    }
    await Promise.all(attempts);
    const { asked, failures } = await stop();
    await dispatcher.close();
    // Two busy cores answer three requests a second here. The actual test is the time limit of each request.
    expect(asked).toBeGreaterThan(10);
    report('expensive bodies', attempts.length, [...failures, ...faults]);
  });
});
