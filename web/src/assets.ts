// The static files of the pages. Each address contains a digest of its file.
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digest, StaticPage } from './static-page.ts';

const ofStyle = fileURLToPath(new URL('style', import.meta.url));
const ofDocs = fileURLToPath(new URL('docs/assets', import.meta.url));
const ofBoard = fileURLToPath(new URL('board/assets', import.meta.url));
const ofMail = fileURLToPath(new URL('mail/assets', import.meta.url));

/** A script is listed after the scripts that it imports. */
const files = {
  'theme.js': join(ofDocs, 'theme.js'),
  'own-values.js': join(ofDocs, 'own-values.js'),
  'minisearch.js': fileURLToPath(import.meta.resolve('minisearch')),
  'search-engine.js': join(ofDocs, 'search-engine.js'),
  'search.js': join(ofDocs, 'search.js'),
  'page.js': join(ofDocs, 'page.js'),
  'try.js': join(ofDocs, 'try.js'),
  'picture-layout.js': join(ofBoard, 'picture-layout.js'),
  'picture.js': join(ofBoard, 'picture.js'),
  'board.js': join(ofBoard, 'board.js'),
  'mail.js': join(ofMail, 'mail.js'),
  'tokens.css': join(ofStyle, 'tokens.css'),
  'base.css': join(ofStyle, 'base.css'),
  'controls.css': join(ofStyle, 'controls.css'),
  'code.css': join(ofStyle, 'code.css'),
  'frame.css': join(ofStyle, 'frame.css'),
  'search.css': join(ofDocs, 'search.css'),
  'home.css': join(ofDocs, 'home.css'),
  'guide.css': join(ofDocs, 'guide.css'),
  'reference.css': join(ofDocs, 'reference.css'),
  'board.css': join(ofBoard, 'board.css'),
  'mail.css': join(ofMail, 'mail.css'),
  'icon.svg': join(ofStyle, 'icon.svg'),
} as const;

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export type AssetName = keyof typeof files;
export type StyleName = Extract<AssetName, `${string}.css`>;
export type ScriptName = Extract<AssetName, `${string}.js`>;

export interface Assets {
  readonly pages: ReadonlyMap<string, StaticPage>;
  addressOf(name: AssetName): string;
}

/** Reads every file. @throws when a file is missing */
export function readAssets(): Assets {
  const addresses = new Map<string, string>();
  const pages = new Map<string, StaticPage>();
  for (const [name, file] of Object.entries(files)) {
    const content = withImports(readFileSync(file, 'utf8'), addresses);
    const address = `/docs/assets/${digest(content)}/${name}`;
    addresses.set(name, address);
    pages.set(address, new StaticPage(content, { type: types[extname(file)] ?? '', immutable: true }));
  }
  return { pages, addressOf: (name) => addresses.get(name) ?? '' };
}

/** Replaces the relative imports of a script: each file is served from a folder of its own. */
function withImports(text: string, addresses: ReadonlyMap<string, string>): string {
  return text.replace(/(?<=^import .* from '|\bimport\(')\.\/([^']+)(?=')/gm, (_, name: string) => {
    const address = addresses.get(name);
    if (address === undefined) throw new Error(`${name} must be listed before the script that imports it`);
    return address;
  });
}
