// Renders the page of a guide: its content, its table of contents, and links to the previous and next guide.
import { escapeHtml } from '@shop/shared/runtime';
import type { Guide, Heading } from './guide.ts';

interface Neighbour {
  readonly address: string;
  readonly short: string;
}

/** Headings from which on a page has contents, and up to which the contents have two levels. */
const severalHeadings = 3;
const manyHeadings = 30;

/** Returns HTML of the element `main`. */
export function guideHtml(
  { html, headings }: Guide,
  { previous, next }: { readonly previous?: Neighbour | undefined; readonly next?: Neighbour | undefined } = {},
): string {
  const neighbour = (title: string, rel: string, to: Neighbour | undefined): string =>
    to === undefined ? '' : `<a rel="${rel}" href="${to.address}"><small>${title}</small> ${escapeHtml(to.short)}</a>`;
  const turn = `<nav class="turn" aria-label="Previous and next guide">${neighbour('Previous', 'prev', previous)}${neighbour('Next', 'next', next)}</nav>`;
  const contents = contentsHtml(headings);
  const folded = `<details class="contents-fold"><summary>On this page</summary>${contents}</details>`;
  return `<main id="content" class="page">
<article>
${contents === '' ? html : html.replace('</h1>', () => `</h1>\n${folded}`)}${previous === undefined && next === undefined ? '' : turn}
</article>
${contents === '' ? '' : `<nav class="contents" aria-label="On this page"><h2>On this page</h2>${contents}</nav>`}
</main>`;
}

/** Returns the list of the headings; empty for a short page. On a narrow screen it stands in a fold below the title. */
function contentsHtml(headings: readonly Heading[]): string {
  const shown = headings.length > manyHeadings ? headings.filter(({ depth }) => depth === 2) : headings;
  if (shown.length < severalHeadings) return '';
  const items = shown.map(
    ({ id, title, depth }) => `<li${depth > 2 ? ' class="inner"' : ''}><a href="#${id}">${escapeHtml(title)}</a></li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}
