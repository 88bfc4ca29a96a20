// The example storefront: one page at the addresses of a shop, and its scripts, styles and pictures.
import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserModules } from './browser-modules.ts';
import { isFromThisMachine } from './mail/local-client.ts';
import { html, type PageRequest, type PageResponse } from './page.ts';
import { prefersHtml } from './prefers-html.ts';
import { digest, StaticPage } from './static-page.ts';

const folder = fileURLToPath(new URL('../../examples/storefront', import.meta.url));
const packages = { '@shop/client': fileURLToPath(new URL('../../client/src/index.ts', import.meta.url)) };

/** The addresses of its pages. */
const pageAddress =
  /^\/(?:(?:c\/[^/]+|p\/[^/]+|search|cart|checkout|orders(?:\/[^/]+)?|account|log-in|register|reset|verify-email|undo-email-change)\/?)?$/;

const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' https: data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface StaticSite {
  /** The page, which refers to the files by their addresses. */
  readonly page: string;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Reads the storefront.
 * @param prefix the address of its files, as a function of a digest of all of them
 * @throws when a file is missing, as in an image of the gateway
 */
export function readStorefront(prefix: (digest: string) => string): StaticSite {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const style = read('style.css').replace(/^@import "([^"]+)";$/gm, (_, name: string) => read(name));
  const pictures = globSync('**/*.svg', { cwd: folder }).map((name) => [name, read(name)] as const);
  const files = new Map([['style.css', style], ...pictures, ...browserModules(folder, 'src/main.ts', packages)]);
  const address = prefix(digest(JSON.stringify([...files])));
  const page = read('index.html').replace(/(?<= (?:src|href)=")(?=\w)([^":]+)/g, (name) => {
    return `${address}/${name.replace(/\.ts$/, '.js')}`;
  });
  return { page, files: new Map([...files].map(([name, content]) => [`${address}/${name}`, content])) };
}

export interface Storefront {
  readonly files: ReadonlyMap<string, StaticPage>;
  /** Returns the page for a browser; undefined for programs, and at other addresses. */
  page(request: PageRequest): Promise<PageResponse> | undefined;
}

/** Reads the storefront. Its bar names the pages that are switched on, the e-mails only on this machine. */
export function storefront(switches: { readonly board: boolean; readonly mail: boolean }): Storefront {
  const { page, files } = readStorefront((each) => `/docs/assets/storefront/${each}`);
  const withLinks = (isLocal: boolean): StaticPage => {
    const links = ['docs', ...(switches.board ? ['board'] : []), ...(switches.mail && isLocal ? ['mail'] : [])];
    const content = page.replace('</head>', `<meta name="demo" content="${links.join(' ')}">\n</head>`);
    return new StaticPage(content, { type: html, contentPolicy, negotiated: true });
  };
  const pages = { local: withLinks(true), other: withLinks(false) };
  const sent = [...files].map(([address, content]) => {
    return [address, new StaticPage(content, { type: types[extname(address)] ?? '', immutable: true })] as const;
  });
  return {
    files: new Map(sent),
    page(request) {
      const [path = '/'] = (request.url ?? '/').split('?', 1);
      if (!pageAddress.test(path) || !prefersHtml(request.headers.accept)) return undefined;
      return (isFromThisMachine(request) ? pages.local : pages.other).respond(request);
    },
  };
}
