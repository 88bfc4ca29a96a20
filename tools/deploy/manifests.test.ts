// deploy/kubernetes as rendered: every document conforms to its schema, every pod conforms to the restricted Pod
// Security Standard, and the network policies permit the connections of the architecture and no others.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readYaml } from '@shop/shared/contract';
import { memoryBounds } from '@shop/shared/runtime';
import { serviceNames as services } from '@shop/shared/shop';
import type { GatewayConfig } from '../../gateway/src/entry/gateway-config.ts';
import { toolsOf } from '../../test/install-tools.ts';
import { render } from './kustomize.ts';
import { containersOf, environmentOf, type Manifest, podOf } from './manifest.ts';
import { permittedArrows } from './network.ts';
import { faultsOf, withoutSchema } from './schemas/schemas.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Installs the schemas once, which takes some seconds. */
beforeAll(() => toolsOf(new URL('schemas/', import.meta.url)).install());

const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const folder = `${root}deploy/kubernetes`;
const overlays = {
  development: render(`${folder}/overlays/development`),
  production: render(`${folder}/overlays/production`),
};
const names = ['development', 'production'] as const;
const processes = [...services, 'gateway'];
/** The services to which the gateway forwards requests. */
const { serviceEndpoints } = readYaml(`${root}gateway/config/gateway.config.yml`) as Pick<
  GatewayConfig,
  'serviceEndpoints'
>;
const called = Object.keys(serviceEndpoints);
const jobs = ['provision', ...services.map((name) => `${name}-migrate`)];

const titleOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

