// The AsyncAPI documents define which service sends and handles which events, and the data of each event.
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { bundleDocument, dereference, type Node, toNode } from '../../src/contract/index.ts';
import { parseEvent, toCloudEvent } from '../../src/events/event.ts';
import { consumers, type EventType, senders } from '../../src/events/generated.ts';
import { newId } from '../../src/runtime/index.ts';
import { serviceNames as services } from '../../src/shop/index.ts';

interface SentAndHandled {
  readonly handles: readonly EventType[];
  readonly sends: readonly EventType[];
}

const expected: Readonly<Record<string, SentAndHandled>> = {
  accounts: {
    handles: [],
    sends: ['account.registered.v1', 'account.updated.v1', 'account.erased.v1', 'email-token.issued.v1'],
  },
  orders: {
    handles: [
      'account.registered.v1',
      'account.updated.v1',
      'stock.released.v1',
      'stock.lines-released.v1',
      'notification.sent.v1',
      'account.erased.v1',
      'stock.returned.v1',
    ],
    sends: [
      'order.created.v1',
      'order.processing.v1',
      'order.shipped.v1',
      'order.delivered.v1',
      'order.cancelled.v1',
      'order.lines-cancelled.v1',
      'order.paid.v1',
      'refund.due.v1',
      'refund.done.v1',
      'return.requested.v1',
      'return.approved.v1',
      'return.refused.v1',
      'return.withdrawn.v1',
      'return.received.v1',
      'invoice.issued.v1',
      'order.returned.v1',
      'order.updated.v1',
      'return.updated.v1',
      'setting.changed.v1',
    ],
  },
  catalogue: {
    handles: [
      'order.created.v1',
      'order.processing.v1',
      'order.shipped.v1',
      'order.cancelled.v1',
      'order.lines-cancelled.v1',
      'return.received.v1',
    ],
    sends: [
      'stock.lines-released.v1',
      'stock.released.v1',
      'product.created.v1',
      'product.updated.v1',
      'product.archived.v1',
      'stock.changed.v1',
      'stock.low.v1',
      'stock.returned.v1',
    ],
  },
  notifications: {
    handles: [
      'webhook.failing.v1',
      'account.registered.v1',
      'account.updated.v1',
      'account.erased.v1',
      'email-token.issued.v1',
      'order.created.v1',
      'order.shipped.v1',
      'order.cancelled.v1',
      'order.lines-cancelled.v1',
      'order.paid.v1',
      'refund.due.v1',
      'refund.done.v1',
      'return.requested.v1',
      'return.approved.v1',
      'return.refused.v1',
      'return.received.v1',
    ],
    sends: ['notification.sent.v1'],
  },
};

const documentOf = (service: string) =>
  bundleDocument(new URL(`../../../services/${service}/asyncapi.yaml`, import.meta.url));

/** Returns the channels of the operations with an action. */
const channelsOf = (document: Node, action: string): Node[] =>
  Object.values(toNode(document.operations))
    .map(toNode)
    .filter((operation) => operation.action === action)
    .map(({ channel }) => dereference(document, channel));

const typesOf = (channels: readonly Node[]): unknown[] => channels.map(({ address }) => address).sort();

function eventOf(service: string, type: string, data: object): string {
  const about = {
    id: newId(),
    type,
    subject: newId(),
    sequence: 3,
    previousSequence: null,
    requestId: 'r',
    traceparent: null,
    createdAt: new Date(),
  };
  return toCloudEvent(`/${service}`, { ...about, data: JSON.stringify(data) });
}

it.each(Object.entries(expected))(
  'the service %s sends and handles the events that its document names',
  (service, { handles, sends }) => {
    const document = documentOf(service);
    expect(typesOf(channelsOf(document, 'receive'))).toEqual([...handles].sort());
    expect(typesOf(channelsOf(document, 'send'))).toEqual([...sends].sort());
    expect(new Map<string, readonly string[]>(Object.entries(senders)).get(service)).toEqual(sends);
    const consumed = Object.entries(consumers).find(([consumer]) => consumer.startsWith(`${service}.`))?.[1];
    expect(consumed ?? []).toEqual(handles);
  },
);

describe.each(services)('services/%s/asyncapi.yaml', (service) => {
  const document = documentOf(service);
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);

  const channels = [...channelsOf(document, 'receive'), ...channelsOf(document, 'send')];
  it.each(channels.map((channel) => [String(channel.address), channel] as const))(
    'the AsyncAPI document describes the event %s as it is sent',
    (type, channel) => {
      const { examples } = dereference(document, toNode(toNode(document.components).schemas)[type]);
      const example = toNode(Array.isArray(examples) ? examples[0] : undefined);
      const [message] = Object.values(toNode(channel.messages)).map(toNode);
      const validate = ajv.compile({ ...toNode(message?.payload), components: document.components });
      expect([validate(JSON.parse(eventOf(service, type, example))), validate.errors]).toEqual([true, null]);
      expect(Object.keys(example)).not.toEqual([]);
      for (const member of Object.keys(example)) {
        const less = eventOf(service, type, { ...example, [member]: undefined });
        expect([member, validate(JSON.parse(less))]).toEqual([member, false]);
        expect(() => parseEvent(less)).toThrow(`must have required property '${member}'`);
      }
    },
  );
});

it('each event of shared/contracts/events.yaml has one sender', () => {
  const { components } = bundleDocument(new URL('../../contracts/events.yaml', import.meta.url));
  const sent = services.flatMap((service) => typesOf(channelsOf(documentOf(service), 'send')));
  expect(sent.sort()).toEqual(Object.keys(toNode(toNode(components).channels)).sort());
});

it('every example of shared/contracts/events.yaml conforms to its schema', () => {
  const document = bundleDocument(new URL('../../contracts/events.yaml', import.meta.url));
  const { channels, schemas } = toNode(document.components);
  for (const type of Object.keys(toNode(channels))) {
    const { examples } = dereference(document, toNode(schemas)[type]);
    for (const example of Array.isArray(examples) ? examples : [])
      expect(parseEvent(eventOf('sender', type, example)).data).toEqual(example);
  }
});
