// The categories with the most products: in the navigation, and on the start page.
import { h } from './dom.ts';
import { categoryName } from './names.ts';
import { shop } from './shop.ts';

const most = 6;
let loaded: Promise<readonly string[]> | undefined;

/** Returns the categories. They are loaded once, unless that fails. */
export function mainCategories(): Promise<readonly string[]> {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  return loaded;
}

async function load(): Promise<readonly string[]> {
  const { facets } = await shop.products.page({ lead: true }, { limit: 1, fields: ['id'], facets: ['category'] });
  const names = (facets?.category ?? []).slice(0, most).map(({ value }) => value);
  return names.sort((one, other) => categoryName(one).localeCompare(categoryName(other)));
}

/** Returns the address of a category. The gateway refuses an encoded slash in a path, so such a name is in the query. */
export function categoryAddress(category: string): string {
  const isPlain = !/[/\\%]/.test(category) && category !== '.' && category !== '..';
  return isPlain ? `/c/${encodeURIComponent(category)}` : `/search?${new URLSearchParams({ category })}`;
}

export function categoryLink(category: string, ...children: readonly HTMLElement[]): HTMLAnchorElement {
  const name = h('span', { dir: 'auto' }, categoryName(category));
  return h('a', { href: categoryAddress(category) }, children, name);
}
