// Stops the servers of the set-up and deletes their folders.
import { rm } from 'node:fs/promises';
import { running, stops } from './run-state.ts';

export default async function globalTeardown(): Promise<void> {
  await Promise.all(stops.map((stop) => stop()));
  for (const [postgres, folder] of running) {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
