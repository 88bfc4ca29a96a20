// Checks the recordings of all consumers against the real process of their service.
import { createServiceTokens } from '../../auth/index.ts';
import { loadContract } from '../../contract/index.ts';
import { parseEvent } from '../../events/event.ts';
import { consumers } from '../../events/generated.ts';
import type { ServiceName } from '../../shop/index.ts';
import { findOperation, type TestClient } from '../client.ts';
import { serviceFolder } from '../database.ts';
import { eventually } from '../eventually.ts';
import { testSecret } from '../services.ts';
import type { TestIssuer } from '../tokens.ts';
import { connectTestTransport } from '../transport.ts';
import { differences, fillIn } from './placeholders.ts';
import { type RecordedCall, type RecordedEvent, recordedEvents } from './recordings.ts';

/**
 * The states of a service, by their name in recordings. Each function creates its state and returns the values of its
 * placeholders.
 */
export type ProviderStates = Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>>;

async function create(states: ProviderStates, { given, provider }: RecordedCall | RecordedEvent) {
  const state = states[given];
  if (state === undefined) throw new Error(`the tests of ${provider} have no state ${JSON.stringify(given)}`);
  return new Map(Object.entries(await state()));
}

/**
 * Sends a recorded call in its provider state with the credentials that the contract requires. Returns the differences
 * between the response and the recording.
 * @throws Error when the response violates the contract
 */
export async function checkCall(
  call: RecordedCall,
  states: ProviderStates,
  { client, issuer }: { readonly client: TestClient; readonly issuer: TestIssuer },
): Promise<string[]> {
  const { consumer, provider, method } = call;
  const values = await create(states, call);
  const path = String(fillIn(call.path, values));
  const body = fillIn(call.body, values);
  const contract = loadContract(`${serviceFolder(provider)}/openapi.yaml`);
  const { access, scopes } = findOperation([contract], method, path)?.security ?? {};
  const credentials = async (): Promise<string | undefined> => {
    if (access === 'required') return `Bearer ${await issuer.sign({ scopes: scopes ?? [] })}`;
    if (access !== 'service') return undefined;
    const text = body === undefined ? '' : JSON.stringify(body);
    return createServiceTokens({ secrets: [testSecret], name: consumer }).sign(provider, { method, path, body: text });
  };
  const authorization = await credentials();
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  const answer = await client.call(method, path, { headers, body });
  if (answer.status !== call.status) return [`the status is ${answer.status} and not ${call.status}: ${answer.text}`];
  return call.response === undefined ? [] : differences(call.response, answer.body, values, 'part');
}

export interface ReceivedEvents {
  /**
   * Creates the state of a recorded event, and returns how the event that its consumer receives differs from it.
   * @param within milliseconds in which an event without a difference arrives; default 5000
   * @throws PoisonError when the consumer has received an event that violates its schema
   */
  check(event: RecordedEvent, states: ProviderStates, within?: number): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Receives events instead of the services that recorded events of a provider. They must not run.
 * @param url the address of the broker
 */
export async function receiveEvents(url: string, provider: ServiceName): Promise<ReceivedEvents> {
  const transport = await connectTestTransport(url);
  const services = new Set(recordedEvents({ provider }).map(({ consumer }) => consumer));
  const received: { readonly consumer: string; readonly content: string }[] = [];
  for (const consumer of Object.keys(consumers).filter((name) => services.has(name.split('.')[0] ?? ''))) {
    await transport.subscribe({
      consumer,
      prefetch: 10,
      async handle({ content }) {
        received.push({ consumer, content });
        return { kind: 'done' };
      },
    });
  }
  return {
    async check(event, states, within) {
      const values = await create(states, event);
      /** Returns the differences between the recorded event and the closest received one. */
      const differencesNow = (): string[] => {
        const compared = received
          .filter(({ consumer }) => consumer.startsWith(`${event.consumer}.`))
          .map(({ content }) => parseEvent(content))
          .filter(({ type, source }) => type === event.type && source === `/${event.provider}`)
          .map(({ data }) => differences(event.data, data, new Map(values), 'part'))
          .sort((a, b) => a.length - b.length);
        return compared[0] ?? [`${event.consumer} receives no ${event.type}`];
      };
      const arrives = (): void => {
        if (differencesNow().length > 0) throw new Error('not yet');
      };
      await eventually(arrives, within).catch(() => {});
      return differencesNow();
    },
    close: () => transport.close(),
  };
}
