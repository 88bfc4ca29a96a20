// `secrets.ts FOLDER` generates the shop's secrets as files, in a folder for each owner, and keeps existing ones.
// `secrets.ts kubernetes` prints new ones as Secrets for `kubectl create -f -`.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Environment,
  optional,
  readConfig,
  readLogLevel,
  readTogether,
  runProcess,
  StartError,
  string,
} from '@shop/shared/runtime';
import { completeSecrets, type SecretFiles, type Secrets, secretFiles } from './secret-files.ts';

await runProcess('secrets', readSettings, async ({ log }, { places }) => {
  const [target, ...rest] = process.argv.slice(2);
  if (target === undefined || rest.length > 0) throw new StartError('use: secrets.ts FOLDER | secrets.ts kubernetes');
  if (target === 'kubernetes') {
    process.stdout.write(manifests(secretFiles(completeSecrets(), { ...places, operator: 'services' })));
  } else {
    await writeFiles(
      target,
      secretFiles(await keptSecrets(join(target, 'kept')), { ...places, operator: 'administrator' }),
    );
    log.info({ folder: target }, 'the secrets are there');
  }
  process.exit(0);
});

function readSettings(environment: Environment) {
  return readTogether(environment, {
    logLevel: readLogLevel,
    places: (given) =>
      readConfig(given, {
        database: string('DATABASE_PLACE', 'postgres:5432'),
        databaseReplicas: optional(string('DATABASE_REPLICAS_PLACE')),
        broker: string('BROKER_PLACE', 'rabbitmq:5672'),
      }),
  });
}

async function keptSecrets(folder: string): Promise<Secrets> {
  const path = join(folder, 'secrets.json');
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new StartError(`cannot read the secrets in ${path} (${error.code})`);
  });
  const secrets = completeSecrets(JSON.parse(found) as Partial<Secrets>);
  await mkdir(folder, { recursive: true });
  await writeWhole(path, JSON.stringify(secrets, null, 2), 0o600);
  return secrets;
}

/** Every user of a container may read the files. The mounts of a container decide which folders it can read. */
async function writeFiles(folder: string, files: SecretFiles): Promise<void> {
  for (const [owner, contents] of Object.entries(files)) {
    await mkdir(join(folder, owner), { recursive: true });
    for (const [name, content] of Object.entries(contents)) await writeWhole(join(folder, owner, name), content, 0o444);
  }
}

/** Writes the file atomically, so that an interruption leaves no incomplete file. */
async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  await writeFile(`${path}.partial`, content, { mode });
  await rename(`${path}.partial`, path);
}

/** Returns the manifests as JSON, which is valid YAML. */
function manifests(files: SecretFiles): string {
  return Object.entries(files)
    .map(([owner, stringData]) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${owner}-secrets`, labels: { 'app.kubernetes.io/part-of': 'shop' } },
      stringData,
    }))
    .map((secret) => `---\n${JSON.stringify(secret, null, 2)}\n`)
    .join('');
}
