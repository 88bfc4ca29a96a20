// The static files of the pages: Swagger UI from its package, and the shop's own. Each address contains a digest of its
// file.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digest, StaticPage } from './static-page.ts';

const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const ofDocs = fileURLToPath(new URL('docs/assets', import.meta.url));
const ofBoard = fileURLToPath(new URL('board/assets', import.meta.url));

/** A script is listed after the scripts that it imports. */
const files = {
  'swagger-ui.js': join(swaggerUi, 'swagger-ui-bundle.js'),
  'swagger-ui.css': join(swaggerUi, 'swagger-ui.css'),
  'reference.js': join(ofDocs, 'reference.js'),
  'picture-layout.js': join(ofBoard, 'picture-layout.js'),
  'picture.js': join(ofBoard, 'picture.js'),
  'board.js': join(ofBoard, 'board.js'),
  'style.css': join(ofDocs, 'style.css'),
  'board.css': join(ofBoard, 'board.css'),
  'icon.svg': join(ofDocs, 'icon.svg'),
} as const;

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export type AssetName = keyof typeof files;

export interface Assets {
  readonly pages: ReadonlyMap<string, StaticPage>;
  addressOf(name: AssetName): string;
}

/** Reads every file. @throws when a file is missing */
export function readAssets(): Assets {
  const addresses = new Map<string, string>();
  const pages = new Map<string, StaticPage>();
  for (const [name, file] of Object.entries(files)) {
    const content = file.startsWith(swaggerUi)
      ? readFileSync(file)
      : withImports(readFileSync(file, 'utf8'), addresses);
    const address = `/docs/assets/${digest(content)}/${name}`;
    addresses.set(name, address);
    pages.set(address, new StaticPage(content, { type: types[extname(file)] ?? '', immutable: true }));
  }
  return { pages, addressOf: (name) => addresses.get(name) ?? '' };
}

/** Replaces the relative imports of a script: each file is served from a folder of its own. */
function withImports(text: string, addresses: ReadonlyMap<string, string>): string {
  return text.replace(/(?<=^import .* from ')\.\/(.+)(?=';$)/gm, (_, name: string) => {
    const address = addresses.get(name);
    if (address === undefined) throw new Error(`${name} must be listed before the script that imports it`);
    return address;
  });
}
