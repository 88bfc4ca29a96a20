// `secrets.ts FOLDER` generates the shop's secrets as files, in a folder for each owner, and keeps existing ones.
// `secrets.ts kubernetes` prints new ones as Secrets for `kubectl create -f -`.
// With a step and a secret, such as `add database`, both change existing ones (rotate.ts). `kubernetes` then reads the
// content of the Secret `kept-secrets` from standard input, and prints Secrets for `kubectl replace -f -`.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type Environment,
  optional,
  readConfig,
  readLogLevel,
  readTogether,
  runProcess,
  StartError,
  string,
  writeWhole,
} from '@shop/shared/runtime';
import { type Rotated, rotate, rotated, type Step, steps } from './rotate.ts';
import {
  completeSecrets,
  differingSecrets,
  type Places,
  type SecretFiles,
  type Secrets,
  secretFiles,
} from './secret-files.ts';

/** The file that contains all secrets. No process of the shop reads it. */
const keptFile = 'secrets.json';

/** In Kubernetes, it contains the addresses of the servers, too. */
type Kept = Partial<Secrets> & { readonly places?: Omit<Places, 'operator'> };

await runProcess('secrets', readSettings, async ({ log }, { places }) => {
  const { target, change } = readArguments(process.argv.slice(2));
  if (target === 'kubernetes') {
    const kept = change === undefined ? {} : parse(await text(process.stdin), 'standard input');
    if (change !== undefined) requireSame(kept);
    const complete = completeSecrets(kept);
    const secrets = change?.(complete) ?? complete;
    const at = { places, ...kept }.places;
    const files = secretFiles(secrets, { ...at, operator: 'services' });
    process.stdout.write(manifests({ kept: { [keptFile]: serialize({ ...secrets, places: at }) }, ...files }));
  } else {
    const secrets = await keptSecrets(join(target, 'kept'), change);
    await writeFiles(target, secretFiles(secrets, { ...places, operator: 'administrator' }));
    log.info({ folder: target }, 'the secrets are there');
  }
  process.exit(0);
});

/** @throws StartError when the secrets are not those of this version */
function requireSame(kept: Kept): void {
  const { missing, unknown } = differingSecrets(kept);
  // A new password would be used by the pods, and no server would accept it.
  if (missing.length > 0)
    throw new StartError(
      `standard input lacks ${missing.join(', ')}: add the present passwords to ${keptFile} of kept-secrets`,
    );
  // The Secrets of the services that this version does not know would be lost, and their users be deleted.
  if (unknown.length > 0)
    throw new StartError(`this version does not know ${unknown.join(', ')}: use the image of the running version`);
}

interface Arguments {
  readonly target: string;
  readonly change: ((secrets: Secrets) => Secrets) | undefined;
}

/** @throws StartError when they are not valid */
function readArguments([target, step, what, ...rest]: readonly string[]): Arguments {
  const isKnown = steps.includes(step as Step) && rotated.includes(what as Rotated);
  if (target === undefined || rest.length > 0 || (step !== undefined && !isKnown)) {
    throw new StartError(`use: secrets.ts FOLDER|kubernetes [${steps.join('|')} ${rotated.join('|')}]`);
  }
  return {
    target,
    change: step === undefined ? undefined : (secrets) => rotate(secrets, step as Step, what as Rotated),
  };
}

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

/**
 * Returns the secrets that the folder keeps, after it has generated those that are missing and made the change. Those that only
 * another version of the shop knows are kept, because the shop may return to that version.
 */
async function keptSecrets(folder: string, change: Arguments['change']): Promise<Secrets> {
  const path = join(folder, keptFile);
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new StartError(`cannot read the secrets in ${path} (${error.code})`);
  });
  const kept = parse(found, path);
  const complete = completeSecrets(kept);
  const secrets = change?.(complete) ?? complete;
  const { keys, roles, users } = secrets;
  const all = serialize({
    ...kept,
    keys: { ...kept.keys, ...keys },
    roles: { ...kept.roles, ...roles },
    users: { ...kept.users, ...users },
  });
  await mkdir(folder, { recursive: true });
  // A run that changes nothing writes nothing, so that it cannot undo the step of a rotation that runs at the same time.
  if (all !== found) await writeWhole(path, all, 0o600);
  return secrets;
}

function parse(json: string, from: string): Kept {
  try {
    return JSON.parse(json) as Kept;
  } catch {
    throw new StartError(`${from} contains no JSON`);
  }
}

function serialize(secrets: Kept): string {
  return JSON.stringify(secrets, null, 2);
}

/** Every user of a container may read the files. The mounts of a container decide which folders it can read. */
async function writeFiles(folder: string, files: SecretFiles): Promise<void> {
  for (const [owner, contents] of Object.entries(files)) {
    await mkdir(join(folder, owner), { recursive: true });
    for (const [name, content] of Object.entries(contents)) await writeWhole(join(folder, owner, name), content, 0o444);
  }
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
