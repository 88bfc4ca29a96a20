// The bounds of open connections, for one address and in all, and which connection is closed for a new one.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { startGateway, type TestGateway } from '../start-gateway.ts';

/** The client addresses of the tests. */
const [crowd, other] = ['127.0.1.1', '127.0.1.2'];
const live = 'GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n';
const list = 'GET /v1/products HTTP/1.1\r\nHost: shop\r\n\r\n';

interface Client extends Socket {
  received: string;
}

const clients: Client[] = [];
let gateway: TestGateway | undefined;
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await gateway?.stop();
});

async function start(total: number, perAddress: number, environment = {}): Promise<TestGateway> {
  const limits = { CONNECTION_LIMIT: String(total), CONNECTION_LIMIT_PER_ADDRESS: String(perAddress) };
  gateway = await startGateway({ ...limits, ...environment });
  // The probe that waited for the gateway to start has a connection, which must close first.
  await setTimeout(100);
  return gateway;
}

/** Connects from an address and sends the bytes. */
async function open(localAddress: string, bytes = ''): Promise<Client> {
  const { port } = gateway as TestGateway;
  const client = Object.assign(connect({ port, host: '127.0.0.1', localAddress }), { received: '' }) as Client;
  clients.push(client);
  client.on('error', () => {});
  client.on('data', (data) => {
    client.received += data.toString('latin1');
  });
  await once(client, 'connect');
  if (bytes !== '') client.write(bytes);
  return client;
}

/** Connects and waits for a response: after it the connection is idle. */
async function openIdle(localAddress: string): Promise<Client> {
  const client = await open(localAddress, live);
  await answered(client);
  return client;
}

const answered = (client: Client, status = 200) =>
  eventually(() => expect(client.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `)));
const closed = (client: Client) => eventually(() => expect(client.destroyed).toBe(true));
const openOf = (some: readonly Client[]) => some.map(({ destroyed }) => !destroyed);

describe('a client address at its bound', () => {
  it('loses the connection that has been idle longest to a new one', async () => {
    await start(100, 3);
    const [first, second, third] = [await openIdle(crowd), await openIdle(crowd), await openIdle(crowd)];
    first.received = '';
    first.write(live);
    await answered(first);
    const fourth = await openIdle(crowd);
    await closed(second);
    expect(openOf([first, second, third, fourth])).toEqual([true, false, true, true]);
    const fifth = await openIdle(crowd);
    await closed(third);
    expect(openOf([first, fourth, fifth])).toEqual([true, true, true]);
  });

  it('loses no connection with a request in progress: the new one is closed', async () => {
    const { service } = await start(100, 3);
    service.answer = (_request, response) => void setTimeout(3_000).then(() => response.end('{}'));
    const waits = await open(crowd, list);
    const sendsBody = await open(
      crowd,
      'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 2\r\n\r\n{',
    );
    const sendsHead = await openIdle(crowd);
    sendsHead.received = '';
    sendsHead.write(live.slice(0, 10));
    await setTimeout(1_000);
    const refused = await open(crowd, live);
    await closed(refused);
    expect(refused.received).toBe('');
    sendsBody.write('}');
    sendsHead.write(live.slice(10));
    await Promise.all([answered(sendsHead), answered(waits), answered(sendsBody)]);
    // Both connections are idle now.
    await openIdle(crowd);
    await eventually(() => expect(openOf([waits, sendsBody, sendsHead]).filter((one) => !one)).toHaveLength(1));
  });

  it('takes no connection from other addresses', async () => {
    await start(100, 3);
    const neighbour = await openIdle(other);
    for (let count = 0; count < 20; count += 1) await openIdle(crowd);
    neighbour.received = '';
    neighbour.write(live);
    await answered(neighbour);
    await eventually(() => expect(clients.filter(({ destroyed }) => !destroyed)).toHaveLength(4));
  });

  it('loses a connection that sends only empty lines', async () => {
    await start(100, 1);
    const idler = await openIdle(crowd);
    idler.write('\r\n');
    await setTimeout(1_000);
    const refused = await open(crowd, live);
    await closed(refused);
    // The bytes count as the beginning of a request until the time for a request is over.
    await eventually(async () => {
      const next = await open(crowd, live);
      await Promise.race([once(next, 'data'), once(next, 'close')]);
      expect(next.received).not.toBe('');
    }, 15_000);
    await closed(idler);
  });
});

it('does not bound the connections of a trusted proxy', async () => {
  await start(100, 2, { TRUSTED_PROXIES: '1' });
  const all = await Promise.all(Array.from({ length: 20 }, () => openIdle(crowd)));
  expect(openOf(all)).toEqual(new Array(20).fill(true));
});

describe('the bound of all connections', () => {
  const total = 5;
  const addresses = Array.from({ length: total }, (_, index) => `127.0.2.${index + 1}`);

  it('closes the connection that has been idle longest for a new one of any address', async () => {
    await start(total, 3);
    const all: Client[] = [];
    for (const address of addresses) all.push(await openIdle(address));
    await openIdle(other);
    await eventually(() => expect(openOf(all)).toEqual([false, true, true, true, true]));
  });

  it('closes a connection that sends only empty lines before one that was idle for a shorter time', async () => {
    await start(total, 3);
    const idlers: Client[] = [];
    for (const address of addresses.slice(1)) idlers.push(await openIdle(address));
    const drip = (): void => {
      for (const idler of idlers) if (idler.writable) idler.write('\r\n');
    };
    drip();
    await setTimeout(200);
    // These connections could be sending requests, so the other connection is closed first.
    const before = await openIdle(crowd);
    await openIdle(other);
    await closed(before);
    await setTimeout(11_500);
    const customer = await openIdle(crowd);
    drip();
    await setTimeout(200);
    await openIdle('127.0.1.3');
    await eventually(() => expect(openOf(idlers).filter((one) => !one).length).toBeGreaterThan(0));
    expect(customer.destroyed).toBe(false);
  });

  it('answers 503 to a new connection when none is idle, except for a health probe', async () => {
    const { service } = await start(total, 3);
    service.answer = () => {};
    const all = await Promise.all(addresses.map((address) => open(address, list)));
    await eventually(() => expect(service.seen.filter(({ url }) => url === '/v1/products')).toHaveLength(total));
    const probe = await open(other, live);
    await answered(probe);
    const client = await open(other, list);
    await answered(client, 503);
    expect(client.received).toContain('"code":"service-unavailable"');
    await Promise.all([closed(probe), closed(client)]);
    expect(openOf(all)).toEqual(new Array(total).fill(true));
  });

  it('admits a health probe beside many silent connections when none is idle', async () => {
    const { service } = await start(total, 1_000);
    service.answer = () => {};
    await Promise.all(addresses.map((address) => open(address, list)));
    await eventually(() => expect(service.seen.filter(({ url }) => url === '/v1/products')).toHaveLength(total));
    await Promise.all(Array.from({ length: 300 }, () => open(crowd)));
    await answered(await open(other, live));
    await eventually(() =>
      expect(clients.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(total + 100),
    );
  });
});
