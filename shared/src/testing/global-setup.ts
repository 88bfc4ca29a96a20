// Starts one PostgreSQL for the whole run; test files clone their databases on it.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../embedded/index.ts';
import { slowness } from './pace.ts';
import { adminUrlVariable, paceVariable, running, stops } from './run-state.ts';
import { offerBroker } from './servers/broker.ts';

export default async function globalSetup(): Promise<void> {
  process.env[paceVariable] = String(slowness());
  const folder = await mkdtemp(join(tmpdir(), 'shop-test-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false });
  running.set(postgres, folder);
  process.env[adminUrlVariable] = postgres.url;
  // Processes that tests start share compiled sources, in the folder that Node.js uses by default.
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');
  stops.push(offerBroker(folder));
}
