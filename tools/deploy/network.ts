// The connections that a set of NetworkPolicies permits: egress on one side and ingress on the other.
import { type Manifest, podOf } from './manifest.ts';

interface Place {
  readonly name: string;
  /** Labels of the pod, or of the namespace when `outside`. */
  readonly labels: Readonly<Record<string, string>>;
  /** A namespace that is not the shop's. */
  readonly outside: boolean;
}

type Labels = Readonly<Record<string, string>> | undefined;

/** The labels of all pods. For pods that Kubernetes operators create, the labels come from the operators' manifests. */
function placesOf(manifests: readonly Manifest[]): Place[] {
  const fromPods = manifests.flatMap<Manifest['labels']>((manifest) => podOf(manifest)?.metadata?.labels ?? []);
  const fromOperators = manifests.flatMap<Manifest['labels']>(({ kind, metadata, spec }) => {
    if (kind === 'RabbitmqCluster') return [{ 'app.kubernetes.io/name': metadata.name }];
    if (kind !== 'Cluster') return [];
    const cluster = { 'cnpg.io/cluster': metadata.name };
    // The pods of its Jobs do not get the inherited labels (cloudnative-pg, pkg/specs/jobs.go).
    const job = { ...cluster, 'app.kubernetes.io/name': 'postgresql' };
    return [{ ...cluster, ...spec.inheritedMetadata.labels }, job];
  });
  // A pod that no policy names. Its connections must be denied, too.
  const stranger = { 'app.kubernetes.io/name': 'stranger' };
  const inside = [...fromPods, ...fromOperators, stranger].map((labels) => ({
    name: String(labels['app.kubernetes.io/name']),
    labels,
    outside: false,
  }));
  const outside = ['ingress-nginx', 'cnpg-system', 'monitoring', 'somewhere-else'].map((name) => ({
    name,
    labels: { 'kubernetes.io/metadata.name': name },
    outside: true,
  }));
  return [...inside, ...outside];
}

/**
 * Connections as `from → to:port`, sorted, without the cluster's DNS. `anywhere` means every address, inside and
 * outside.
 */
export function permittedArrows(manifests: readonly Manifest[]): string[] {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const places = placesOf(manifests);
  const selecting = (place: Place, direction: string): Manifest[] =>
    place.outside
      ? []
      : policies.filter(({ spec }) => spec.policyTypes.includes(direction) && meets(place.labels, spec.podSelector));
  const arrows = new Set<string>();
  for (const from of places) {
    const egress = selecting(from, 'Egress');
    if (!from.outside && egress.length === 0) arrows.add(`${from.name} → anywhere`);
    if (!from.outside && selecting(from, 'Ingress').length === 0) arrows.add(`anywhere → ${from.name}`);
    for (const to of places) {
      const ingress = selecting(to, 'Ingress');
      if (from.outside && to.outside) continue;
      const leaving = egress.length === 0 ? 'all' : portsFor(egress, 'egress', 'to', to);
      const entering = ingress.length === 0 ? 'all' : portsFor(ingress, 'ingress', 'from', from);
      for (const port of both(leaving, entering)) if (!to.outside) arrows.add(`${from.name} → ${to.name}:${port}`);
    }
    for (const { spec } of egress) {
      for (const rule of spec.egress ?? []) {
        if (rule.to === undefined) for (const { port } of rule.ports) arrows.add(`${from.name} → anywhere:${port}`);
      }
    }
  }
  return [...arrows].sort();
}

type Ports = 'all' | readonly number[];

function both(leaving: Ports, entering: Ports): (number | 'any port')[] {
  if (leaving === 'all') return entering === 'all' ? ['any port'] : [...entering];
  return entering === 'all' ? [...leaving] : leaving.filter((port) => entering.includes(port));
}

function portsFor(
  policies: readonly Manifest[],
  rules: 'ingress' | 'egress',
  side: 'from' | 'to',
  place: Place,
): Ports {
  return policies
    .flatMap(({ spec }): Manifest[] => spec[rules] ?? [])
    .filter((rule) => rule[side] === undefined || rule[side].some((peer: Manifest) => isPeer(peer, place)))
    .flatMap((rule): number[] => rule.ports.map(({ port }: Manifest) => port));
}

function isPeer({ podSelector, namespaceSelector }: Manifest, { labels, outside }: Place): boolean {
  if (namespaceSelector !== undefined) return outside && podSelector === undefined && meets(labels, namespaceSelector);
  return !outside && meets(labels, podSelector);
}

function meets(labels: Labels, selector: { matchLabels?: Labels }): boolean {
  return Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels?.[key] === value);
}
