// The present request is visible to work that is a part of it, and not to work that it only starts.
import { setTimeout } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { inRequest, outsideRequests, requestNow } from '../../src/runtime/index.ts';

const scope = { id: 'r-1', traceparent: undefined };

async function later(): Promise<unknown> {
  await setTimeout(5);
  return requestNow();
}

it('the request scope gives the current request to all work that the request awaits, and to no code after it', async () => {
  const seen = inRequest(scope, async () => [requestNow(), await later(), requestNow()]);
  expect(requestNow()).toBeUndefined();
  expect(await seen).toEqual([scope, scope, scope]);
});

it('the request scope gives no request to work that runs outside it, also after a wait, and gives it again afterwards', async () => {
  const seen = await inRequest(scope, async () => {
    const outside = await outsideRequests(async () => [requestNow(), await later()]);
    return [...outside, requestNow()];
  });
  expect(seen).toEqual([undefined, undefined, scope]);
});
