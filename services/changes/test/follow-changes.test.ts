// GET /v1/changes/live on a real process, with the EventSource of undici as an independent client.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { EventSource, type MessageEvent } from 'undici';
import { type EventPublisher, eventsOfOrder, openPublisher, productEvent } from './published-events.ts';

let services: TestServices;
let publisher: EventPublisher;
const sources: EventSource[] = [];
beforeAll(async () => {
  services = await startServices(['changes'], { shared: false });
  publisher = await openPublisher(services.database.urls.events);
});
afterEach(() => {
  for (const source of sources.splice(0)) source.close();
});
afterAll(async () => {
  await publisher?.close();
  await services?.stop();
});

interface Received {
  readonly type: string;
  readonly id: string;
  readonly data: { readonly subject?: string; readonly sequence?: string; readonly code?: string };
}

async function follow(query = ''): Promise<{ source: EventSource; received: Received[] }> {
  const source = new EventSource(`${services.service('changes').url}/v1/changes/live${query}`);
  sources.push(source);
  const received: Received[] = [];
  for (const type of ['change', 'reset', 'end']) {
    source.addEventListener(type, (given) => {
      const event = given as MessageEvent<string>;
      received.push({ type, id: event.lastEventId, data: JSON.parse(event.data) as Received['data'] });
    });
  }
  await once(source, 'open');
  return { source, received };
}

const subjects = (received: readonly Received[]): (string | undefined)[] => received.map(({ data }) => data.subject);

it('a follower gets each change as it happens, and another one continues after the last id without a gap', async () => {
  const products = Array.from({ length: 6 }, () => newId());
  const create = (some: readonly string[]) =>
    publisher.publish(some.map((id) => productEvent(id, 1, { type: 'product.created.v1' })));
  const { source, received } = await follow('?types=product');
  await create(products.slice(0, 2));
  await eventually(() => expect(received).toHaveLength(2));
  source.close();
  await create(products.slice(2, 4));
  const second = await follow(`?types=product&cursor=${received[1]?.id}`);
  await eventually(() => expect(second.received).toHaveLength(2));
  await create(products.slice(4));
  await eventually(() => expect(second.received).toHaveLength(4));
  expect([...subjects(received), ...subjects(second.received)].sort()).toEqual([...products].sort());
});

it('a stream continues after the header Last-Event-ID, which takes precedence over the cursor of the address', async () => {
  const { received } = await follow();
  await publisher.publish(
    [1, 2].map((version) => productEvent(newId(), version, { type: 'product.created.v1' })).slice(0, 1),
  );
  await publisher.publish([productEvent(newId(), 1, { type: 'product.created.v1' })]);
  await eventually(() => expect(received).toHaveLength(2));
  const stop = new AbortController();
  const response = await fetch(`${services.service('changes').url}/v1/changes/live?cursor=now`, {
    headers: { 'Last-Event-ID': received[0]?.id ?? '', Accept: 'text/event-stream' },
    signal: stop.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })().catch(() => {});
  await eventually(() => expect(text).toContain(received[1]?.data.subject));
  expect(text).toMatch(/^retry: [12]\d\d\d\n\n/);
  expect(text.match(/event: change/g)).toHaveLength(1);
  stop.abort();
  await reading;
});

it('a cursor that has expired is answered with the event reset, after which the stream goes on', async () => {
  const { received } = await follow();
  await publisher.publish([productEvent(newId(), 1, { type: 'product.created.v1' })]);
  await eventually(() => expect(received).toHaveLength(1));
  const { database } = services.service('changes');
  await database.query('UPDATE feed SET epoch = gen_random_uuid()');
  const late = await follow(`?cursor=${received[0]?.id}`);
  await eventually(() => expect(late.received).toMatchObject([{ type: 'reset', data: { code: 'cursor-expired' } }]));
  await publisher.publish([productEvent(newId(), 1, { type: 'product.created.v1' })]);
  // The stream that was open before the restore begins again, too.
  await eventually(() => expect(received.map(({ type }) => type)).toEqual(['change', 'reset', 'change']));
  await eventually(() => expect(late.received).toHaveLength(2));
});

it('a stream ends with an event when its access token expires', async () => {
  const { url, client } = services.service('changes');
  const account = newId();
  const { nextCursor } = (await client.get('/v1/changes?cursor=now')).body;
  await publisher.publish(eventsOfOrder(account).slice(0, 1));
  // Expired tokens are accepted for 5 s.
  const token = await services.issuer.sign({ accountId: account, expiresIn: 5 });
  const response = await fetch(`${url}/v1/changes/live?cursor=${nextCursor}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  expect(text).toContain('order.created.v1');
  expect(text).toMatch(/event: end\ndata: {"code":"unauthenticated"[^\n]+}\n\n$/);
});

it('a service that stops disconnects clients that do not read, and those that read get the end of their stream', async () => {
  const { database, url } = services.service('changes');
  const { nextCursor: cursor } = (await (await fetch(`${url}/v1/changes?cursor=now`)).json()) as { nextCursor: string };
  // More than the buffers between the service and a client.
  await database.query(
    `WITH added AS (
       INSERT INTO changes (event_id, position, source, type, subject, sequence, happened_at, kind, resource_id, is_public,
         data, placed_at)
       SELECT gen_random_uuid(), head + n, '/catalogue', 'product.created.v1', gen_random_uuid(), 1, now(), 'product',
         gen_random_uuid(), true, json_build_object('name', repeat('x', 4000)), now()
       FROM feed, generate_series(1, 5000) AS n RETURNING 1)
     UPDATE feed SET head = head + (SELECT count(*) FROM added)`,
  );
  const address = new URL(url);
  const silent = connect(Number(address.port), address.hostname).pause();
  silent.on('error', () => {});
  silent.write(`GET /v1/changes/live?cursor=${cursor} HTTP/1.1\r\nHost: changes\r\n\r\n`);
  const response = await fetch(`${url}/v1/changes/live?cursor=${cursor}`);
  const stopped = services.service('changes').kill('SIGTERM');
  expect(await response.text()).toMatch(/\n\n$/);
  // Requests that do not end keep a process for more than 8 s.
  expect(await Promise.race([stopped.then(() => 'stopped'), sleep(7_000, 'waits', { ref: false })])).toBe('stopped');
  silent.destroy();
});
