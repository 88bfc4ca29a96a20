// The contracts of this checkout, those of the last release in released/, and the breaking changes between two of them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleDocument, type Node, readDocument, readYaml, toNode } from '@shop/shared/contract';
import { problems } from '@shop/shared/problem';
import type { GatewayConfig } from '../../gateway/src/entry/gateway-config.ts';
import { publishedContracts } from '../../gateway/src/published-contracts.ts';
import { publishedDocument } from '../../web/src/docs/published-document.ts';
import { withProblemExamples } from '../../web/src/problems/problem-examples.ts';
import type { BaseImages } from './base-images.ts';
import type { BreakingChange } from './breaking-change.ts';
import { compareAsyncApi } from './compare-asyncapi.ts';
import { compareOpenApi } from './compare-openapi.ts';
import {
  compareCommands,
  compareDeployment,
  compareMetrics,
  compareMigrations,
  compareOutputs,
  compareProblems,
  compareSettings,
} from './compare-operators.ts';
import { readCommands } from './read-commands.ts';
import { readDeployment } from './read-deployment.ts';
import { readSettings } from './read-settings.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

/** Kind of contract → how it is read in this checkout. The kind is also the name of its file in released/. */
const readers = {
  /** The public operations, as the gateway publishes them. */
  openapi: () => {
    const folder = pathOf('gateway/config');
    const config = readYaml(`${folder}/gateway.config.yml`) as Pick<GatewayConfig, 'pipelines'>;
    return publishedDocument(publishedContracts(config, folder), { limits: false });
  },
  /** Service → its OpenAPI document with the operations for other services only. */
  internal: () =>
    ofServices((service) =>
      internalPart(withProblemExamples(readDocument(pathOf(`services/${service}/openapi.yaml`)))),
    ),
  /** Service → its AsyncAPI document. */
  asyncapi: () => ofServices((service) => bundleDocument(pathOf(`services/${service}/asyncapi.yaml`))),
  settings: readSettings,
  deployment: readDeployment,
  commands: readCommands,
  outputs: () => readYaml(pathOf('cli/outputs.yaml')) as Node,
  metrics: () => readYaml(pathOf('shared/contracts/metrics.yaml')) as Node,
  /** Service, or `shared` → migration → the digest of its file. */
  migrations: () => ({
    shared: digestsIn('shared/migrations'),
    ...ofServices((service) => digestsIn(`services/${service}/migrations`)),
  }),
  problems: () => Object.fromEntries(Object.entries(problems).map(([code, { status }]) => [code, status])),
} as const satisfies Readonly<Record<string, () => Node>>;

type Kind = keyof typeof readers;
export type Contracts = Readonly<Record<Kind, Node>>;

const kinds = Object.keys(readers) as Kind[];

function ofServices(read: (service: string) => Node): Record<string, Node> {
  const services = readdirSync(pathOf('services')).filter((name) =>
    existsSync(pathOf(`services/${name}/openapi.yaml`)),
  );
  return Object.fromEntries(services.sort().map((service) => [service, read(service)]));
}

function digestsIn(folder: string): Record<string, string> {
  const files = readdirSync(pathOf(folder)).filter((name) => name.endsWith('.sql'));
  const digestOf = (name: string) => createHash('sha256').update(readFileSync(pathOf(`${folder}/${name}`)));
  return Object.fromEntries(files.sort().map((name) => [name, digestOf(name).digest('hex')]));
}

function internalPart(document: Node): Node {
  const paths = Object.entries(toNode(document.paths)).filter(([, item]) =>
    Object.values(toNode(item)).some((operation) => toNode(operation)['x-internal'] === true),
  );
  return { ...document, paths: Object.fromEntries(paths) };
}

function contractsFrom(read: (kind: Kind) => Node): Contracts {
  return Object.fromEntries(kinds.map((kind) => [kind, read(kind)])) as Contracts;
}

/** The contracts of this checkout, as plain JSON. */
export function presentContracts(): Contracts {
  return contractsFrom((kind) => JSON.parse(JSON.stringify(readers[kind]())) as Node);
}

const released = (name: string): string => pathOf(`tools/compatibility/released/${name}.json`);

export interface Release {
  readonly version: string;
  /** The commit whose contracts were released. It has the other inputs of the images: sources, Dockerfiles, lock file. */
  readonly commit: string;
  /** The images that the release's images are built from. Release 1.1.0 did not record them. */
  readonly baseImages?: BaseImages;
}

export function lastRelease(): Release {
  return JSON.parse(readFileSync(released('release'), 'utf8')) as Release;
}

/** The contracts of the last release. */
export function releasedContracts(): Contracts {
  return contractsFrom((kind) => JSON.parse(readFileSync(released(kind), 'utf8')) as Node);
}

/** The migrations of the last release that a service applies, by the names that `migrate` gives them. */
export function releasedMigrations(service: string): string[] {
  const { migrations } = releasedContracts();
  const shared = Object.keys(toNode(migrations.shared)).map((name) => `shared/${name}`);
  return [...shared, ...Object.keys(toNode(migrations[service]))];
}

/** Replaces the contracts of the last release. */
export function writeRelease(release: Release, contracts: Contracts): void {
  const files: [string, unknown][] = [['release', release], ...Object.entries(contracts)];
  for (const [name, content] of files) writeFileSync(released(name), `${JSON.stringify(content, null, 1)}\n`);
}

/**
 * The beginning of a reported change that corrects a fault which no addition can correct → the fault. A release removes
 * the entries.
 */
const corrections: Readonly<Record<string, string>> = {
  'schema Price: the maximum was 10000000 and is absent': 'in some currencies, ordinary goods cost more',
};

/** Everything in which the contracts after break someone who relies on those before. */
export function breakingChanges(before: Contracts, after: Contracts): BreakingChange[] {
  const each = (kind: 'internal' | 'asyncapi', compare: (old: Node, next: Node, service: string) => BreakingChange[]) =>
    Object.entries(before[kind]).flatMap(([service, old]) =>
      compare(toNode(old), toNode(after[kind][service]), service),
    );
  return [
    ...compareOpenApi(before.openapi, after.openapi, 'operation'),
    ...each('internal', (old, next, service) => compareOpenApi(old, next, `internal operation of ${service}`)),
    ...each('asyncapi', compareAsyncApi),
    ...compareSettings(before.settings, after.settings),
    ...compareDeployment(before.deployment, after.deployment),
    ...compareCommands(before.commands, after.commands),
    ...compareOutputs(before.outputs, after.outputs),
    ...compareMetrics(before.metrics, after.metrics),
    ...compareMigrations(before.migrations, after.migrations),
    ...compareProblems(before.problems, after.problems),
  ].filter(({ text }) => !Object.keys(corrections).some((corrected) => text.startsWith(corrected)));
}
