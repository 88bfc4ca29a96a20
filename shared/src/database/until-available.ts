// Repeats the first statements of a process while its database is unavailable.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../runtime/index.ts';
import { isDatabaseUnavailable } from './pg-errors.ts';

const pauseBetween = 500;

/**
 * Runs the work until it does not fail because of an unavailable database. Logs the first failure.
 * @returns the result of the work
 * @throws any other error of the work
 */
export async function untilAvailable<Result>(work: () => Promise<Result>, log: Log): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      if (attempt === 1) log.warn({ err: error }, 'the start waits for the database');
      await sleep(pauseBetween);
    }
  }
}
