// The embedded PostgreSQL of a running shop: a server that hangs is restarted, and deleted data is never created anew.
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { eventually } from '@shop/shared/testing';
import { embeddedServer } from '../src/launcher/embedded-server.ts';
import { type Supervised, supervise } from '../src/launcher/supervise.ts';

let folder: string;
let part: Supervised;
let url: string;
let said: string[];
let gone: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-server-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
});

afterEach(() => part.stop());

afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(dataDir: string): Promise<void> {
  [said, gone] = [[], []];
  const probe = { every: 100, within: 500 };
  const server = await embeddedServer(dataDir, { probe, gone: (message) => gone.push(message) });
  part = supervise(server.launch, (line) => said.push(line), { first: 10, longest: 100, steady: 60_000 });
  await part.ready;
  url = await server.url();
}

const postmasterId = async (dataDir: string): Promise<number> =>
  Number((await readFile(join(dataDir, 'cluster/postmaster.pid'), 'utf8')).split('\n')[0]);

const ask = () => withClient({ url, connectWithin: 5_000 }, (client) => client.query('SELECT 1'));

describe('the embedded server of a running shop', () => {
  it('the embedded server of a running shop is restarted on the same port when every connection hangs', async () => {
    const dataDir = join(folder, 'hangs');
    await start(dataDir);
    process.kill(await postmasterId(dataDir), 'SIGSTOP');
    await eventually(() => expect(said).toContain('is ready again'), 40_000);
    expect(said[0]).toMatch(/^ended \(no connection answered, 3 times within 0\.5 s\); starting it again /);
    await ask();
  });

  it('the embedded server of a running shop is not restarted while it responds', async () => {
    await start(join(folder, 'hangs'));
    for (let turn = 0; turn < 20; turn += 1) await ask();
    expect(said).toEqual([]);
  });

  it('the server is not created anew when its data was deleted, and the reason names the missing data', async () => {
    const dataDir = join(folder, 'deleted');
    await start(dataDir);
    await rm(dataDir, { recursive: true });
    await eventually(() => expect(gone).not.toEqual([]), 40_000);
    await part.stop();
    // The server may notice the loss while the folder is being deleted.
    expect(gone[0]?.replace('/cluster/PG_VERSION', '')).toMatch(
      `${dataDir} is gone: it was deleted while the shop ran`,
    );
    expect(said).not.toContain('is ready again');
    expect(await readdir(folder)).not.toContain('deleted');
  });
});
