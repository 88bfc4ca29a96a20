// The frame of every page: head, top navigation, side navigation, content. The other files write only what stands in it.
import { escapeHtml } from '@shop/shared/runtime';
import type { Assets, ScriptName, StyleName } from './assets.ts';

/** The Content-Security-Policy of every page: only files and requests of the shop itself, and nothing inline. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

export interface NavigationItem {
  readonly address: string;
  /** The title in the navigation. */
  readonly short: string;
}

export interface Page {
  readonly title: string;
  readonly address: string;
  /** The address of the highlighted link in the top navigation; by default that of the page. */
  readonly section?: string;
  /** HTML with the element `main`. */
  readonly content: string;
  /** HTML of the side navigation; none when left out. */
  readonly side?: string;
  /** The stylesheets and modules of this page, beside those of every page. */
  readonly styles?: readonly StyleName[];
  readonly scripts?: readonly ScriptName[];
}

const everyStyle: readonly StyleName[] = ['tokens.css', 'base.css', 'controls.css', 'code.css', 'frame.css'];

export interface Layout {
  page(page: Page): string;
}

/**
 * @param links of the top navigation, in order
 * @param search whether the pages can search the documentation
 */
export function createLayout(assets: Assets, links: readonly NavigationItem[], search = false): Layout {
  const stylesheet = (name: StyleName): string => `<link rel="stylesheet" href="${assets.addressOf(name)}">\n`;
  const script = (name: ScriptName): string => `<script type="module" src="${assets.addressOf(name)}"></script>\n`;
  return {
    page({ title, address, section = address, content, side, styles = [], scripts = [] }) {
      const items = links.map((link) => {
        const mark = link.address === section ? ' aria-current="page"' : '';
        return `<a href="${link.address}"${mark}>${escapeHtml(link.short)}</a>`;
      });
      return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Shop API</title>
<link rel="icon" href="${assets.addressOf('icon.svg')}" type="image/svg+xml">
<script src="${assets.addressOf('theme.js')}"></script>
${[...everyStyle, ...(search ? (['search.css'] as const) : []), ...styles].map(stylesheet).join('')}${['page.js' as const, ...scripts].map(script).join('')}</head>
<body>
<a class="skip" href="#content">To the content</a>
<header class="top">
${side === undefined ? '' : '<button type="button" class="menu" popovertarget="all-pages"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12"/></svg><span class="unseen">All pages</span></button>'}
<a class="shop" href="/docs"><img src="${assets.addressOf('icon.svg')}" alt="" width="24" height="24">Shop API</a>
<nav aria-label="Sections">${items.join('\n')}</nav>
${search ? searchButton : ''}
${themeButton}
</header>
<div class="${side === undefined ? 'frame' : 'frame with-side'}">
${side === undefined ? '' : `<nav id="all-pages" class="side" popover aria-label="Pages">\n${side}</nav>`}
${content}
</div>
${search ? searchDialog : ''}</body>
</html>
`;
    },
  };
}

const searchButton = `<button type="button" id="open-search" class="open-search" aria-haspopup="dialog" hidden>
<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/></svg>
<span>Search</span> <kbd></kbd></button>`;

const searchDialog = `<dialog id="search" class="search" aria-label="Search the documentation">
<div class="search-head">
<input id="search-for" role="searchbox" enterkeyhint="search" aria-label="Search the documentation" aria-controls="found" placeholder="Search the documentation" autocomplete="off" autocapitalize="off" spellcheck="false">
<button type="button" id="close-search">Close</button>
</div>
<p id="found-count" role="status"></p>
<ul id="found" role="list" aria-label="Results"></ul>
</dialog>
`;

const themeButton = `<button type="button" id="theme" class="theme" hidden>
<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="5.5"/><path class="half" d="M8 2.5a5.5 5.5 0 0 1 0 11z"/></svg></button>`;
