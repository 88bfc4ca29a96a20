// Runs an operator's command of accounts as its own process.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '@shop/shared/testing';
import type { TestAccounts } from './accounts.ts';

export interface CommandResult {
  readonly code: number | null;
  /** The output; undefined when there is none. Each command and each of its verbs writes other members. */
  readonly json: {
    readonly keys: readonly { readonly kid: string; readonly state: string }[];
    readonly staff: unknown;
    readonly scopes: unknown;
  };
  readonly error: string;
}

/** @param name the file in `src` */
export function runCommand(
  { services }: TestAccounts,
  name: 'keys' | 'staff',
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const file = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, ...words], {
    env: {
      ...plainEnvironment(),
      DATABASE_URL: services.database.urls.accounts,
      KEY_ENCRYPTION_SECRET: Buffer.alloc(32, 7).toString('base64url'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let error = '';
  child.stdout.on('data', (data) => {
    output += String(data);
  });
  child.stderr.on('data', (data) => {
    error += String(data);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, json: output === '' ? undefined : JSON.parse(output), error }));
  });
}
