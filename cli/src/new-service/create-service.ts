// Writes a new service that works: its folder from cli/template, and its lines in the files of the gateway, of Compose
// and of Kubernetes.
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StartError } from '@shop/shared/runtime';
import { parse } from 'yaml';
import { repositoryChanges } from './repository-files.ts';

const template = fileURLToPath(new URL('../../template', import.meta.url));
const run = promisify(execFile);

/**
 * Writes the service and everything that is generated from the contracts.
 * @param root the checkout
 * @param name 3 to 20 lower-case letters
 * @returns the files that were written or changed, relative to the checkout
 * @throws StartError for a name that is not permitted or already in use; then nothing is written
 */
export async function createService(root: string, name: string): Promise<string[]> {
  await requireFreeName(root, name);
  const files = new Map<string, string>();
  for (const source of globSync('**/*.template', { cwd: template }).sort()) {
    const file = join('services', name, withName(source.replace(/\.template$/, ''), name));
    files.set(file, withName(await readFile(join(template, source), 'utf8'), name));
  }
  for (const [file, changes] of Object.entries(repositoryChanges)) {
    const text = await readFile(join(root, file), 'utf8');
    files.set(
      file,
      changes.reduce((changed, change) => change(changed, name), text),
    );
  }
  for (const [file, text] of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  await run(process.execPath, ['client/generate.ts'], { cwd: root });
  await run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit'], { cwd: root });
  return [...files.keys()];
}

function withName(text: string, name: string): string {
  return text.replaceAll('__name__', name).replaceAll('__Name__', name.charAt(0).toUpperCase() + name.slice(1));
}

interface Names {
  readonly services: Readonly<Record<string, unknown>>;
  readonly apiEndpoints: Readonly<Record<string, { readonly paths: readonly string[] }>>;
}

/** Words of 3 to 20 letters that PostgreSQL permits neither as a schema nor as a role (PostgreSQL 18, appendix C). */
const reserved = new Set(
  (
    'all analyse analyze and any array asc asymmetric authorization binary both case cast check collate collation column ' +
    'concurrently constraint create cross default deferrable desc distinct else end except false fetch for foreign freeze from ' +
    'full grant group having ilike initially inner intersect into isnull join lateral leading left like limit localtime ' +
    'localtimestamp natural none not notnull null offset only order outer overlaps placing primary references returning ' +
    'right select similar some symmetric table tablesample then trailing true union unique user using variadic verbose when ' +
    'where window with'
  ).split(' '),
);

/** Checks that the name is unused. The service's schema, database role, container and internal path have its name. */
async function requireFreeName(root: string, name: string): Promise<void> {
  if (!/^[a-z]{3,20}$/.test(name)) throw new StartError('the name of a service has 3 to 20 lower-case letters');
  const read = async (file: string): Promise<Names> => parse(await readFile(join(root, file), 'utf8')) as Names;
  const { services } = await read('docker-compose.yml').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`new-service needs a checkout of the repository (${error.code})`);
  });
  const { apiEndpoints } = await read('gateway/config/gateway.config.yml');
  const paths = Object.values(apiEndpoints).flatMap((endpoint) => endpoint.paths);
  const taken = [...Object.keys(services), ...Object.keys(apiEndpoints), 'events', 'shared', 'public'];
  if (reserved.has(name))
    throw new StartError(`${name} is a reserved word of PostgreSQL, in which the service needs a schema`);
  if (taken.includes(name) || paths.includes(`/v1/${name}`)) throw new StartError(`the name ${name} is taken`);
}
