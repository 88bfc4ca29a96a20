// A shop that does not react to a fault as it must has failed, and the fault is not without effect.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { paceVariable } from '../../../shared/src/testing/run-state.ts';
import { type Scene, seen } from './fault.ts';
import { faults } from './faults.ts';
import type { System } from './system.ts';

const usual = process.env[paceVariable];
beforeEach(() => {
  process.env[paceVariable] = '0.01';
});
afterEach(() => {
  process.env[paceVariable] = usual;
});

/** Injects a fault into a shop whose database has these rows. */
function inject(name: string, rows: readonly object[]): Promise<string | undefined> {
  const fault = faults.find((each) => each.name === name);
  const admin = {
    query: () => Promise.resolve({ rows }),
    connect: () => Promise.resolve({ ...admin, release() {} }),
  };
  const journal = { answers: [{ at: Number.POSITIVE_INFINITY, status: 503 }] };
  const scene = { system: { admin, services: () => [] }, journal };
  return fault?.inject(scene as unknown as Scene<System>) ?? Promise.reject(new Error(`${name} is no fault`));
}

it('the check of a fault fails when an event has used up attempts while the database was read-only', async () => {
  await expect(inject('the database is read-only', [{ taken: 5, longest: 2 }])).rejects.toThrow('at attempt 2');
});

it('the check of a fault is without effect when no event was handled after the database was read-only', async () => {
  expect(await inject('the database is read-only', [{ taken: 0, longest: 0 }])).toBeUndefined();
});

it('the check of a fault waits for an effect at the pace of the machine', async () => {
  const began = performance.now();
  expect(await seen(() => false)).toBe(false);
  expect(performance.now() - began).toBeLessThan(10_000);
});
