// The changes that a new service needs outside its own folder: in three files, one for the gateway, one for Compose and
// one for Kubernetes.
import { insertBefore } from './insert-item.ts';

type Change = (text: string, name: string) => string;

/** File → its changes, in the order in which they are made. */
export const repositoryChanges: Readonly<Record<string, readonly Change[]>> = {
  'gateway/config/gateway.config.yml': [
    (text, name) => insertBefore(text, ['apiEndpoints', 'health'], `${name}:\n  paths: [/v1/${name}, /v1/${name}/*]`),
    (text, name) =>
      insertBefore(
        text,
        ['serviceEndpoints', 'catalogue'],
        `${name}:\n  url: \${${name.toUpperCase()}_URL:-http://${name}:8080}`,
      ),
    (text, name) => insertBefore(text, ['pipelines', 'products'], pipeline(name)),
  ],
  'docker-compose.yml': [
    (text, name) =>
      insertBefore(text, ['services', 'secrets', 'volumes', 'secrets-operator'], `- secrets-${name}:/secrets/${name}`),
    (text, name) => insertBefore(text, ['services', 'postgres', 'networks', 'accounts-data'], `- ${name}-data`),
    (text, name) => insertBefore(text, ['services', 'rabbitmq', 'networks', 'accounts-data'], `- ${name}-data`),
    (text, name) => insertBefore(text, ['services', 'gateway'], composeServices(name)),
    (text, name) =>
      insertBefore(text, ['services', 'gateway', 'depends_on', 'catalogue'], `${name}: { condition: service_healthy }`),
    (text, name) => insertBefore(text, ['volumes', 'secrets-operator'], `secrets-${name}:`),
    (text, name) => insertBefore(text, ['networks', 'metrics'], `${name}-data: { internal: true }`),
  ],
  'deploy/kubernetes/base/kustomization.yaml': [
    (text, name) => insertBefore(text, ['resources', 'gateway.yaml'], `- ../../../services/${name}/kubernetes`),
    (text, name) =>
      insertBefore(
        text,
        ['images', 'registry.example/shop/gateway'],
        `- { name: registry.example/shop/${name}, newTag: ${imageTagIn(text)} }`,
      ),
  ],
};

/** Returns the tag of the images. All images have the version of the shop as their tag. */
function imageTagIn(kustomization: string): string {
  const [, tag] = /newTag: ([\w.-]+)/.exec(kustomization) ?? [];
  if (tag === undefined) throw new Error('the kustomization has no image with a tag');
  return tag;
}

function pipeline(name: string): string {
  return `${name}:
  apiEndpoints: [${name}]
  policies:
    - api:
        - action:
            contract: ../../services/${name}/openapi.yaml
            limit:
              rate: { steady: 100, seconds: 1, reserve: 100, reserveSeconds: 10, accountsPerAddress: 10 }
            forward: { serviceEndpoint: ${name} }`;
}

function composeServices(name: string): string {
  return `${name}-migrate:
  <<: *job
  image: shop/${name}
  build: &build-${name}
    context: .
    dockerfile: deploy/Dockerfile
    args: { WORKSPACE: services/${name} }
  command: [src/migrate.ts]
  depends_on:
    provision: { condition: service_completed_successfully }
  environment:
    DATABASE_URL_FILE: /run/secrets/database-url
  volumes: ["secrets-${name}:/run/secrets:ro"]
  networks: [${name}-data]

${name}:
  <<: *service
  image: shop/${name}
  build: *build-${name}
  depends_on:
    ${name}-migrate: { condition: service_completed_successfully }
    rabbitmq: { condition: service_healthy }
  environment:
    <<: [*process, *stores, *tokens, *answering]
  volumes: ["secrets-${name}:/run/secrets:ro"]
  networks: [${name}-data, inside]

`;
}
