// docker-compose.yml as the tests read it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

export interface ComposeService {
  readonly image?: string;
  readonly build?: unknown;
  readonly pull_policy?: string;
  readonly hostname?: string;
  readonly command?: string | readonly string[];
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly profiles?: readonly string[];
  readonly init?: boolean;
}

/** Returns the names of a service's networks. */
export function networksOf({ networks = [] }: ComposeService = {}): readonly string[] {
  return Array.isArray(networks) ? networks : Object.keys(networks);
}

export function readCompose(): Compose {
  const path = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));
  return parse(readFileSync(path, 'utf8'), { merge: true }) as Compose;
}
