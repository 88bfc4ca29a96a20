// For every framing, the service receives exactly the requests that the gateway answered, each with the identity of its
// own token.

import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createFramingCheck, type FramingCheck, shown, usualSilence } from '../framing-check.ts';
import { framingVariants, sequenceVariants } from '../framing-variants.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
let check: FramingCheck;

beforeAll(async () => {
  gateway = await startGateway();
  check = await createFramingCheck(gateway, 600);
});
afterAll(() => gateway.stop());

it('the gateway forwards exactly the requests that it does not reject', async () => {
  const variants = framingVariants(check.partsOf);
  expect(variants.length).toBeGreaterThan(300);
  answerInTwo(0, 0);
  expect(await check.faultsOf(variants)).toEqual([]);
});

it.each([
  ['answers late', 400, 0],
  ['answers piece by piece', 0, 400],
])('the gateway forwards exactly the accepted requests to a service that %s', async (_name, before, between) => {
  gateway.service.seen.length = 0;
  answerInTwo(before, between);
  expect(await check.faultsOf(sequenceVariants(check.partsOf), { silence: usualSilence + 3_000 })).toEqual([]);
});

/**
 * The service answers with the request that it received, in two pieces: `before` ms before the first, `between` ms
 * between them.
 */
function answerInTwo(before: number, between: number): void {
  gateway.service.answer = async (request, response) => {
    const answer = Buffer.from(JSON.stringify(shown(gateway.service.seen.at(-1))));
    response.setHeader('Content-Type', 'application/json');
    // The reader of the responses expects content after a Content-Length.
    if (request.method !== 'HEAD') response.setHeader('Content-Length', answer.length);
    if (before > 0) await setTimeout(before);
    response.write(answer.subarray(0, 10));
    if (between > 0) await setTimeout(between);
    response.end(answer.subarray(10));
  };
}
