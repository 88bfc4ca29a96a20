// deploy/compose.sh and deploy/kubernetes.sh: their arguments, and the names in the manifests on which kubernetes.sh
// relies. `npm test -- containers` runs compose.sh.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/runtime';
import { rotated } from '../../deploy/setup/src/rotate.ts';
import { render } from './kustomize.ts';
import { podOf } from './manifest.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const scripts = ['deploy/compose.sh', 'deploy/kubernetes.sh'];

describe.each(scripts)('%s', (script) => {
  const run = (...parameters: string[]) => spawnSync(`${root}${script}`, parameters, { encoding: 'utf8' });

  it.each([[[]], [['rotate']], [['rotate', 'weather', 'overlay']], [['explode', 'database', 'overlay']]])(
    'prints its commands and changes nothing with the arguments %j',
    (parameters) => {
      const { status, stdout, stderr } = run(...parameters);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`${script} rotate SECRET`);
    },
  );

  it('replaces what deploy/setup can replace', () => {
    const text = readFileSync(`${root}${script}`, 'utf8');
    const other = script.includes('kubernetes') ? ['administrator'] : [];
    for (const what of rotated.filter((name) => !other.includes(name))) expect(text).toContain(what);
  });
});

describe.each(['development', 'production'])('deploy/kubernetes.sh and the overlay %s', (overlay) => {
  const manifests = render(`${root}deploy/kubernetes/overlays/${overlay}`);

  it('has the services, the Job and the operator that the script replaces', () => {
    const processes = manifests.filter(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.labels?.['app.kubernetes.io/component'] === 'process',
    );
    expect(processes.map(({ metadata }) => metadata.name).sort()).toEqual(['gateway', ...serviceNames].sort());
    const jobs = manifests.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'provision');
    expect(jobs.map(({ kind, metadata }) => [kind, metadata.name])).toContainEqual(['Job', 'provision']);
    expect(manifests.map(({ kind, metadata }) => [kind, metadata.name])).toContainEqual(['StatefulSet', 'operator']);
  });
});

it('finds the pods of the broker by the label that they have in development', () => {
  const manifests = render(`${root}deploy/kubernetes/overlays/development`);
  const broker = manifests.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'rabbitmq');
  expect(broker && podOf(broker)?.metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'rabbitmq' });
});
