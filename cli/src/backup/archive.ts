// A backup on disk: a folder with a compressed file for each table, the secrets, a manifest, and checksums of all
// files.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { StartError, syncFolder } from '@shop/shared/runtime';
import type { ServiceName } from '@shop/shared/shop';

export interface ArchivedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** SHA-256 of the uncompressed rows. */
  readonly sha256: string;
}

export interface ArchivedSchema {
  /** The applied migrations. */
  readonly migrations: readonly string[];
  /** The tables in an order in which they can be filled: each table follows the tables that it refers to. */
  readonly tables: readonly ArchivedTable[];
  /** The last value of each sequence. */
  readonly sequences: Readonly<Record<string, number>>;
}

export interface Manifest {
  readonly format: 'shop backup 1';
  /** The time of the backup, by the clock of the database. */
  readonly takenAt: string;
  /** A service that did not exist yet has none. */
  readonly schemas: Readonly<Partial<Record<ServiceName, ArchivedSchema>>>;
}

const manifestFile = 'manifest.json';
export const secretsFile = 'secrets.json';
const checksumsFile = 'SHA256SUMS';

const fileOf = (schema: ServiceName, table: string): string => `${schema}.${table}.copy.gz`;

/** Writes one table's rows. @returns the checksum of the rows */
export async function writeRows(folder: string, schema: ServiceName, table: string, rows: Readable): Promise<string> {
  const { tap, digest } = hashing();
  const file = createWriteStream(join(folder, fileOf(schema, table)), { mode: 0o600, flush: true });
  await pipeline(rows, tap, createGzip({ level: 3 }), file);
  return digest();
}

/** Reads one table's rows. @returns their checksum */
export async function readRows(folder: string, schema: ServiceName, table: string, into: Writable): Promise<string> {
  const { tap, digest } = hashing();
  await pipeline(createReadStream(join(folder, fileOf(schema, table))), createGunzip(), tap, into);
  return digest();
}

/** @returns the checksum of the content of the stream */
export async function computeChecksum(rows: Readable): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(rows, hash);
  return hash.digest('hex');
}

function hashing(): { tap: Transform; digest(): string } {
  const hash = createHash('sha256');
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { tap, digest: () => hash.digest('hex') };
}

/** Writes the manifest and the checksums of all files, in the format of `sha256sum --check SHA256SUMS`. */
export async function sealArchive(folder: string, manifest: Manifest): Promise<void> {
  await writeFile(join(folder, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  const sums = await Promise.all(
    filesOf(manifest).map(async (name) => `${await computeChecksum(createReadStream(join(folder, name)))}  ${name}\n`),
  );
  await writeFile(join(folder, checksumsFile), sums.join(''), { mode: 0o600, flush: true });
  await syncFolder(folder);
}

/**
 * Compares every file of a backup with its checksum, and reads the manifest.
 * @throws StartError when the folder is not a backup, or a file was changed or truncated
 */
export async function openArchive(folder: string): Promise<Manifest> {
  const lines = (await readFile(join(folder, checksumsFile), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  if (lines.length === 0) throw new StartError(`${folder} is no backup: there is no ${checksumsFile} in it`);
  const faults: string[] = [];
  for (const line of lines) {
    const [, sum, name = ''] = /^([0-9a-f]{64}) {2}([\w.-]+)$/.exec(line) ?? [];
    const found = await computeChecksum(createReadStream(join(folder, name))).catch(() => 'missing');
    if (found !== sum) faults.push(`${name || line} ${found === 'missing' ? 'is missing' : 'was changed'}`);
  }
  if (faults.length > 0) {
    throw new StartError(`the backup ${folder} is damaged: ${faults.join(', ')}. Use another one.`);
  }
  const manifest = JSON.parse(await readFile(join(folder, manifestFile), 'utf8')) as Manifest;
  if (manifest.format !== 'shop backup 1') {
    throw new StartError(`the backup ${folder} was made by another version of the shop: restore it with that one`);
  }
  const unsealed = filesOf(manifest).filter((name) => !lines.some((line) => line.endsWith(`  ${name}`)));
  if (unsealed.length > 0)
    throw new StartError(`the backup ${folder} is damaged: no checksum for ${unsealed.join(', ')}`);
  return manifest;
}

function filesOf({ schemas }: Manifest): string[] {
  const rows = Object.entries(schemas).flatMap(([schema, { tables }]) =>
    tables.map(({ name }) => fileOf(schema as ServiceName, name)),
  );
  return [manifestFile, secretsFile, ...rows];
}
