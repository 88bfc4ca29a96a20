// PostgreSQL has connections for all replicas that the autoscalers and a rolling update can start.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { serviceNames as services } from '@shop/shared/shop';
import { readCompose } from './compose.ts';
import { render } from './kustomize.ts';
import { containersOf, type Manifest } from './manifest.ts';

/** Connections that are reserved for jobs, the operator and interactive sessions. */
const kept = 20;

function source(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

/** The connection on which the catalogue receives changes of products. */
const further: Readonly<Record<string, number>> = { catalogue: 1 };

/**
 * Returns the maximum number of connections of one replica: its pool, one each for the relay and a probe, and the
 * further ones.
 */
function connectionsOf(service: string): number {
  const usual = /poolSize: size = (\d+)/.exec(source('shared/src/database/connect.ts'))?.[1];
  const own = /poolSize: (\d+)/.exec(source(`services/${service}/src/main.ts`))?.[1];
  return Number(own ?? usual) + 2 + (further[service] ?? 0);
}

function named(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** Returns the maximum number of connections while all services are updated at the same time. */
function mostConnections(manifests: readonly Manifest[]): number {
  return services
    .map((service) => {
      const { maxReplicas } = named(manifests, 'HorizontalPodAutoscaler', service).spec;
      const { strategy, minReadySeconds } = named(manifests, 'Deployment', service).spec;
      expect(strategy).toMatchObject({ rollingUpdate: { maxSurge: 1 } });
      // A replica gets no requests after 5 s, and ends within 10 s more. Only then the next one starts, so that only
      // one ends at a time.
      expect(minReadySeconds).toBeGreaterThanOrEqual(5 + 10);
      return (Number(maxReplicas) + 2) * connectionsOf(service);
    })
    .reduce((sum, connections) => sum + connections, 0);
}

function maxConnections(manifests: readonly Manifest[], overlay: string): number {
  if (overlay === 'production') {
    return Number(Object(named(manifests, 'Cluster', 'postgres').spec.postgresql).parameters.max_connections);
  }
  const [container] = containersOf(named(manifests, 'StatefulSet', 'postgres'));
  return Number(/max_connections=(\d+)/.exec(String(container?.args))?.[1]);
}

describe.each(['production', 'development'])('overlays/%s', (overlay) => {
  const manifests = render(fileURLToPath(new URL(`../../deploy/kubernetes/overlays/${overlay}`, import.meta.url)));
  const most = mostConnections(manifests);
  const available = maxConnections(manifests, overlay);

  it('the overlay has enough connections for the most replicas of the autoscalers', () => {
    expect(most + kept).toBeLessThanOrEqual(available);
  });
});

it('the compose file has enough connections for three replicas of each service', () => {
  const { command } = readCompose().services.postgres ?? {};
  const available = Number(/max_connections=(\d+)/.exec(String(command))?.[1]);
  const most = services.reduce((sum, service) => sum + 3 * connectionsOf(service), 0);
  expect(most + kept).toBeLessThanOrEqual(available);
});
