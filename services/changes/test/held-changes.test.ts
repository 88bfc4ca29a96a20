// What an operator sees of changes whose predecessor is missing.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { heldChanges } from '../src/operator/index.ts';
import { type EventPublisher, eventsOfOrder, openPublisher } from './published-events.ts';

let services: TestServices;
let publisher: EventPublisher;
let metrics = '';
beforeAll(async () => {
  const [port] = await freePorts(1);
  metrics = `http://127.0.0.1:${port}/metrics`;
  const environment = { METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' };
  services = await startServices(['changes'], { shared: false, environment });
  publisher = await openPublisher(services.database.urls.events);
});
afterAll(async () => {
  await publisher?.close();
  await services?.stop();
});

async function metric(name: string): Promise<number> {
  const text = await (await fetch(metrics)).text();
  return Number(new RegExp(`^${name}\\b.*? (\\S+)$`, 'm').exec(text)?.[1]);
}

const held = () => heldChanges({ DATABASE_URL: services.database.urls.changes }, 10);

it('a change whose predecessor is missing for a minute is counted, and named with the missing event until that arrives', async () => {
  const [first, ...later] = eventsOfOrder(newId());
  if (first === undefined) throw new Error('an order has events');
  await publisher.publish(later);
  await eventually(async () => expect(await metric('shop_changes_held')).toBe(3), 30_000);
  expect(await held()).toEqual([]);
  await services.service('changes').database.query("UPDATE changes SET arrived_at = now() - interval '90 s'");
  const named = await held();
  expect(named).toMatchObject([{ type: 'order.processing.v1', source: '/orders', subject: first.subject, missing: 1 }]);
  expect(named[0]?.seconds).toBeGreaterThanOrEqual(90);
  await eventually(async () => expect(await metric('shop_changes_held_age')).toBeGreaterThanOrEqual(90), 30_000);
  await publisher.publish([first]);
  await eventually(async () => expect(await metric('shop_changes_delay_count')).toBe(4), 30_000);
  expect(await held()).toEqual([]);
});

it('the listeners of live updates are counted until they leave', async () => {
  const leaving = new AbortController();
  await fetch(`${services.service('changes').url}/v1/changes/live`, { signal: leaving.signal });
  await eventually(async () => expect(await metric('shop_changes_listeners')).toBe(1));
  leaving.abort();
  await eventually(async () => expect(await metric('shop_changes_listeners')).toBe(0));
});
