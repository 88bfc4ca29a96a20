// docker-compose.yml as the tests read it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
}

export interface ComposeService {
  readonly image?: string;
  readonly command?: string | readonly string[];
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
}

export function readCompose(): Compose {
  const path = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));
  return parse(readFileSync(path, 'utf8'), { merge: true }) as Compose;
}
