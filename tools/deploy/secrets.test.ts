// deploy/setup creates the secrets that docker-compose.yml and deploy/kubernetes mount. Each owner gets only its own
// secrets.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { Environment } from '@shop/shared/runtime';
import { readLogins, serviceNames } from '@shop/shared/shop';
import { plainEnvironment } from '@shop/shared/testing';
import { parseAllDocuments } from 'yaml';
import { rotate } from '../../deploy/setup/src/rotate.ts';
import { completeSecrets, secretFiles } from '../../deploy/setup/src/secret-files.ts';
import { readCompose } from './compose.ts';
import { render } from './kustomize.ts';
import { containersOf, environmentOf, type Manifest, podOf } from './manifest.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const secrets = completeSecrets();
const places = { database: 'postgres-rw:5432', databaseReplicas: 'postgres-ro:5432', broker: 'rabbitmq:5672' };
const files = secretFiles(secrets, { ...places, operator: 'administrator' });
const kubernetesFiles = secretFiles(secrets, { ...places, operator: 'services' });
const owners = Object.keys(files);
const compose = readCompose();
const composeServices = Object.entries(compose.services);

/** Returns the names of files that an environment refers to below a folder. */
function filesNamed(values: readonly unknown[], folder: string): string[] {
  return values
    .filter((value): value is string => typeof value === 'string' && value.startsWith(`${folder}/`))
    .map((value) => value.slice(folder.length + 1));
}

describe('the secrets', () => {
  it('the secrets are kept when they exist, and generated otherwise', () => {
    expect(completeSecrets(secrets)).toEqual(secrets);
    const { internal: _lost, ...others } = secrets.keys;
    const completed = completeSecrets({ ...secrets, keys: others as typeof secrets.keys });
    expect(completed.keys.internal).toMatch(/^[\w-]{43}$/);
    expect(completed.keys.internal).not.toBe(secrets.keys.internal);
    expect({ ...completed, keys: others }).toEqual({ ...secrets, keys: others });
  });

  it('the secrets may contain characters that have a meaning in a URL', () => {
    const password = 'a/b#c?d%41@e+f='.padEnd(32, 'x');
    const given = {
      ...secrets,
      roles: { ...secrets.roles, orders: password },
      users: { ...secrets.users, orders: password },
    };
    const { orders } = secretFiles(given, { ...places, operator: 'administrator' });
    for (const file of ['database-url', 'events-url']) {
      const url = new URL(orders?.[file] ?? '');
      expect([url.username, decodeURIComponent(url.password)]).toEqual(['orders', password]);
    }
  });

  it('the secrets are readable only by the processes that need them', () => {
    const all = { ...secrets.keys, ...secrets.roles };
    const knowers = (secret: string): string[] =>
      owners.filter((owner) => Object.values(files[owner] ?? {}).some((content) => content.includes(secret)));
    expect(knowers(all.administrator)).toEqual(['postgres', 'provision', 'operator']);
    expect(knowers(all.keyEncryption)).toEqual(['accounts', 'operator']);
    expect(knowers(all.cursors)).toEqual(['accounts', 'catalogue', 'changes', 'orders']);
    expect(knowers(all.internal)).toEqual([...serviceNames.toSorted(), 'operator']);
    for (const [role, password] of Object.entries(secrets.roles)) {
      expect(knowers(password)).toEqual(role === 'events' ? ['provision'] : ['provision', role]);
    }
    for (const [user, password] of Object.entries(secrets.users)) expect(knowers(password)).toEqual([user]);
  });
});

