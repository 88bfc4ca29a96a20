// deploy/compose.sh and deploy/kubernetes.sh: their arguments, the steps of kubernetes.sh, and the names in the
// manifests on which it relies. `npm test -- containers` and `npm test -- rotations` run compose.sh.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Environment } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import { rotated } from '../../deploy/setup/src/rotate.ts';
import { render } from './kustomize.ts';
import { containersOf, podOf } from './manifest.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const scripts = ['deploy/compose.sh', 'deploy/kubernetes.sh'];

describe.each(scripts)('%s', (script) => {
  const run = (...parameters: string[]) => spawnSync(`${root}${script}`, parameters, { encoding: 'utf8' });

  it.each([[[]], [['rotate']], [['rotate', 'weather', 'overlay']], [['explode', 'database', 'overlay']]])(
    'the script prints its commands and changes nothing with the arguments %j',
    (parameters) => {
      const { status, stdout, stderr } = run(...parameters);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`${script} rotate SECRET`);
    },
  );

  it('the script replaces what deploy/setup can replace', () => {
    const text = readFileSync(`${root}${script}`, 'utf8');
    const other = script.includes('kubernetes') ? ['administrator'] : [];
    for (const what of rotated.filter((name) => !other.includes(name))) expect(text).toContain(what);
  });
});

/** Records the arguments of a program. Calls that contain FAILING fail, and those that contain EMPTY print nothing. */
const recorded = `#!/bin/sh
echo "$*" >> "$(dirname "$0")/calls"
case "$*" in
  *"\${FAILING:-none of them}"*) exit 1 ;;
  *"\${EMPTY:-none of them}"*) exit 0 ;;
esac
`;

/** Stands in for kubectl and docker, prints what a cluster with one service would, and sends SIGNAL to the script. */
const recorder = `${recorded}
case "$*" in
  *"rollout status"*) [ -z "$SIGNAL" ] || kill -s "$SIGNAL" "$PPID" ;;
  kustomize*) printf '    image: %s\\n' $IMAGES ;;
  *"get deployment"*jsonpath*) echo orders ;;
  *"get deployment"*) echo deployment.apps/orders ;;
  *"get pods"*) echo pod/rabbitmq-0 ;;
  *"get secret rabbitmq-secrets"*) echo '"name": "orders_2"' ;;
  *list_users*) printf 'orders\\t[]\\norders_2\\t[]\\nmonitoring\\t[]\\n' ;;
esac
`;

interface Run {
  readonly status: number | null;
  readonly stderr: string;
  /** The calls that change something, in their order. */
  readonly changes: readonly string[];
  /** Whether the script has locked the rotation, and whether it has unlocked it. */
  readonly locks: readonly string[];
  /** The images that Docker has run. */
  readonly images: readonly string[];
}

