// Generated requests to the whole shop through its gateway. `npm run fuzz` sends more of them.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadContract } from '@shop/shared/contract';
import { fuzz } from './run.ts';
import { type FuzzedShop, startFuzzedShop } from './shop.ts';

const requests = 24_000;
const seed = 20_261_125;

let shop: FuzzedShop;
beforeAll(async () => {
  shop = await startFuzzedShop();
});
afterAll(() => shop?.stop());

it('every response conforms to the contract, and every operation succeeds at least once', async () => {
  const report = await fuzz(shop, { requests, seed, progress: (line) => writeSync(1, `${line}\n`) });
  writeSync(1, `${report.text(seed)}\n`);
  expect(report.failure).toBeUndefined();
  expect([...report.faults.keys()]).toEqual([]);
  expect(await shop.unexpectedErrors()).toEqual([]);
  const operationIds = loadContract(shop.contractFile).operations.map(({ operationId }) => operationId);
  expect(report.withoutSuccess(operationIds)).toEqual([]);
}, 1_800_000);

it('the fuzzer sends no further requests after its signal', async () => {
  const ending = new AbortController();
  const options = { requests: 1_000_000, seed, signal: ending.signal };
  const report = await fuzz(shop, { ...options, progress: () => ending.abort() });
  const sent = report.requests;
  expect(sent).toBeGreaterThan(0);
  await sleep(1_000);
  // Those that were in progress.
  expect(report.requests - sent).toBeLessThanOrEqual(16);
  expect((await fuzz(shop, options)).requests).toBe(0);
});
