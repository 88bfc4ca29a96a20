// Compares two versions of a service's AsyncAPI document: the events that it sends, and those that it handles.
import { isDeepStrictEqual } from 'node:util';
import { dereference, type Node, toNode } from '@shop/shared/contract';
import { type BreakingChange, changeAt, type Place } from './breaking-change.ts';
import { SchemaComparison } from './compare-schemas.ts';

export function compareAsyncApi(before: Node, after: Node, service: string): BreakingChange[] {
  const schemas = new SchemaComparison({ before, after });
  const changes: BreakingChange[] = [];
  const next = operationsOf(after);
  for (const [name, { action, event, channel }] of operationsOf(before)) {
    const sent = action === 'send';
    const place: Place = { subject: event, words: `event ${event} ${sent ? 'from' : 'to'} ${service}` };
    const same = next.get(name)?.channel;
    if (same === undefined) {
      changes.push(changeAt(place, sent ? 'is no longer sent' : 'is no longer handled'));
      continue;
    }
    if (!isDeepStrictEqual(bindingsOf(before, channel), bindingsOf(after, same)))
      changes.push(changeAt(place, 'its binding to the broker was changed'));
    // The channels of the shop have one message each.
    const [old, now] = [channel, same].map(({ messages }) => Object.values(toNode(messages))[0]);
    schemas.compare(
      dereference(before, old).payload,
      dereference(after, now).payload,
      sent ? 'produced' : 'accepted',
      place,
    );
  }
  const document: Place = { subject: `${service}/asyncapi.yaml`, words: `asyncapi.yaml of ${service}` };
  for (const member of ['x-consumer', 'defaultContentType'])
    if (before[member] !== undefined && before[member] !== after[member])
      changes.push(changeAt(document, `${member} was ${String(before[member])} and is ${String(after[member])}`));
  return [...changes, ...schemas.changes];
}

interface Operation {
  readonly action: string;
  /** The type of the event, which is the address of its channel. */
  readonly event: string;
  readonly channel: Node;
}

/** Action and event → operation. */
function operationsOf(document: Node): Map<string, Operation> {
  return new Map(
    Object.values(toNode(document.operations)).map((operation) => {
      const { action, channel: reference } = toNode(operation);
      const channel = dereference(document, reference);
      const event = String(channel.address);
      return [`${String(action)} ${event}`, { action: String(action), event, channel }];
    }),
  );
}

function bindingsOf(document: Node, { bindings }: Node): unknown {
  return dereference(document, bindings);
}
