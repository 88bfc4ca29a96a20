// `new-service` writes a service that works, and changes three files outside its folder.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, plainEnvironment } from '@shop/shared/testing';
import { launchShop, type StartedShop } from '../../cli/test/started-shop.ts';
import { copyCheckout } from '../../test/faults/outages/copy-checkout.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const name = 'reviews';

/** Files that `node client/generate.ts` and npm write. */
const generated = [
  'client/requests/shop.http',
  'client/requests/shop.postman_collection.json',
  'client/src/contract.ts',
  'client/src/operations.ts',
  'deploy/observability/prometheus.yaml',
  'package-lock.json',
  'shared/src/events/generated.ts',
  'shared/src/shop/services.ts',
  'web/src/docs/reference/client-functions.ts',
];

/** Matches the names of those tests of test/system/access/matrix.test.ts whose result depends on the new service. */
const accessTests = 'has a rule for every operation|getReviews|on a read-only server';

/** Tests that read the list of services, their contracts or their manifests. */
const dependent = [
  'cli/test/env-example.test.ts',
  'tools/deploy/compose.test.ts',
  'tools/deploy/connections.test.ts',
  'tools/deploy/installation.test.ts',
  'tools/deploy/manifests.test.ts',
  'tools/deploy/scripts.test.ts',
  'tools/deploy/secrets.test.ts',
  'tools/docs/contract.test.ts',
  'tools/docs/event-examples.test.ts',
  'tools/docs/pages.test.ts',
];

let checkout: string;
beforeAll(() => {
  checkout = copyCheckout();
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

/** @returns what the program wrote. @throws Error with its output when it fails */
async function run(...command: [string, ...string[]]): Promise<string> {
  const [program, ...parameters] = command;
  const options = { cwd: checkout, env: plainEnvironment(), maxBuffer: 64 * 1024 ** 2 };
  const { stdout, stderr } = await promisify(execFile)(program, parameters, options).catch((error) => {
    throw new Error(`${command.join(' ')}:\n${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}
const node = process.execPath;
// One worker: the machine already runs those of this run.
const jest = ['node_modules/jest/bin/jest.js', '--maxWorkers=1'];

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('node_modules'));
}

it.each([
  ['re', 'the name of a service has 3 to 20 lower-case letters'],
  ['my-reviews', 'the name of a service has 3 to 20 lower-case letters'],
  ['orders', 'the name orders is taken'],
  ['postgres', 'the name postgres is taken'],
  ['tokens', 'the name tokens is taken'],
  ['user', 'user is a reserved word of PostgreSQL'],
  ['window', 'window is a reserved word of PostgreSQL'],
])('the command new-service rejects the name %s, and writes nothing', async (wrong, reason) => {
  const before = filesOf(join(checkout, 'services'));
  await expect(run(node, 'cli/src/shop.ts', 'new-service', wrong)).rejects.toThrow(reason);
  expect(filesOf(join(checkout, 'services'))).toEqual(before);
});

describe('a new service', () => {
  beforeAll(async () => {
    await run(node, 'cli/src/shop.ts', 'new-service', name);
  });

  it('a new service touches three files outside its folder', () => {
    const known = new Set(filesOf(root).filter((file) => !/^(\.git|\.data)\//.test(file)));
    const touched = filesOf(checkout).filter(
      (file) => !known.has(file) || !readFileSync(join(checkout, file)).equals(readFileSync(join(root, file))),
    );
    const outside = touched.filter((file) => !file.startsWith(`services/${name}/`));
    expect(outside.filter((file) => !generated.includes(file)).sort()).toEqual([
      'deploy/kubernetes/base/kustomization.yaml',
      'docker-compose.yml',
      'gateway/config/gateway.config.yml',
    ]);
    expect(outside.filter((file) => generated.includes(file)).sort()).toEqual(generated);
    expect(statSync(join(checkout, 'services', name)).isDirectory()).toBe(true);
  });

  it('a new service passes the checks of types, style and documents', async () => {
    await run(node, 'client/generate.ts', '--check');
    await run('npx', '--no-install', 'tsc', '--project', 'tsconfig.json');
    await run('npx', '--no-install', 'biome', 'ci', '--vcs-enabled=false', '.');
    expect(await run(node, 'tools/check-documents.ts')).toContain('all documents are valid');
  });

  it('a new service passes its own tests, and those whose result depends on the services of the shop', async () => {
    const output = await run(node, ...jest, `services/${name}/`, ...dependent);
    for (const file of [`services/${name}/test/count-orders.test.ts`, ...dependent])
      expect(output).toContain(`PASS ${file}`);
    expect(output).toMatch(/Tests: +\d+ passed, \d+ total/);
  });

  it('a new service admits the callers that its access rules name, through the gateway and directly', async () => {
    const output = await run(node, ...jest, 'test/system/access/matrix', '--verbose', '--testNamePattern', accessTests);
    expect(output).toMatch(/getReviews through the gateway as owner[\s\S]+getReviews past the gateway as owner/);
    expect(output).toMatch(/Tests: +\d+ skipped, \d+ passed, \d+ total/);
  });

  describe('in a shop that is started', () => {
    let shop: StartedShop;
    beforeAll(async () => {
      await chmod(checkout, 0o711); // PostgreSQL runs as another user when root runs the tests
      shop = await launchShop({ dataDir: join(checkout, '.data'), checkout });
      await shop.ready;
    });
    afterAll(() => shop?.end());

    async function call<T>(method: string, path: string, token?: string, body?: object): Promise<T> {
      const response = await fetch(`${shop.gateway}${path}`, {
        method,
        headers: {
          'Content-Type': 'application/json',
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await response.json()) as T;
    }

    it('a new service responds through the gateway, and handles the events of the other services', async () => {
      const customer = { name: 'Ada', email: 'ada@example.org', password: 'a quiet green door' };
      await call('POST', '/v1/accounts', undefined, customer);
      const credentials = { email: customer.email, password: customer.password };
      const { access_token: token } = await call<{ access_token: string }>(
        'POST',
        '/v1/tokens',
        undefined,
        credentials,
      );
      expect(await call('GET', `/v1/${name}`, token)).toMatchObject({ orders: 0 });
      const { items } = await call<{ items: { id: string }[] }>('GET', '/v1/products?limit=1&status=available');
      await call('POST', '/v1/orders', token, { items: [{ productId: items[0]?.id, quantity: 1 }] });
      await eventually(async () => expect(await call('GET', `/v1/${name}`, token)).toMatchObject({ orders: 1 }));
      expect(await call('GET', `/v1/${name}`)).toMatchObject({ code: 'unauthenticated' });
    });

    it('a new service is in the published contract', async () => {
      const { paths } = await call<{ paths: object }>('GET', '/v1/openapi.json');
      expect(Object.keys(paths)).toContain(`/v1/${name}`);
    });
  });
});
