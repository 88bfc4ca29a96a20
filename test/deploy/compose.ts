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
  readonly command?: string | readonly string[];
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly profiles?: readonly string[];
}

export function readCompose(): Compose {
  const path = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));
  return parse(readFileSync(path, 'utf8'), { merge: true }) as Compose;
}
