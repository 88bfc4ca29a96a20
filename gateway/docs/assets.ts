// The files behind the pages: Swagger UI out of its package, and the few of ours. Each address holds a digest of its file.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digest, Page } from './page.ts';

const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const own = fileURLToPath(new URL('assets', import.meta.url));

const files = {
  'swagger-ui.js': [join(swaggerUi, 'swagger-ui-bundle.js'), 'text/javascript; charset=utf-8'],
  'swagger-ui.css': [join(swaggerUi, 'swagger-ui.css'), 'text/css; charset=utf-8'],
  'reference.js': [join(own, 'reference.js'), 'text/javascript; charset=utf-8'],
  'board.js': [join(own, 'board.js'), 'text/javascript; charset=utf-8'],
  'style.css': [join(own, 'style.css'), 'text/css; charset=utf-8'],
  'icon.svg': [join(own, 'icon.svg'), 'image/svg+xml'],
} as const;

export type AssetName = keyof typeof files;

export interface Assets {
  readonly pages: ReadonlyMap<string, Page>;
  addressOf(name: AssetName): string;
}

/** Reads every file. @throws when one is missing */
export function readAssets(): Assets {
  const addresses = new Map<string, string>();
  const pages = new Map<string, Page>();
  for (const [name, [file, type]] of Object.entries(files)) {
    const content = readFileSync(file);
    const address = `/docs/assets/${digest(content)}/${name}`;
    addresses.set(name, address);
    pages.set(address, new Page(content, { type, immutable: true }));
  }
  return { pages, addressOf: (name) => addresses.get(name) ?? '' };
}
