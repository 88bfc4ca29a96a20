// The commands that the command line tells an operator to run have the form of the installation.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Ended, runShop } from './started-shop.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-installation-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const database = 'postgres://someone:secret@127.0.0.1:1/shop';

const installations = [
  ['npm', 'npm start', 'npm run shop --', 'npm run shop -- doctor'],
  ['compose', 'docker compose up --detach', 'docker compose run --rm operator', 'docker compose ps --all'],
  [
    'kubernetes',
    'kubectl apply --kustomize deploy/kubernetes/overlays/production',
    'kubectl --namespace shop exec operator-0 -- node src/shop.ts',
    'kubectl --namespace shop get pods',
  ],
] as const;

describe.each(installations)('the command line of an installation by %s', (installation, start, shop, examine) => {
  const run = (environment: Record<string, string>, ...words: string[]): Promise<Ended> =>
    runShop(folder, { SHOP_INSTALLATION: installation, ...environment }, ...words);

  it('the command line names the command that starts the shop', async () => {
    expect((await run({}, 'staff', 'list')).complaints).toBe(
      `there is no shop in ${folder}: run ${start}, or set SHOP_DATA_DIR or DATABASE_URL\n`,
    );
  });

  it('the command line names the command that shows the fault', async () => {
    expect((await run({ DATABASE_URL: database }, 'staff', 'list')).complaints).toMatch(
      new RegExp(`^the database does not answer: .*; ${examine} shows more\n$`),
    );
  });

  it('the command line has the prefix of its commands in help and usage', async () => {
    expect((await run({}, 'keys', '--help')).output).toMatch(new RegExp(`^Usage: ${shop} keys `));
    expect((await run({}, 'keys', 'forget')).complaints).toMatch(new RegExp(`\nUsage: ${shop} keys `));
  });
});

describe.each(installations.slice(1))('by %s', (installation, _start, _shop, examine) => {
  it.each(['status', 'doctor'])(
    'the message for installations by %s names the command that shows the processes',
    async (command) => {
      expect(await runShop(folder, { SHOP_INSTALLATION: installation }, command)).toEqual({
        code: 1,
        output: '',
        complaints: `${command} works with a shop of npm start only: run ${examine}\n`,
      });
    },
  );

  it('the command logs refers to the logs of the containers', async () => {
    const { code, complaints } = await runShop(folder, { SHOP_INSTALLATION: installation }, 'logs', 'orders');
    expect([code, complaints]).toEqual([1, expect.stringMatching(/^logs works .*: run (docker|kubectl) .*orders\n$/)]);
  });
});

it('the command line names an invalid SHOP_INSTALLATION', async () => {
  expect(await runShop(folder, { SHOP_INSTALLATION: 'nomad' }, 'status')).toEqual({
    code: 1,
    output: '',
    complaints: 'SHOP_INSTALLATION must be one of npm, compose, kubernetes, not "nomad"\n',
  });
});
