// Connections to endpoints inside the network are refused: real requests, real DNS, real TLS.
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { Agent } from 'undici';
import { createGuardedAgent } from '../../src/webhooks/address-guard.ts';
import { isPublic, networkList } from '../../src/webhooks/address-rules.ts';
import { type Attempt, sendRequest } from '../../src/webhooks/send-request.ts';
import { openSigningKey } from '../../src/webhooks/signing-keys.ts';
import { certificate, certificateKey } from './certificate.ts';
import { startTestDns, type TestDns } from './test-dns.ts';

/** The addresses that the name server gives at each look-up of a name; the last ones at all further look-ups. */
const addresses: Record<string, string[][]> = {
  'good.test': [['127.0.0.2']],
  'inside.test': [['127.0.0.1']],
  'receiver.test': [['127.0.0.2']],
  'other.test': [['127.0.0.2']],
  'mixed.test': [['127.0.0.2', '127.0.0.1']],
  'mixed6.test': [['127.0.0.2', '::1']],
  'turning.test': [['127.0.0.2'], ['127.0.0.1']],
  'metadata.test': [['169.254.169.254']],
  'mapped.test': [['::ffff:7f00:1']],
  'nat64.test': [['64:ff9b::7f00:1']],
  'absent.test': [[]],
};
const counts = new Map<string, number>();

let dns: TestDns;
let allowed: Server;
let inside: Server;
let secure: Server;
let agent: Agent;
/** The requests that reached the server that is inside. */
let reached = 0;
let answer = { status: 204, headers: {} as Record<string, string> };
const port = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  dns = await startTestDns((name) => {
    const seen = counts.get(name) ?? 0;
    counts.set(name, seen + 1);
    // Each look-up asks for A and AAAA.
    const all = addresses[name] ?? [];
    return all[Math.min(Math.floor(seen / 2), all.length - 1)] ?? [];
  });
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${dns.port}`]);
  setDefaultCACertificates([certificate]);
  allowed = createServer((_request, response) => response.writeHead(answer.status, answer.headers).end('thanks'));
  inside = createServer((_request, response) => response.end('the answer of an inside service'));
  inside.on('connection', () => {
    reached += 1;
  });
  secure = createTlsServer({ cert: certificate, key: certificateKey }, (_request, response) => response.end('secure'));
  // The servers have one port, so that only the address tells them apart.
  await once(allowed.listen(0, '127.0.0.2'), 'listening');
  await Promise.all([
    once(inside.listen(port(allowed), '127.0.0.1'), 'listening'),
    once(secure.listen(0, '127.0.0.2'), 'listening'),
  ]);
  agent = createGuardedAgent({
    allowed: networkList('WEBHOOKS_ALLOW').parse('127.0.0.2/32'),
    resolver,
    ownOrigin: 'https://shop.test',
    connectWithin: 5_000,
  });
});
afterAll(async () => {
  await agent.destroy();
  for (const server of [allowed, inside, secure]) {
    server.closeAllConnections();
    server.close();
  }
  await dns.close();
});

function send(url: string): Promise<Attempt> {
  const key = openSigningKey(['only-for-tests-only-for-tests-only-for-tests']);
  const message = { id: newId(), body: '{}' };
  const halt = new AbortController().signal;
  return sendRequest(url, message, { secrets: ['whsec_AAAA'], key }, { agent, within: 15_000, halt });
}

const refused = { error: 'The host has an address that is not public.' };

it('a request reaches an allowed address by http and any port', async () => {
  expect(await send(`http://good.test:${port(allowed)}/hook`)).toMatchObject({ status: 204 });
});

it.each([
  'http://127.0.0.1:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[::1]:PORT/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://0x7f.1:PORT/',
  'http://2130706433:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://127.1:PORT/',
  'http://0.0.0.0:PORT/',
  'http://localhost:PORT/',
  'http://localhost.:PORT/',
  'http://LOCALHOST:PORT/',
  'http://any.localhost:PORT/',
  'http://inside.test:PORT/',
  'http://inside.test.:PORT/',
  'http://mixed.test:PORT/',
  'http://mixed6.test:PORT/',
  'http://mapped.test:PORT/',
  'http://nat64.test:PORT/',
  'http://metadata.test/latest/meta-data/',
  'http://169.254.169.254/latest/meta-data/',
  'https://inside.test/',
])('no connection is made to %s', async (url) => {
  const before = reached;
  expect(await send(url.replace('PORT', String(port(inside))))).toMatchObject(refused);
  expect(reached).toBe(before);
});

it('a name that has another address at the next look-up is connected to the address that was checked, or refused', async () => {
  const before = reached;
  const url = `http://turning.test:${port(allowed)}/`;
  const { lookups } = dns;
  answer = { status: 204, headers: { Connection: 'close' } };
  expect(await send(url)).toMatchObject({ status: 204 });
  expect(lookups.filter((name) => name === 'turning.test')).toHaveLength(2);
  expect(await send(url)).toMatchObject(refused);
  expect(reached).toBe(before);
});

it('a redirect to an inside address is a failure and is not followed', async () => {
  const before = reached;
  answer = { status: 302, headers: { Location: `http://127.0.0.1:${port(inside)}/`, Connection: 'close' } };
  const attempt = await send(`http://good.test:${port(allowed)}/`);
  expect(attempt).toMatchObject({ status: 302, error: 'Redirects are not followed.' });
  expect(reached).toBe(before);
});

it('the certificate of an endpoint must have the name of the address', async () => {
  expect(await send(`https://receiver.test:${port(secure)}/`)).toMatchObject({ status: 200, answer: 'secure' });
  const other = await send(`https://other.test:${port(secure)}/`);
  expect(other.status).toBeUndefined();
  expect(other.error).toMatch(/altnames/);
});

it('the shop sends nothing to itself, and nothing to a name without an address', async () => {
  expect(await send('https://shop.test/v1/orders')).toMatchObject({ error: 'The address is that of the shop.' });
  expect(await send('https://SHOP.test.:443/')).toMatchObject({ error: 'The address is that of the shop.' });
  expect((await send('https://absent.test/')).error).toMatch(/no address/);
});

it('public are unicast addresses of IPv4, and of IPv6 those that are assigned and contain no other address', () => {
  const good = ['93.184.216.34', '8.8.8.8', '2606:4700::6810:84e5', '2a00:1450:4001:81b::200e'];
  expect(good.filter((address) => !isPublic(address))).toEqual([]);
  const bad = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '127.0.0.1', '169.254.169.254', '0.0.0.0']
    .concat(['224.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '240.0.0.1'])
    .concat(['::', '::1', '::127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '64:ff9b:1::1', 'fe80::1', 'fd00::1'])
    .concat([
      'ff02::1',
      '2001::1',
      '2001:db8::1',
      '3fff::1',
      '2002:808:808::1',
      '4000::1',
      '100::1',
      'fec0::1',
      'text',
    ]);
  expect(bad.filter(isPublic)).toEqual([]);
});
