// The plan of the requests depends on the seed and on the number of a request only, so that a run can be continued.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { loadContract } from '@shop/shared/contract';
import { plannedRequests } from './plan.ts';
import { type PlannedRequest, requestsFor } from './requests.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const requests = requestsFor(loadContract(join(root, 'services/orders/openapi.yaml')));

/** The planned requests as text, by number. */
function texts(from: number, count: number, seed = 1): Map<number, string> {
  const text = ({ operation, body, ...plan }: PlannedRequest): string =>
    JSON.stringify({ ...plan, value: body?.value, operation: operation.operationId });
  return new Map([...plannedRequests(requests, { from, count, seed })].map(([index, plan]) => [index, text(plan)]));
}

it('the plan has the same request at a number, wherever a run begins', () => {
  const all = texts(0, 4_200);
  expect([...all.keys()]).toEqual(Array.from({ length: 4_200 }, (_, index) => index));
  const rest = texts(3_900, 300);
  expect([...rest]).toEqual([...all].slice(3_900));
});

it('the plan has other requests for another seed, and hardly any request twice', () => {
  const [first, second] = [texts(0, 4_000), texts(0, 4_000, 2)];
  expect([...second.values()].filter((text) => [...first.values()].includes(text)).length).toBeLessThan(400);
  expect(new Set(first.values()).size).toBeGreaterThan(3_600);
});

it('the plan sends a body only with the operation for which it was generated', () => {
  for (const [, { operation, body }] of plannedRequests(requests, { from: 0, count: 4_000, seed: 3 }))
    if (operation.operationId === 'createOrder') expect(body).toBeDefined();
});