function only(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} of ${kind} ${name}`);
  return found[0];
}

describe('the check against schemas', () => {
  const orders = only(overlays.production, 'Deployment', 'orders');

  it.each<[string, (spec: Manifest) => void, RegExp]>([
    ['a wrong type', (spec) => Object.assign(spec, { minReadySeconds: '5' }), /minReadySeconds type/],
    ['a missing member', (spec) => Reflect.deleteProperty(spec, 'selector'), /required/],
    ['a misspelt member', (spec) => Object.assign(spec.template.spec, { hostPid: true }), /hostPid is no member/],
  ])('the check against schemas sees %s', async (_what, change, expected) => {
    const changed = structuredClone(orders);
    change(changed.spec);
    expect(await faultsOf(changed)).toContainEqual(expect.stringMatching(expected));
  });
});

describe.each(names)('%s', (name) => {
  const manifests = overlays[name];
  const pods = manifests.filter((manifest) => podOf(manifest) !== undefined);

  it('the overlay shows the e-mails of no folder in the browser', () => {
    expect(JSON.stringify(manifests)).not.toContain('MAIL_PAGE_DIR');
  });

  it('the overlay has documents that are valid by their schemas', async () => {
    for (const manifest of manifests) {
      if (withoutSchema.has(`${manifest.apiVersion}/${manifest.kind}`)) continue;
      expect([titleOf(manifest), await faultsOf(manifest)]).toEqual([titleOf(manifest), []]);
    }
  });

  it('the overlay names each object once, in one namespace', () => {
    const titles = manifests.map(titleOf);
    expect(new Set(titles).size).toBe(titles.length);
    const elsewhere = manifests.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'shop');
    expect(elsewhere).toEqual([]);
    expect(only(manifests, 'Namespace', 'shop').metadata.labels['pod-security.kubernetes.io/enforce']).toBe(
      'restricted',
    );
  });

  it('the overlay refers only to existing objects', () => {
    const owners = [...services, 'provision', 'operator'];
    const given = [...owners.map((owner) => `${owner}-secrets`), 'mail', 'shop-tls'];
    const fromOperator =
      name === 'production' ? ['postgres-app', 'rabbitmq-secrets'] : ['postgres-secrets', 'rabbitmq-secrets'];
    const configMaps = manifests.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name);
    const accounts = manifests.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
    for (const manifest of pods) {
      const { spec } = podOf(manifest) as Manifest;
      const volumes: Manifest[] = spec.volumes ?? [];
      for (const { secret, configMap, projected } of volumes) {
        for (const source of projected?.sources ?? []) expect(given).toContain(source.secret.name);
        if (secret !== undefined) expect([...given, ...fromOperator]).toContain(secret.secretName);
        if (configMap !== undefined) expect(configMaps).toContain(configMap.name);
      }
      if (spec.serviceAccountName !== undefined) expect(accounts).toContain(spec.serviceAccountName);
      const claims = (manifest.spec.volumeClaimTemplates ?? []).map(({ metadata }: Manifest) => metadata.name);
      for (const container of containersOf(manifest)) {
        for (const { configMapRef } of container.envFrom ?? []) expect(configMaps).toContain(configMapRef.name);
        const mounted = (container.volumeMounts ?? []).map((mount: Manifest) => mount.name);
        expect([...volumes.map((volume) => volume.name), ...claims]).toEqual(expect.arrayContaining(mounted));
      }
    }
    const { rules } = only(manifests, 'Ingress', 'gateway').spec;
    expect(rules[0]).toMatchObject({ http: { paths: [{ backend: { service: { name: 'gateway' } } }] } });
  });

  it('the overlay has selectors that match their own pods', () => {
    for (const manifest of manifests.filter(({ spec }) => spec?.selector?.matchLabels !== undefined)) {
      const wanted = manifest.spec.selector.matchLabels;
      expect(pods.some((pod) => labelsMeet(podOf(pod)?.metadata?.labels, wanted))).toBe(true);
    }
    for (const { spec } of manifests.filter(({ kind }) => kind === 'Service')) {
      const meeting = pods.filter((pod) => labelsMeet(podOf(pod)?.metadata?.labels, spec.selector));
      expect(meeting).toHaveLength(1);
      const ports = containersOf(meeting[0] as Manifest).flatMap(({ ports }) =>
        ports.map((port: Manifest) => port.name),
      );
      for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort);
    }
  });

  // https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
  it('the overlay has pods within the restricted standard', () => {
    expect(pods.map(titleOf)).toEqual(expect.arrayContaining(processes.map((process) => `Deployment ${process}`)));
    for (const manifest of pods) {
      const { spec } = podOf(manifest) as Manifest;
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(spec.securityContext.runAsUser).toBeGreaterThan(0);
      for (const free of ['hostNetwork', 'hostPID', 'hostIPC', 'hostUsers']) expect(spec[free]).toBeUndefined();
      expect(spec.automountServiceAccountToken).toBe(false);
      const kinds = (spec.volumes ?? []).flatMap((volume: Manifest) =>
        Object.keys(volume).filter((key) => key !== 'name'),
      );
      expect(['secret', 'configMap', 'emptyDir', 'projected']).toEqual(expect.arrayContaining(kinds));
      for (const container of containersOf(manifest)) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect((container.ports ?? []).filter(({ hostPort }: Manifest) => hostPort !== undefined)).toEqual([]);
        expect(container.resources.requests).toMatchObject({ cpu: expect.any(String), memory: expect.any(String) });
        expect(container.resources.limits.memory).toEqual(expect.any(String));
        expect(container.image).toMatch(/:[\w.-]+$/);
        expect(container.image).not.toMatch(/:latest$/);
        // Another tag would deploy another release.
        if (container.image.startsWith('registry.example/shop/'))
          expect(container.image).toMatch(new RegExp(`:${version}$`));
        // `shop/…` would be an image of somebody else on Docker Hub.
        expect(container.image).not.toMatch(/^shop\//);
      }
    }
  });

  it('the overlay keeps secrets out of environments and documents', () => {
    for (const manifest of pods) {
      for (const { env = [] } of containersOf(manifest)) {
        for (const { name: variable, value } of env) {
          if (/SECRET|PASSWORD|KEY|_URL/.test(variable)) expect(value).toMatch(/^\/run\/secrets\//);
        }
      }
    }
    const secrets = manifests.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name);
    expect(secrets).toEqual(name === 'development' ? ['mail'] : []);
  });

  it.each(processes)(
    'the overlay updates %s without an interruption, and keeps it available when nodes are drained',
    (process) => {
      const deployment = only(manifests, 'Deployment', process);
      expect(deployment.spec.strategy).toEqual({
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
      });
      expect(deployment.spec.replicas).toBeUndefined(); // the autoscaler's to say
      const { terminationGracePeriodSeconds, topologySpreadConstraints } = deployment.spec.template.spec;
      const [container = {} as Manifest] = containersOf(deployment);
      // A process gets no requests after 5 s, and ends within 10 s more. It uses 4.5 s of these to close its connections
      // with responses.
      expect(container.lifecycle.preStop.exec.command).toEqual(['node', '-e', 'setTimeout(() => {}, 5000)']);
      expect(terminationGracePeriodSeconds).toBeGreaterThan(5 + 10);
      expect(environmentOf(manifests, container)).toMatchObject({ DRAIN_MS: '4500' });
      // A gateway whose services fail still serves what it can.
      const readiness = process === 'gateway' ? '/health/accepting' : '/health/ready';
      expect(container.readinessProbe.httpGet).toEqual({ path: readiness, port: 'http' });
      expect(container.livenessProbe.httpGet).toEqual({ path: '/health/live', port: 'http' });
      // A process listens when its database can be reached and migrated, which may take ten minutes.
      const { httpGet, periodSeconds, failureThreshold } = container.startupProbe;
      expect(httpGet).toEqual({ path: '/health/live', port: 'http' });
      expect(periodSeconds * failureThreshold).toBeGreaterThan(10 * 60);
      expect(deployment.spec.progressDeadlineSeconds).toBeGreaterThan(periodSeconds * failureThreshold);
      const keys = topologySpreadConstraints.map(({ topologyKey }: Manifest) => topologyKey);
      expect(keys).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);

      expect(only(manifests, 'PodDisruptionBudget', process).spec).toMatchObject({
        maxUnavailable: 1,
        selector: deployment.spec.selector,
      });
      const { scaleTargetRef, minReplicas, maxReplicas } = only(manifests, 'HorizontalPodAutoscaler', process).spec;
      expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: process });
      expect(minReplicas).toBe(name === 'production' ? 3 : 1);
      expect(maxReplicas).toBeGreaterThan(minReplicas);
    },
  );

  it('the overlay has one Service for the metrics of each process, which the ServiceMonitor selects and labels', () => {
    const { spec } = readYaml(`${root}deploy/observability/service-monitor.yaml`) as Manifest;
    const wanted = Object.entries(spec.selector.matchLabels);
    const selected = manifests.filter(
      ({ kind, metadata, spec: service }) =>
        kind === 'Service' &&
        wanted.every(([key, value]) => metadata.labels[key] === value) &&
        service.ports.some((port) => port.name === 'metrics'),
    );
    const labelled = selected.map(({ metadata }) => metadata.labels['app.kubernetes.io/name']);
    expect(labelled.sort()).toEqual([...processes].sort());
    // The rules and dashboards use these labels of `up`.
    expect(spec.endpoints).toEqual([
      {
        port: 'metrics',
        honorLabels: true,
        relabelings: [
          { targetLabel: 'job', replacement: 'shop' },
          { targetLabel: 'service_name', sourceLabels: ['__meta_kubernetes_service_label_app_kubernetes_io_name'] },
        ],
      },
    ]);
  });

  it('the manifests have a job that migrates each service, and a job that creates its role', () => {
    expect(
      manifests
        .filter(({ kind }) => kind === 'Job')
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(jobs.sort());
    for (const service of services) {
      const [container] = containersOf(only(manifests, 'Job', `${service}-migrate`));
      const [process] = containersOf(only(manifests, 'Deployment', service));
      expect(container).toMatchObject({ image: process?.image, args: ['src/migrate.ts'] });
    }
  });

  it('the overlay admits clients at one address, with TLS', () => {
    const { tls, rules } = only(manifests, 'Ingress', 'gateway').spec;
    expect(tls).toEqual([{ hosts: ['shop.example'], secretName: 'shop-tls' }]);
    expect(rules.map(({ host }: Manifest) => host)).toEqual(['shop.example']);
    expect(manifests.filter(({ spec }) => spec?.type === 'LoadBalancer' || spec?.type === 'NodePort')).toEqual([]);
  });

  it('the overlay lets the board read every replica of every process', () => {
    const addresses = only(manifests, 'ConfigMap', 'shop-settings').data.METRICS_URLS?.split(', ') ?? [];
    const [own, others] = ['gateway=http://gateway-metrics:9464/metrics', '*=http://*-metrics:9464/metrics'];
    expect(addresses).toEqual([own, others]);
    // The name of a headless Service resolves to the addresses of all its pods.
    for (const process of processes)
      expect(only(manifests, 'Service', `${process}-metrics`).spec).toMatchObject({ clusterIP: 'None' });
  });

  it('the overlay permits the arrows of the architecture and no other', () => {
    const expected = [
      'ingress-nginx → gateway:8080',
      ...called.map((service) => `gateway → ${service}:8080`),
      // the key set, which these services read from accounts
      ...called.map((service) => `${service} → accounts:8080`),
      // reserving stock, and resolving reservations
      'orders → catalogue:8080',
      'catalogue → orders:8080',
      // exporting the data of an account
      'accounts → orders:8080',
      'accounts → notifications:8080',
      'accounts → changes:8080',
      ...services.flatMap((service) => [`${service} → postgres:5432`, `${service} → rabbitmq:5672`]),
      ...jobs.map((job) => `${job} → postgres:5432`),
      'operator → postgres:5432',
      'operator → rabbitmq:5672',
      // adding listeners
      'operator → rabbitmq:15672',
      // metrics, for Prometheus and the board
      ...processes.map((process) => `monitoring → ${process}:9464`),
      ...processes.map((process) => `gateway → ${process}:9464`),
      'notifications → anywhere:465',
      'notifications → anywhere:587',
      'changes → anywhere:443',
      'changes → anywhere:8443',
      ...(name === 'development'
        ? ['notifications → mailpit:1025']
        : [
            'postgres → postgres:5432',
            'postgres → postgres:8000',
            'cnpg-system → postgres:5432',
            'cnpg-system → postgres:8000',
            // the Jobs that initialize and copy an instance
            ...[
              'postgresql → postgres',
              'postgres → postgresql',
              'postgresql → postgresql',
              'cnpg-system → postgresql',
            ].flatMap((arrow) => [`${arrow}:5432`, `${arrow}:8000`]),
            'rabbitmq → rabbitmq:4369',
            'rabbitmq → rabbitmq:25672',
            // the Kubernetes API
            'postgres → anywhere:443',
            'postgres → anywhere:6443',
            'postgresql → anywhere:443',
            'postgresql → anywhere:6443',
            'rabbitmq → anywhere:443',
            'rabbitmq → anywhere:6443',
          ]),
    ];
    expect(permittedArrows(manifests)).toEqual(expected.sort());
  });
});

describe('production', () => {
  it('the overlay production lets statements of migrations and of the operator last as long as they need', () => {
    const { postgresql } = only(overlays.production, 'Cluster', 'postgres').spec;
    expect(Object.keys(Object(postgresql).parameters)).not.toContain('statement_timeout');
  });

  it('the overlay production has three nodes of each server, and commits that survive the loss of one', () => {
    expect(only(overlays.production, 'Cluster', 'postgres').spec).toMatchObject({
      instances: 3,
      enableSuperuserAccess: false,
      bootstrap: { initdb: { encoding: 'UTF8', localeProvider: 'builtin', builtinLocale: 'C.UTF-8' } },
      postgresql: { synchronous: { method: 'any', number: 1 } },
    });
    const { replicas, rabbitmq, override } = only(overlays.production, 'RabbitmqCluster', 'rabbitmq').spec;
    expect(replicas).toBe(3);
    expect(rabbitmq.additionalConfig).toContain('cluster_partition_handling = pause_minority');
    expect(rabbitmq.additionalConfig).toContain('load_definitions = /run/secrets/shop/definitions.json');
    const { spec } = override.statefulSet.spec.template;
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const { securityContext } of [...spec.containers, ...spec.initContainers]) {
      expect(securityContext).toEqual({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
    }
    expect(spec.volumes).toContainEqual(
      expect.objectContaining({ secret: expect.objectContaining({ secretName: 'rabbitmq-secrets' }) }),
    );
  });

  it('the overlay production reads lists of products on the standbys, and nothing else', () => {
    const reading = processes.filter((process) =>
      containersOf(only(overlays.production, 'Deployment', process)).some(({ env = [] }) =>
        env.some(({ name }: Manifest) => name.startsWith('DATABASE_READ_URL')),
      ),
    );
    expect(reading).toEqual(['catalogue']);
  });

  it('the overlay production creates its roles as an administrator without superuser rights', () => {
    const [container] = containersOf(only(overlays.production, 'Job', 'provision'));
    expect(container?.env).toContainEqual({ name: 'DATABASE_ADMIN_URL_FILE', value: '/run/secrets/administrator/uri' });
  });
});

function labelsMeet(
  labels: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels?.[key] === value);
}

it('the overlay bounds the memory of a container as that of a process of npm start', () => {
  const image = readFileSync(fileURLToPath(new URL('../../deploy/Dockerfile', import.meta.url)), 'utf8');
  const variables = Object.entries(memoryBounds).map(([name, value]) => `${name}="${value}"`);
  expect(image).toContain(`ENV ${variables.join(' ')}\n`);
});
