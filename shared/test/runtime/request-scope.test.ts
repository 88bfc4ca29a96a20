// What runs for a request knows it, what only happens to begin there does not.
import { setTimeout } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { inRequest, outsideRequests, requestNow } from '../../src/runtime/index.ts';

const scope = { id: 'r-1', traceparent: undefined };

async function later(): Promise<unknown> {
  await setTimeout(5);
  return requestNow();
}

it('is visible to all work that the request awaits, and to no code after the request', async () => {
  const seen = inRequest(scope, async () => [requestNow(), await later(), requestNow()]);
  expect(requestNow()).toBeUndefined();
  expect(await seen).toEqual([scope, scope, scope]);
});

it('is hidden in work outside the request, also after a wait, and visible again afterwards', async () => {
  const seen = await inRequest(scope, async () => {
    const outside = await outsideRequests(async () => [requestNow(), await later()]);
    return [...outside, requestNow()];
  });
  expect(seen).toEqual([undefined, undefined, scope]);
});
