// The secrets of the shop, which are generated at the first start. The database can only be used with these secrets.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type SchemaName, schemas } from '@shop/shared/database';
import { StartError, writeWhole } from '@shop/shared/runtime';

export interface KeptSecrets {
  /** The password of each database role. */
  readonly roles: Readonly<Record<SchemaName, string>>;
  /** The secrets by their environment variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** The key of the pages that show the e-mails. */
  readonly mailPageKey: string;
}

/** The secret environment variables of the processes, each of 32 random bytes in base64url. */
export const secretVariables = ['INTERNAL_SECRET', 'CURSOR_KEYS', 'KEY_ENCRYPTION_SECRET', 'WEBHOOK_KEYS'];

/**
 * Reads the secrets and generates the missing ones.
 * @throws StartError when the file exists but cannot be read
 */
export async function keptSecrets(path: string): Promise<KeptSecrets> {
  const kept = await readSecrets(path);
  const make = (): string => randomBytes(32).toString('base64url');
  const fill = (names: readonly string[], values: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, values[name] ?? make()]));
  const secrets: KeptSecrets = {
    roles: fill(schemas, kept.roles) as KeptSecrets['roles'],
    variables: fill(secretVariables, kept.variables),
    mailPageKey: kept.mailPageKey ?? make(),
  };
  if (JSON.stringify(secrets) !== JSON.stringify(kept)) await writeWhole(path, JSON.stringify(secrets, null, 2), 0o600);
  return secrets;
}

export async function readSecrets(path: string): Promise<Partial<KeptSecrets>> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Partial<KeptSecrets>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new StartError(`cannot read the secrets in ${path} (${code ?? 'not JSON'})`);
  }
}
