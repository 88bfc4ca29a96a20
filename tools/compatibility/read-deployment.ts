// What an update finds again in a running deployment: volumes with data under Compose, and objects on Kubernetes.
import { fileURLToPath } from 'node:url';
import type { Node } from '@shop/shared/contract';
import { readCompose } from '../deploy/compose.ts';
import { render } from '../deploy/kustomize.ts';
import type { Manifest } from '../deploy/manifest.ts';

/** `docker compose`, or an overlay for Kubernetes → service or object → the properties that have to stay as they are. */
export function readDeployment(): Record<string, Node> {
  const overlays = ['production', 'development'].map((name) => [`overlay ${name}`, objectsOf(name)]);
  return Object.fromEntries([['docker compose', composeServices()], ...overlays]) as Record<string, Node>;
}

/** The volumes that a service writes to. RabbitMQ stores its data below the name of its host. */
function composeServices(): Record<string, Node> {
  const services = Object.entries(readCompose().services).map(([name, { hostname, volumes = [] }]): [string, Node] => {
    const named = volumes.flatMap((mount) => {
      const [, volume, path] = /^([a-z-]+):([^:]+)$/.exec(mount) ?? [];
      return volume === undefined ? [] : [[`volume at ${path}`, volume]];
    });
    return [`service ${name}`, { ...(hostname !== undefined && { hostname }), ...Object.fromEntries(named) }];
  });
  return Object.fromEntries(services.filter(([, properties]) => Object.keys(properties).length > 0));
}

/** Kind → the properties of its objects. Objects of other kinds may be removed and replaced during an update. */
const kinds: Readonly<Record<string, (manifest: Manifest) => Node>> = {
  Service: ({ spec }) => Object.fromEntries(spec.ports.map(({ name, port }) => [`port ${name}`, port])),
  Deployment: ({ spec }) => ({ selector: selectorOf(spec) }),
  StatefulSet: ({ spec }) => ({ selector: selectorOf(spec), ...claimsOf(spec) }),
  Cluster: () => ({}),
  RabbitmqCluster: () => ({}),
};

/** Kubernetes refuses another selector for an existing object. */
function selectorOf({ selector }: Manifest): string {
  const labels = Object.entries(selector.matchLabels).map(([label, value]) => `${label}=${value}`);
  return labels.sort().join(',');
}

function claimsOf({ volumeClaimTemplates = [] }: Partial<Manifest>): Node {
  return Object.fromEntries(volumeClaimTemplates.map(({ metadata }) => [`claim ${metadata.name}`, 'used']));
}

function objectsOf(overlay: string): Record<string, Node> {
  const folder = fileURLToPath(new URL(`../../deploy/kubernetes/overlays/${overlay}`, import.meta.url));
  return Object.fromEntries(
    render(folder).flatMap((manifest) => {
      const properties = kinds[manifest.kind]?.(manifest);
      return properties === undefined ? [] : [[`${manifest.kind} ${manifest.metadata.name}`, properties]];
    }),
  );
}