describe('the rotation', () => {
  it.each(['internal', 'cursors', 'keyEncryption', 'webhooks'] as const)(
    'the rotation of %s makes every process accept the new value before it is used',
    (key) => {
      const what = key === 'keyEncryption' ? 'key-encryption' : key;
      const old = secrets.keys[key];
      const added = rotate(secrets, 'add', what);
      const [first, next = ''] = added.keys[key].split(',');
      expect([first, next]).toEqual([old, expect.stringMatching(/^[\w-]{43}$/)]);
      const used = rotate(added, 'use', what);
      expect(used.keys[key]).toBe(`${next},${old}`);
      expect(rotate(used, 'end', what)).toEqual({ ...secrets, keys: { ...secrets.keys, [key]: next } });
    },
  );

  it('the rotation of the database gives each role a second login, which its service uses before the first one ends', () => {
    const urlOf = (all: typeof secrets): URL =>
      new URL(secretFiles(all, { ...places, operator: 'services' }).orders?.['database-url'] ?? '');
    const loginsOf = (all: typeof secrets): string[] =>
      readLogins(
        'orders',
        secretFiles(all, { ...places, operator: 'services' }).provision?.['orders-password'] ?? '',
      ).map(({ name }) => name);
    const added = rotate(secrets, 'add', 'database');
    expect([urlOf(added).username, loginsOf(added)]).toEqual(['orders', ['orders', 'orders_2']]);
    expect(urlOf(added).password).toBe(secrets.roles.orders);
    const used = rotate(added, 'use', 'database');
    expect([urlOf(used).username, loginsOf(used)]).toEqual(['orders_2', ['orders_2', 'orders']]);
    expect(urlOf(used).password).not.toBe(secrets.roles.orders);
    const ended = rotate(used, 'end', 'database');
    expect([urlOf(ended).href, loginsOf(ended)]).toEqual([urlOf(used).href, ['orders_2']]);
    // A further rotation that is interrupted before its end is repeated.
    const interrupted = rotate(rotate(ended, 'add', 'database'), 'use', 'database');
    const repeated = rotate(rotate(interrupted, 'add', 'database'), 'use', 'database');
    expect(loginsOf(repeated)).toEqual(['orders_4', 'orders_3', 'orders_2']);
  });

  it('the rotation of the broker gives each user a second login with the same permissions', () => {
    const definitionsOf = (all: typeof secrets) =>
      JSON.parse(
        secretFiles(all, { ...places, operator: 'services' }).rabbitmq?.['definitions.json'] ?? '{}',
      ) as Record<string, { name?: string; user?: string }[]>;
    const added = definitionsOf(rotate(secrets, 'add', 'broker'));
    expect(added.users?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['orders', 'orders_2', 'operator', 'operator_2']),
    );
    for (const kind of ['permissions', 'topic_permissions']) {
      const rightsOf = (user: string) =>
        added[kind]?.filter((right) => right.user === user).map((right) => ({ ...right, user: 'orders' }));
      expect(rightsOf('orders')).toHaveLength(1);
      expect(rightsOf('orders_2')).toEqual(rightsOf('orders'));
    }
    const ended = rotate(rotate(rotate(secrets, 'add', 'broker'), 'use', 'broker'), 'end', 'broker');
    expect(definitionsOf(ended).users?.map(({ name }) => name)).not.toContain('orders');
    expect(secretFiles(ended, { ...places, operator: 'services' }).orders?.['events-url']).toContain('//orders_2:');
  });

  it('the rotation under Compose changes the stored secrets and the files of each owner', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shop-secrets-'));
    try {
      const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
      await printed([folder], '');
      const former = read('orders/internal-secret');
      await printed([folder, 'add', 'internal'], '');
      const both = read('orders/internal-secret');
      expect(both).toMatch(new RegExp(`^${former},[\\w-]{43}$`));
      expect(read('accounts/internal-secret')).toBe(both);
      // A further start of the shop changes nothing, and does not write the kept secrets again.
      const { ino } = statSync(join(folder, 'kept/secrets.json'));
      await printed([folder], '');
      expect(statSync(join(folder, 'kept/secrets.json')).ino).toBe(ino);
      expect(read('orders/internal-secret')).toBe(both);
      expect(JSON.parse(read('kept/secrets.json')).keys.internal).toBe(both);
      // A secret of a later version is kept, because the shop may return to that version.
      const kept = JSON.parse(read('kept/secrets.json'));
      await writeFile(
        join(folder, 'kept/secrets.json'),
        JSON.stringify({ ...kept, keys: { ...kept.keys, later: 'x' } }),
      );
      for (const change of [[], ['add', 'cursors']]) {
        await printed([folder, ...change], '');
        expect(JSON.parse(read('kept/secrets.json')).keys).toMatchObject({ internal: both, later: 'x' });
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('the rotation in Kubernetes reads the kept Secret, and keeps the addresses of the servers', async () => {
    const made = await printed(['kubernetes'], '', { DATABASE_PLACE: 'db.example:5433' });
    const kept = secretOf(made, 'kept-secrets')['secrets.json'] ?? '';
    const changed = await printed(['kubernetes', 'use', 'administrator'], kept);
    expect(secretOf(changed, 'orders-secrets')).toEqual(secretOf(made, 'orders-secrets'));
    expect(secretOf(changed, 'orders-secrets')['database-url']).toContain('@db.example:5433/');
    expect(secretOf(changed, 'provision-secrets')).not.toEqual(secretOf(made, 'provision-secrets'));
  });
});

describe('in Kubernetes, a change of the secrets is refused', () => {
  const { orders: _role, ...roles } = secrets.roles;
  const { orders: _user, ...users } = secrets.users;
  const { roles: allRoles, users: allUsers } = secrets;

  it.each([
    ['lack those of an added service', { roles, users }, 'standard input lacks roles.orders, users.orders'],
    [
      'have those of a service that this version does not know',
      { roles: { ...allRoles, later: 'x' }, users: { ...allUsers, later: 'x' } },
      'this version does not know roles.later, users.later',
    ],
  ])('a change of the secrets in Kubernetes is rejected when the stored ones %s', (_, changed, message) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'kubernetes', 'add', 'database'], {
      input: JSON.stringify({ ...secrets, ...changed }),
      env: plainEnvironment(),
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([1, expect.not.stringContaining('Secret')]);
    expect(stderr).toContain(message);
  });
});

const program = `${root}deploy/setup/src/secrets.ts`;

it('deploy/setup writes the files again after a run that was interrupted, without rights beyond those of the container', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shop-secrets-'));
  try {
    expect(await exitCode(process.execPath, program, folder)).toBe(0);
    await writeFile(join(folder, 'orders/internal-secret.partial'), 'incomplete', { mode: 0o444 });
    // As in docker-compose.yml (cap_drop: ALL), where root may write only what the modes of files permit.
    const limited = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
    const [command = '', ...rest] = [...limited, process.execPath, program, folder];
    expect(await exitCode(command, ...rest)).toBe(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});

async function exitCode(command: string, ...parameters: string[]): Promise<unknown> {
  const [code] = await once(spawn(command, parameters, { env: plainEnvironment(), stdio: 'ignore' }), 'exit');
  return code;
}

/** Runs deploy/setup/src/secrets.ts. @returns what it prints */
async function printed(parameters: readonly string[], input: string, environment: Environment = {}): Promise<string> {
  const child = spawn(process.execPath, [program, ...parameters], {
    env: { ...plainEnvironment(), ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  return text(child.stdout);
}

/** The content of one of the Secrets that were printed. */
function secretOf(manifests: string, name: string): Readonly<Record<string, string>> {
  const documents = parseAllDocuments(manifests).map((document) => document.toJS());
  return documents.find(({ metadata }) => metadata.name === name)?.stringData ?? {};
}

describe('docker-compose.yml', () => {
  it('docker-compose.yml mounts the secrets of each container read-only, and names existing files', () => {
    const mounting = composeServices.flatMap(([name, { volumes = [], environment = {} }]) => {
      const mounts = volumes.filter((volume) => volume.startsWith('secrets'));
      if (name === 'secrets' || mounts.length === 0) return [];
      const [owner = ''] = mounts.map((mount) => /^secrets-(\w+):\/run\/secrets:ro$/.exec(mount)?.[1]);
      expect([name, mounts.length, owners.includes(owner)]).toEqual([name, 1, true]);
      expect(Object.keys(files[owner] ?? {})).toEqual(
        expect.arrayContaining(filesNamed(Object.values(environment), '/run/secrets')),
      );
      return [[name, owner]];
    });
    expect(Object.fromEntries(mounting)).toEqual({
      postgres: 'postgres',
      rabbitmq: 'rabbitmq',
      provision: 'provision',
      operator: 'operator',
      ...Object.fromEntries(
        serviceNames.flatMap((name) => [
          [name, name],
          [`${name}-migrate`, name],
        ]),
      ),
    });
    const made = compose.services.secrets?.volumes?.map((volume) => volume.split('/').at(-1));
    expect(made?.sort()).toEqual([...owners, 'kept'].sort());
  });
});

describe.each(['development', 'production'])('deploy/kubernetes, %s', (overlay) => {
  it('the overlay mounts for each pod its own secrets, which exist', () => {
    const manifests = render(`${root}deploy/kubernetes/overlays/${overlay}`);
    let asked = 0;
    for (const manifest of manifests.filter((each) => podOf(each) !== undefined)) {
      if (manifest.metadata.name === 'operator') continue;
      const volumes: Manifest[] = podOf(manifest)?.spec.volumes ?? [];
      const names = volumes.map(({ secret }) => secret?.secretName).filter((name) => name?.endsWith('-secrets'));
      expect(names.length).toBeLessThanOrEqual(1);
      const [name = ''] = names;
      const values = containersOf(manifest).flatMap((container) => Object.values(environmentOf(manifests, container)));
      const wanted = filesNamed(values, '/run/secrets/shop');
      asked += wanted.length;
      expect(Object.keys(kubernetesFiles[name.replace('-secrets', '')] ?? {})).toEqual(expect.arrayContaining(wanted));
      expect(manifest.metadata.name.startsWith(name.replace('-secrets', ''))).toBe(true);
    }
    expect(asked).toBeGreaterThan(15);
  });

  it('the overlay gives the operator the connection of each service, and its own secrets', () => {
    const manifests = render(`${root}deploy/kubernetes/overlays/${overlay}`);
    const [operator] = manifests.filter(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'operator');
    const [container] = containersOf(operator as Manifest);
    const [volume] = podOf(operator as Manifest)?.spec.volumes ?? [];
    expect(volume?.secret.secretName).toBe('operator-secrets');
    expect(environmentOf(manifests, container as Manifest)).toMatchObject({ SECRETS_DIR: '/run/secrets/shop' });
    expect(Object.keys(kubernetesFiles.operator ?? {})).toEqual([
      ...serviceNames.map((name) => `${name}-database-url`),
      'events-url',
      'internal-secret',
      'key-encryption-secret',
    ]);
    for (const name of serviceNames) {
      expect(kubernetesFiles.operator?.[`${name}-database-url`]).toBe(kubernetesFiles[name]?.['database-url']);
    }
  });
});
