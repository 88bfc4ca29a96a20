// The installations set SHOP_INSTALLATION for every process and for the command line, and the commands that messages
// name refer to what the installations contain.

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { operatorCommand, serviceNames } from '@shop/shared/shop';
import { readCompose } from './compose.ts';
import { render } from './kustomize.ts';
import { containersOf, environmentOf } from './manifest.ts';

const processes = ['gateway', ...serviceNames];
const overlay = fileURLToPath(new URL('../../deploy/kubernetes/overlays/development', import.meta.url));

describe('docker-compose.yml', () => {
  const { services } = readCompose();

  it.each([...processes, 'operator'])('docker-compose.yml sets the installation of %s', (name) => {
    expect(services[name]?.environment).toMatchObject({ SHOP_INSTALLATION: 'compose' });
  });

  it.each(processes)('docker-compose.yml has the service whose log a message names: %s', (name) => {
    const words = operatorCommand('logs', name, { SHOP_INSTALLATION: 'compose' }).split(' ');
    expect(Object.keys(services)).toContain(words.at(-1));
  });

  it('docker-compose.yml has the service that runs the commands, with the command line as its entry point', () => {
    const command = operatorCommand('shop', 'keys list', { SHOP_INSTALLATION: 'compose' });
    expect(command).toBe('docker compose run --rm operator keys list');
    expect(services.operator).toMatchObject({ entrypoint: ['node', 'src/shop.ts'] });
  });
});

describe('the manifests of Kubernetes', () => {
  const manifests = render(overlay);
  const find = (kind: string, name: string) =>
    manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);

  it.each([...processes.map((name): [string, string] => ['Deployment', name]), ['StatefulSet', 'operator'] as const])(
    'set the installation of the %s %s',
    (kind, name) => {
      const manifest = find(kind, name);
      expect(manifest?.metadata.namespace).toBe('shop');
      const [container] = manifest === undefined ? [] : containersOf(manifest);
      expect(container && environmentOf(manifests, container)).toMatchObject({ SHOP_INSTALLATION: 'kubernetes' });
    },
  );

  it.each(processes)('the manifests of Kubernetes have the deployment whose log a message names: %s', (name) => {
    const command = operatorCommand('logs', name, { SHOP_INSTALLATION: 'kubernetes' });
    const [, deployment = ''] = / --selector app\.kubernetes\.io\/name=(.*)$/.exec(command) ?? [];
    expect(find('Deployment', deployment)?.metadata.labels).toMatchObject({ 'app.kubernetes.io/name': deployment });
  });
});
