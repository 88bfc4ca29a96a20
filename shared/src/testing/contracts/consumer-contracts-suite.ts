// The tests that each service has about the recordings of its consumers.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServiceName } from '../../shop/index.ts';
import type { TestServices } from '../test-service.ts';
import { checkCall, type ProviderStates, type ReceivedEvents, receiveEvents } from './check-recordings.ts';
import { recordedCalls, recordedEvents } from './recordings.ts';

/**
 * Defines a test for each recorded call and event of a service. It compares the recording with the real process.
 * @param services returns the running services, among them this one; called after they are started
 */
export const consumerContractsSuite = (
  provider: ServiceName,
  states: ProviderStates,
  services: () => TestServices,
): void =>
  describe(`the recordings of the consumers of ${provider}`, () => {
    let received: ReceivedEvents;
    beforeAll(async () => {
      received = await receiveEvents(services().database.urls.events, provider);
    });
    afterAll(() => received?.close());

    const calls = recordedCalls({ provider });
    // A service may have consumers of its events only.
    if (calls.length > 0)
      it.each(calls)('agree with the answer to $consumer: $method $path $status, given $given', async (call) => {
        const { issuer, service } = services();
        expect(await checkCall(call, states, { issuer, client: service(provider).client })).toEqual([]);
      });

    it.each(recordedEvents({ provider }))('agree with $type to $consumer, given $given', async (event) => {
      expect(await received.check(event, states)).toEqual([]);
    });
  });
