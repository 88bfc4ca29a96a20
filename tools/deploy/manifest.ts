// A Kubernetes manifest as the tests read it, and the pod in it.

/**
 * A manifest of any kind, and each object in it, with the members that the tests read. A member has the same type
 * wherever it occurs. Schemas validate the required members.
 */
export interface Manifest {
  apiVersion: string;
  kind: string;
  name: string;
  metadata: Manifest;
  namespace: string;
  labels: Record<string, string>;
  data: Record<string, string>;
  spec: Manifest;
  selector: Manifest;
  matchLabels: Record<string, string>;
  template: Manifest;
  volumes: Manifest[];
  volumeClaimTemplates: Manifest[];
  secret: Manifest;
  secretName: string;
  projected: Manifest | undefined;
  sources: Manifest[];
  items: Manifest[];
  key: string;
  path: string;
  configMap: Manifest;
  initContainers: Manifest[];
  containers: Manifest[];
  image: string;
  env: Manifest[];
  envFrom: Manifest[];
  configMapRef: Manifest;
  volumeMounts: Manifest[];
  ports: Manifest[];
  endpoints: Manifest[];
  periodSeconds: number;
  failureThreshold: number;
  port: number;
  securityContext: Manifest;
  resources: Manifest;
  limits: Manifest;
  readinessProbe: Manifest;
  livenessProbe: Manifest;
  startupProbe: Manifest;
  lifecycle: Manifest;
  preStop: Manifest;
  exec: Manifest;
  topologySpreadConstraints: Manifest[];
  minReplicas: number;
  rules: Manifest[];
  policyTypes: string[];
  podSelector: Manifest;
  namespaceSelector: Manifest;
  ingress: Manifest[];
  egress: Manifest[];
  from: Manifest[];
  to: Manifest[];
  rabbitmq: Manifest;
  override: Manifest;
  inheritedMetadata: Manifest;
  statefulSet: Manifest;
  [member: string]: unknown;
}

/** The pod or pod template of a manifest. */
export function podOf(manifest: Manifest): Manifest | undefined {
  return manifest.kind === 'Pod'
    ? manifest
    : manifest.spec?.template?.spec === undefined
      ? undefined
      : manifest.spec.template;
}

/** All containers of the pod or pod template of a manifest. */
export function containersOf(manifest: Manifest): Manifest[] {
  const { initContainers = [], containers = [] }: Partial<Manifest> = podOf(manifest)?.spec ?? {};
  return [...initContainers, ...containers];
}

/** Returns the environment of a container from the manifests. Secrets are represented by the names of their files. */
export function environmentOf(manifests: readonly Manifest[], container: Manifest): Record<string, string> {
  const { env = [], envFrom = [] }: Partial<Manifest> = container;
  const maps = envFrom.map(({ configMapRef }) =>
    manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef.name),
  );
  const own = Object.fromEntries(env.map(({ name, value }) => [name, String(value)]));
  return Object.assign({}, ...maps.map((map) => map?.data), own);
}
