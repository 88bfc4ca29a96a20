// What runs for a request knows it, what only happens to begin there does not.
import { setTimeout } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { inRequest, outsideRequests, requestNow } from '../../src/runtime/index.ts';

const scope = { id: 'r-1', traceparent: undefined };

async function later(): Promise<unknown> {
  await setTimeout(5);
  return requestNow();
}

it('is known to all that the work waits for, and to nothing after it', async () => {
  const seen = inRequest(scope, async () => [requestNow(), await later(), requestNow()]);
  expect(requestNow()).toBeUndefined();
  expect(await seen).toEqual([scope, scope, scope]);
});

it('is unknown outside, also later on, and known again behind it', async () => {
  const seen = await inRequest(scope, async () => {
    const outside = await outsideRequests(async () => [requestNow(), await later()]);
    return [...outside, requestNow()];
  });
  expect(seen).toEqual([undefined, undefined, scope]);
});
