// The AsyncAPI documents say what the code does: who sends and takes which events, and what they carry.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { consumers } from '../../src/events/consumers.ts';
import type { EventPayloads, EventType } from '../../src/events/definitions.ts';
import { parseEvent, toCloudEvent } from '../../src/events/event.ts';
import { newId } from '../../src/runtime/index.ts';

interface Reference {
  readonly $ref: string;
}
interface AsyncApi {
  readonly channels: Readonly<
    Record<string, { readonly address: string; readonly messages: Readonly<Record<string, Reference>> }>
  >;
  readonly operations: Readonly<Record<string, { readonly action: string; readonly channel: Reference }>>;
}

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
  const text = readFileSync(new URL(`../../../services/${service}/asyncapi.yaml`, import.meta.url), 'utf8');
  const document = parse(text) as AsyncApi;
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');

  const addresses = (action: string) =>
    Object.values(document.operations)
      .filter((operation) => operation.action === action)
      .map(({ channel }) => document.channels[channel.$ref.replace('#/channels/', '')]?.address)
      .sort();

  it('names what the service takes and sends', () => {
    expect(addresses('receive')).toEqual([...takes].sort());
    expect(addresses('send')).toEqual([...sends].sort());
  });

  it.each([...takes, ...sends])('describes %s as it is sent', (type) => {
    const channel = Object.values(document.channels).find(({ address }) => address === type);
    const [message] = Object.values(channel?.messages ?? {});
    const validate = ajv.compile({ $ref: `document${message?.$ref}/payload` });
    expect([validate(JSON.parse(eventOf(type, examples[type]))), validate.errors]).toEqual([true, null]);
    for (const member of Object.keys(examples[type])) {
      const less = eventOf(type, { ...examples[type], [member]: undefined });
      expect([member, validate(JSON.parse(less))]).toEqual([member, false]);
      expect(() => parseEvent(less)).toThrow(`must have required property '${member}'`);
    }
  });
});

it('every event has one sender', () => {
  const sent = Object.values(contracts).flatMap(({ sends }) => sends);
  expect(sent.sort()).toEqual(Object.keys(examples).sort());
});