/** Runs deploy/kubernetes.sh without a cluster. */
function runKubernetes(parameters: readonly string[], environment: Environment = {}): Run {
  const folder = mkdtempSync(join(tmpdir(), 'shop-kubernetes-'));
  try {
    for (const program of ['kubectl', 'docker']) writeFileSync(join(folder, program), recorder, { mode: 0o755 });
    const images = 'registry.example/shop/orders:1.2.0 registry.example/shop/setup:1.2.0';
    const path = [folder, process.env.PATH].join(delimiter);
    const env = { ...process.env, PATH: path, IMAGES: images, ...environment };
    const { status, stderr } = spawnSync(`${root}deploy/kubernetes.sh`, [...parameters, 'overlay'], {
      env,
      encoding: 'utf8',
    });
    const changes = /(?:add|use|end) [\w-]+$|apply .*|rollout restart \w+|import_definitions|delete_user .*/;
    const calls = readFileSync(join(folder, 'calls'), 'utf8').split('\n');
    return {
      status,
      stderr,
      changes: calls.flatMap((call) => changes.exec(call) ?? []),
      locks: calls.flatMap((call) => /(?:create|delete) configmap/.exec(call) ?? []),
      images: calls.flatMap((call) => /^run .*--pull never (\S+)/.exec(call)?.[1] ?? []),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns the calls that change something, in their order */
function changesOf(...parameters: string[]): readonly string[] {
  const { status, stderr, changes } = runKubernetes(parameters);
  expect([status, stderr]).toEqual([0, '']);
  return changes;
}

/** Stands in for the Docker of a shop with one service, whose container `old` is replaced by `new`. */
const compose = `${recorded}
for service; do :; done
case "$*" in
  *"config --services"*) echo orders-migrate ;;
  *" config"*) printf "  DATABASE_READ_URL: $READ_URL\\n  TRUSTED_PROXIES: '$TRUSTED_PROXIES'\\n" ;;
  *" ps "*" proxy") echo "$PROXY" ;;
  *" ps "*"-q "*) if grep -q -- "--scale $service=" "$(dirname "$0")/calls"; then printf 'old\\nnew\\n'; else echo old; fi ;;
  *" up "*--scale*) sleep "$STARTING" ;;
  *"inspect"*) printf 'CMD\\ntrue\\n' ;;
  "exec new"*) exit "$NEW" ;;
  *definitions.json*) echo '"name": "orders_2"' ;;
  *list_users*) printf 'orders\\t[]\\norders_2\\t[]\\nmonitoring\\t[]\\n' ;;
esac
`;

describe('deploy/compose.sh', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'shop-compose-'));
    writeFileSync(join(folder, 'docker'), compose, { mode: 0o755 });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** NEW is the exit code of the health check of the new container. */
  const environment = (given: Environment = {}) => ({
    ...process.env,
    PATH: [folder, process.env.PATH].join(delimiter),
    READ_URL: '',
    TRUSTED_PROXIES: '',
    PROXY: 'proxy',
    STARTING: '0',
    NEW: '1',
    ...given,
  });
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').split('\n');

  it('deploy/compose.sh shows its commands in any folder', () => {
    const { stderr } = spawnSync('./compose.sh', { cwd: `${root}deploy`, encoding: 'utf8' });
    expect(stderr).toContain('deploy/compose.sh rotate SECRET');
  });

  it.each([
    ['SIGINT', '0', /^exec new/],
    ['SIGTERM', '0', /^exec new/],
    ['SIGTERM', '1', /--scale/],
  ] as const)('deploy/compose.sh leaves no further container when %s stops it', async (signal, STARTING, moment) => {
    const child = spawn(`${root}deploy/compose.sh`, ['rotate', 'cursors'], { env: environment({ STARTING }) });
    await eventually(() => expect(calls()).toContainEqual(expect.stringMatching(moment)));
    child.kill(signal);
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect(calls()).toContain('rm --force new');
    expect(calls().filter((call) => call.startsWith('stop'))).toEqual([]);
  });

  it.each([
    ['postgres://catalogue:secret@replica/shop', 1],
    ['postgres://catalogue_2:secret@replica/shop', 1],
    ['postgres://replica/shop', 0],
  ])(
    'deploy/compose.sh rotates the logins of the database unless DATABASE_READ_URL has one of them: %s',
    async (readUrl, refused) => {
      const child = spawn(`${root}deploy/compose.sh`, ['rotate', 'database'], {
        env: environment({ READ_URL: readUrl }),
      });
      const ended = once(child, 'close');
      if (refused === 0) {
        await eventually(() => expect(calls()).toContainEqual(expect.stringMatching(/add database$/)));
        child.kill();
      }
      await ended;
      expect(calls().some((call) => call.endsWith('add database'))).toBe(refused === 0);
    },
  );

  const rotate = (secret: string, given: Environment = {}) =>
    spawnSync(`${root}deploy/compose.sh`, ['rotate', secret], { env: environment({ NEW: '0', ...given }) }).status;
  const ending = () => calls().filter((call) => /end \w+$|delete_user/.test(call));

  describe('update', () => {
    const update = (given: Environment, ...services: string[]) => {
      const env = environment({ NEW: '0', ...given });
      return spawnSync(`${root}deploy/compose.sh`, ['update', ...services], { env, encoding: 'utf8' });
    };
    const starts = () => calls().flatMap((call) => /^stop .*|(?<=--no-recreate )\w+$/.exec(call) ?? []);

    it('deploy/compose.sh update starts the second gateway and the proxy of a shop that had no proxy, after the previous gateway has ended', () => {
      expect(update({ PROXY: '' }).status).toBe(0);
      expect(starts().slice(-3)).toEqual(['stop -t 15 old', 'gateway', 'proxy']);
    });

    it('deploy/compose.sh update starts a proxy that an interrupted run has left without starting it', () => {
      expect(update({}).status).toBe(0);
      expect(starts().slice(-2)).toEqual(['stop -t 15 old', 'proxy']);
    });

    it('deploy/compose.sh update starts no proxy while the previous gateway runs', () => {
      expect(update({ PROXY: '' }, 'orders').status).toBe(0);
      expect(starts()).toEqual(['stop -t 15 old']);
    });

    it('deploy/compose.sh update says that the port may be closed when the proxy does not start', () => {
      const { status, stderr } = update({ FAILING: '--no-recreate proxy' });
      expect([status, stderr]).toEqual([
        1,
        expect.stringContaining('cannot start proxy; the port of the shop may be closed'),
      ]);
    });

    it('deploy/compose.sh update rejects TRUSTED_PROXIES=0 before it changes anything', () => {
      const { status, stderr } = update({ TRUSTED_PROXIES: '0' });
      expect([status, stderr]).toEqual([1, expect.stringContaining('TRUSTED_PROXIES=0')]);
      expect(calls()).not.toContainEqual(expect.stringMatching(/ (run|up|rm|exec) /));
    });
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'deploy/compose.sh does not run beside another run until %s stops it',
    async (signal) => {
      const first = spawn(`${root}deploy/compose.sh`, ['rotate', 'cursors'], { env: environment() });
      const ended = once(first, 'close');
      await eventually(() => expect(calls()).toContainEqual(expect.stringMatching(/^exec new/)));
      const second = () => {
        const given = { env: environment(), encoding: 'utf8' } as const;
        return spawnSync(`${root}deploy/compose.sh`, ['rotate', 'weather'], given).stderr;
      };
      expect(second()).toContain('another deploy/compose.sh runs');
      first.kill(signal);
      await ended;
      expect(second()).toContain('deploy/compose.sh rotate SECRET');
    },
  );

  it('deploy/compose.sh revokes only the previous logins', () => {
    expect(rotate('broker')).toBe(0);
    expect(ending()).toEqual([
      expect.stringMatching(/end broker$/),
      'compose exec -T rabbitmq rabbitmqctl --quiet delete_user orders',
    ]);
  });

  it.each([
    ['database', { FAILING: 'config --services' }],
    ['database', { EMPTY: 'config --services' }],
    ['database', { FAILING: 'compose config' }],
    ['database', { FAILING: 'ps -q orders' }],
    ['database', { EMPTY: 'ps -q orders' }],
    ['broker', { FAILING: 'config --services' }],
  ])('deploy/compose.sh revokes no login of %s when a list is missing: %j', (secret, missing) => {
    expect(rotate(secret, missing)).toBe(1);
    expect(ending()).toEqual([]);
  });

  it.each([
    { FAILING: 'cat /run/secrets/definitions.json' },
    { EMPTY: 'cat /run/secrets/definitions.json' },
    { FAILING: 'list_users' },
    { EMPTY: 'list_users' },
  ])('deploy/compose.sh deletes no user of the broker when a list is missing: %j', (missing) => {
    expect(rotate('broker', missing)).toBe(1);
    expect(calls()).not.toContainEqual(expect.stringContaining('delete_user'));
  });
});

describe('deploy/kubernetes.sh', () => {
  const provision = 'apply --kustomize overlay --selector app.kubernetes.io/name=provision';
  const [restart, operator] = ['rollout restart deployment', 'rollout restart statefulset'];

  it('deploy/kubernetes.sh gives PostgreSQL the new logins before the pods use them, and ends the previous ones afterwards', () => {
    const steps = ['add database', provision, 'use database', restart, 'end database', provision, operator];
    expect(changesOf('rotate', 'database')).toEqual(steps);
  });

  it('deploy/kubernetes.sh gives RabbitMQ the new users before the pods use them, and deletes only the previous ones afterwards', () => {
    const steps = [
      'add broker',
      'import_definitions',
      'use broker',
      restart,
      'end broker',
      'delete_user orders',
      operator,
    ];
    expect(changesOf('rotate', 'broker')).toEqual(steps);
  });

  it.each(['internal', 'cursors', 'key-encryption', 'webhooks'])(
    'deploy/kubernetes.sh makes all pods accept a new value of %s before its use',
    (what) => {
      expect(changesOf('rotate', what)).toEqual([`add ${what}`, restart, `use ${what}`, restart, operator]);
      expect(changesOf('forget', what)).toEqual([`end ${what}`, restart, operator]);
    },
  );

  it.each([
    ['that the overlay names', {}, 'registry.example/shop/setup:1.2.0'],
    ['in SETUP_IMAGE', { SETUP_IMAGE: 'setup@sha256:12' }, 'setup@sha256:12'],
  ])('deploy/kubernetes.sh changes the secrets with the image of deploy/setup %s', (_, given, image) => {
    expect(runKubernetes(['forget', 'cursors'], given).images).toEqual([image]);
  });

  it.each([
    ['names no image of deploy/setup', { IMAGES: 'shop/orders:1.2.0' }, 'set SETUP_IMAGE'],
    ['names two images of deploy/setup', { IMAGES: 'shop/setup:1.1.0 shop/setup:1.2.0' }, 'set SETUP_IMAGE'],
    ['cannot be rendered', { FAILING: 'kustomize overlay' }, ''],
    ['names an image that Docker does not have', { FAILING: 'image inspect' }, 'does not have the image'],
  ])('deploy/kubernetes.sh changes nothing when the overlay %s', (_, given, message) => {
    const { status, stderr, changes, locks } = runKubernetes(['rotate', 'cursors'], given);
    expect([status, changes, locks]).toEqual([1, [], []]);
    expect(stderr).toContain(message);
  });

  it('deploy/kubernetes.sh changes nothing while another run has the lock', () => {
    const { status, stderr, changes, locks } = runKubernetes(['rotate', 'database'], { FAILING: 'create configmap' });
    expect([status, changes, locks]).toEqual([1, [], ['create configmap']]);
    expect(stderr).toContain('kubectl --namespace shop delete configmap secret-rotation');
  });

  it.each([
    ['succeeds', {}, 0],
    ['fails', { FAILING: 'get secret' }, 1],
    ['is interrupted', { SIGNAL: 'INT' }, 130],
    ['is terminated', { SIGNAL: 'TERM' }, 130],
  ])('deploy/kubernetes.sh leaves no lock when it %s', (_, given, code) => {
    const { status, locks } = runKubernetes(['rotate', 'cursors'], given);
    expect([status, locks]).toEqual([code, ['create configmap', 'delete configmap']]);
  });

  it.each([
    ['database', { FAILING: 'get secret kept-secrets' }],
    ['database', { FAILING: 'run --rm' }],
    ['database', { FAILING: '--output name' }],
    ['database', { EMPTY: '--output name' }],
    ['broker', { FAILING: 'get secret rabbitmq-secrets' }],
    ['broker', { FAILING: 'get pods' }],
    ['broker', { EMPTY: 'get pods' }],
  ])('deploy/kubernetes.sh revokes no login of %s when a list or a secret is missing: %j', (secret, missing) => {
    const { status, changes } = runKubernetes(['rotate', secret], missing);
    expect(status).toBe(1);
    expect(changes).not.toContain(`end ${secret}`);
  });

  it.each([{ FAILING: 'jsonpath' }, { EMPTY: 'jsonpath' }, { FAILING: 'list_users' }, { EMPTY: 'list_users' }])(
    'deploy/kubernetes.sh deletes no user of the broker when a list is missing: %j',
    (missing) => {
      const { status, changes } = runKubernetes(['rotate', 'broker'], missing);
      expect(status).toBe(1);
      expect(changes).not.toContainEqual(expect.stringContaining('delete_user'));
    },
  );
});

describe.each(['development', 'production'])('deploy/kubernetes.sh and the overlay %s', (overlay) => {
  const manifests = render(`${root}deploy/kubernetes/overlays/${overlay}`);

  it('the overlay has the services, the Job and the operator that the script replaces', () => {
    const processes = manifests.filter(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.labels?.['app.kubernetes.io/component'] === 'process',
    );
    expect(processes.map(({ metadata }) => metadata.name).sort()).toEqual(['gateway', ...serviceNames].sort());
    const jobs = manifests.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'provision');
    expect(jobs.map(({ kind, metadata }) => [kind, metadata.name])).toContainEqual(['Job', 'provision']);
    expect(manifests.map(({ kind, metadata }) => [kind, metadata.name])).toContainEqual(['StatefulSet', 'operator']);
  });

  it('the overlay names one image of deploy/setup', () => {
    const images = manifests.flatMap(containersOf).map(({ image }) => image);
    expect(new Set(images.filter((image) => /^(.*\/)?setup[:@]/.test(image))).size).toBe(1);
  });
});

it('deploy/kubernetes.sh finds the pods of the broker by the label that they have in development', () => {
  const manifests = render(`${root}deploy/kubernetes/overlays/development`);
  const broker = manifests.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'rabbitmq');
  expect(broker && podOf(broker)?.metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'rabbitmq' });
});
