// The AsyncAPI documents define which service sends and handles which events, and the data of each event.
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { bundleDocument, nodeOf, resolve } from '../../src/contract/index.ts';
import { consumers } from '../../src/events/consumers.ts';
import { parseEvent, toCloudEvent } from '../../src/events/event.ts';
import { type EventPayloads, type EventType, senders } from '../../src/events/generated.ts';
import { newId } from '../../src/runtime/index.ts';

const time = '2026-11-21T03:00:00.000Z';
const order = { orderId: newId(), accountId: newId(), reservationId: newId() };
const account = { accountId: newId(), email: 'ada@example.org', name: 'Ada' };
const item = { productId: newId(), name: 'Lamp', quantity: 2 };

const examples: EventPayloads = {
  'account.registered.v1': account,
  'account.updated.v1': account,
  'order.created.v1': { ...order, items: [{ ...item, unitPrice: 1.5, lineTotal: 3 }], totalCost: 3, currency: 'EUR' },
  'order.processing.v1': order,
  'order.shipped.v1': order,
  'order.delivered.v1': order,
  'order.cancelled.v1': { ...order, items: [item], reason: null, cancelledAt: time },
  'stock.released.v1': { ...order, outcome: 'done', releasedAt: time },
  'notification.sent.v1': {
    orderId: newId(),
    accountId: newId(),
    kind: 'order-shipped',
    outcome: 'failed',
    sentAt: time,
  },
};

const contracts: Readonly<
  Record<string, { readonly takes: readonly EventType[]; readonly sends: readonly EventType[] }>
> = {
  accounts: { takes: [], sends: ['account.registered.v1', 'account.updated.v1'] },
  orders: {
    takes: consumers['orders.effects'],
    sends: ['order.created.v1', 'order.processing.v1', 'order.shipped.v1', 'order.delivered.v1', 'order.cancelled.v1'],
  },
  catalogue: { takes: consumers['catalogue.inventory'], sends: ['stock.released.v1'] },
  notifications: { takes: consumers['notifications.mail'], sends: ['notification.sent.v1'] },
};

const senderOf = (type: EventType) => Object.entries(contracts).find(([, { sends }]) => sends.includes(type))?.[0];

function eventOf(type: EventType, data: object): string {
  const about = {
    id: newId(),
    type,
    subject: newId(),
    sequence: 3,
    requestId: 'r',
    traceparent: null,
    createdAt: new Date(),
  };
  return toCloudEvent(`/${senderOf(type)}`, { ...about, data: JSON.stringify(data) });
}

describe.each(Object.entries(contracts))('services/%s/asyncapi.yaml', (service, { takes, sends }) => {
  const document = bundleDocument(new URL(`../../../services/${service}/asyncapi.yaml`, import.meta.url));
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);

  const addresses = (action: string) =>
    Object.values(nodeOf(document.operations))
      .map(nodeOf)
      .filter((operation) => operation.action === action)
      .map(({ channel }) => resolve(document, channel).address)
      .sort();

  it('names what the service takes and sends', () => {
    expect(addresses('receive')).toEqual([...takes].sort());
    expect(addresses('send')).toEqual([...sends].sort());
  });

  it.each([...takes, ...sends])('describes %s as it is sent', (type) => {
    const channels = Object.values(nodeOf(document.channels)).map((channel) => resolve(document, channel));
    const channel = channels.find(({ address }) => address === type);
    const [message] = Object.values(nodeOf(channel?.messages)).map(nodeOf);
    const validate = ajv.compile({ ...nodeOf(message?.payload), components: document.components });
    expect([validate(JSON.parse(eventOf(type, examples[type]))), validate.errors]).toEqual([true, null]);
    for (const member of Object.keys(examples[type])) {
      const less = eventOf(type, { ...examples[type], [member]: undefined });
      expect([member, validate(JSON.parse(less))]).toEqual([member, false]);
      expect(() => parseEvent(less)).toThrow(`must have required property '${member}'`);
    }
  });
});

it('shared/contracts/events.yaml defines the events that the services send, and each has one sender', () => {
  const { components } = bundleDocument(new URL('../../contracts/events.yaml', import.meta.url));
  const sent = Object.values(contracts).flatMap(({ sends }) => sends);
  expect(sent.sort()).toEqual(Object.keys(examples).sort());
  expect(sent).toEqual(Object.keys(nodeOf(nodeOf(components).channels)).sort());
});

it.each(Object.entries(contracts))('the generated table of senders has the events of %s', (service, { sends }) => {
  expect(new Map<string, readonly string[]>(Object.entries(senders)).get(service)).toEqual(sends);
});
