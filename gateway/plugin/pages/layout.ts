// The frame of every page: head, navigation, content.
import type { Assets } from './assets.ts';

/** The Content-Security-Policy of pages without scripts. */
export const guidePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/**
 * The Content-Security-Policy of Swagger UI. It needs no inline scripts, inline styles or eval; its icons are `data:`
 * URLs.
 */
export const referencePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface NavigationItem {
  readonly address: string;
  readonly title: string;
  /** The title in the navigation. */
  readonly short: string;
}

export interface Layout {
  /** @param current the address and title of the page, which the navigation marks as current */
  page(current: NavigationItem, content: string, extra?: { readonly head?: string; readonly end?: string }): string;
}

/** @param links of the navigation, in order */
export function createLayout(assets: Assets, links: readonly NavigationItem[]): Layout {
  return {
    page(current, content, { head = '', end = '' } = {}) {
      const items = links.map(({ address, short }) => {
        const mark = address === current.address ? ' aria-current="page"' : '';
        return `<a href="${address}"${mark}>${escapeHtml(short)}</a>`;
      });
      return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(current.title)} · Shop API</title>
<link rel="icon" href="${assets.addressOf('icon.svg')}">
${head}<link rel="stylesheet" href="${assets.addressOf('style.css')}">
</head>
<body>
<header>
<a class="shop" href="/docs">Shop API</a>
<nav aria-label="Documentation">${items.join('\n')}</nav>
</header>
${content}
${end}</body>
</html>
`;
    },
  };
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
