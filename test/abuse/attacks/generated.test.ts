// Requests that are generated from the contracts: valid, at the bounds, and invalid. ATTACK_REQUESTS sets their number,
// and ATTACK_SEED repeats them.
import { writeSync } from 'node:fs';
import { afterAll, beforeAll, it } from '@jest/globals';
import { outlineOperations, toNode } from '@shop/shared/contract';
import fc from 'fast-check';
import { requestsOf } from './generate-requests.ts';
import { report } from './report.ts';
import { documentOf, forEach, type Stage, serviceNames, startStage } from './stage.ts';

const wanted = Number(process.env.ATTACK_REQUESTS ?? 6_000);
const seed = Number(process.env.ATTACK_SEED ?? 20_261_123);

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

it('generated requests get the responses of the contracts, and never an error of the shop', async () => {
  const operations = serviceNames.flatMap((service) => {
    const document = documentOf(service);
    return outlineOperations(document)
      .filter(({ internal }) => !internal)
      .map(({ path, method }) => ({ service, document, path, method, item: toNode(toNode(document.paths)[path]) }));
  });
  const ids = { orderId: [stage.orderId], productId: [stage.productId], accountId: ['me', stage.accountId] };
  const tokens = [stage.customer, stage.staff, 'forged', undefined];
  const each = Math.ceil(wanted / operations.length);
  const requests = operations.flatMap((operation, index) =>
    fc.sample(requestsOf(operation, ids, tokens), { numRuns: each, seed: seed + index }),
  );
  writeSync(1, `generated requests: seed ${seed}, ${operations.length} operations\n`);
  const through = await forEach(requests, async ({ service, method, path, options }) => {
    const flaw = await stage.attack(service, method, path, options);
    return flaw && `${method} ${path} ${JSON.stringify(options)}: ${flaw}`.slice(0, 2_000);
  });
  report('generated requests', requests.length, through);
});
