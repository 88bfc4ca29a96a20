// The form with the filters of a list, and the choice of its order. Each change leads to a new address.
import type { components } from '@shop/client';
import { type Child, h } from './dom.ts';
import { money } from './format.ts';
import { categoryName } from './names.ts';
import { navigate } from './router.ts';
import { t } from './texts.ts';

export type Facets = components['schemas']['Facets'];

/** The parameters of the address that are filters. */
export const filterNames: readonly string[] = ['brand', 'category', 'from', 'to', 'rating', 'stock'];

const sorts = {
  new: { field: 'createdAt', direction: 'desc' },
  cheap: { field: 'price', direction: 'asc' },
  expensive: { field: 'price', direction: 'desc' },
  rating: { field: 'rating', direction: 'desc' },
  name: { field: 'name', direction: 'asc' },
} as const;

type SortName = keyof typeof sorts;

/** Returns the order of the address; by default the best matches of a search first, and otherwise the newest. */
export function sortOf(query: URLSearchParams): (typeof sorts)[SortName] | undefined {
  const name = query.get('sort') ?? (query.has('q') ? '' : 'new');
  return Object.hasOwn(sorts, name) ? sorts[name as SortName] : undefined;
}

export function sortSelect(path: string, query: URLSearchParams): HTMLElement {
  const chosen = query.get('sort') ?? '';
  const usual = query.has('q') ? t.sorts.best : t.sorts.new;
  const names = (Object.keys(sorts) as SortName[]).filter((name) => query.has('q') || name !== 'new');
  const select: HTMLSelectElement = h(
    'select',
    { id: 'sort', onchange: () => go(path, query, 'sort', [select.value]) },
    [
      h('option', { value: '' }, usual),
      names.map((name) => h('option', { value: name, selected: name === chosen }, t.sorts[name])),
    ],
  );
  return h('p', { class: 'sort' }, h('label', { for: 'sort' }, t.sort), select);
}

/** Whether the filters are open on a narrow screen. A new list keeps them as they were. */
let isOpen = false;

export function filters(path: string, query: URLSearchParams, facets: Facets, currency: string): HTMLElement {
  const active = filterNames.filter((name) => query.has(name)).length;
  const form = h('form', { 'aria-label': t.filters, onsubmit: (event) => event.preventDefault() }, [
    h('label', { class: 'check', for: 'stock' }, box('stock', 'stock', '1', query, path), t.inStockOnly),
    priceFields(path, query, facets, currency),
    query.has('q') && choices('category', t.sections, facets.category, path, query, categoryName),
    choices('brand', t.brand, facets.brand, path, query, (name) => name),
    group(
      t.rating,
      ['4', '3'].map((least) => {
        const id = `rating-${least}`;
        return h('label', { class: 'check', for: id }, box(id, 'rating', least, query, path), t.atLeast(least));
      }),
    ),
    active > 0 && h('a', { class: 'button', id: 'reset', href: withoutFilters(path, query) }, t.withoutFilters),
  ]);
  const keepOpen = (): void => {
    isOpen = details.open;
  };
  const details: HTMLDetailsElement = h('details', { class: 'filters', ontoggle: keepOpen }, [
    h('summary', {}, active === 0 ? t.filters : t.filtersActive(active)),
    form,
  ]);
  // Beside the list they are always open.
  details.open = isOpen || matchMedia('(min-width: 60rem)').matches;
  return details;
}

function group(title: string, ...children: Child[]): HTMLElement {
  return h('fieldset', {}, h('legend', {}, title), children);
}

function choices(
  name: string,
  title: string,
  values: Facets['brand'],
  path: string,
  query: URLSearchParams,
  label: (value: string) => string,
): Child {
  if (values === undefined || values.length < 2) return undefined;
  return group(
    title,
    values.slice(0, 12).map(({ value, count }) => {
      const id = `${name}-${value}`;
      return h('label', { class: 'check', for: id }, [
        box(id, name, value, query, path),
        h('span', { dir: 'auto' }, label(value)),
        h('span', { class: 'muted' }, count),
      ]);
    }),
  );
}

function box(id: string, name: string, value: string, query: URLSearchParams, path: string): HTMLInputElement {
  const isChosen = query.getAll(name).includes(value);
  const change = (): void => {
    const others = name === 'rating' ? [] : query.getAll(name).filter((each) => each !== value);
    go(path, query, name, isChosen ? others : [...others, value]);
  };
  return h('input', { type: 'checkbox', id, checked: isChosen, onchange: change });
}

function priceFields(path: string, query: URLSearchParams, { price = [] }: Facets, currency: string): Child {
  if (price.length < 2) return undefined;
  const field = (name: 'from' | 'to', label: string): HTMLElement => {
    const id = `price-${name}`;
    const input: HTMLInputElement = h('input', {
      id,
      type: 'number',
      min: 0,
      step: 'any',
      inputmode: 'decimal',
      value: query.get(name) ?? undefined,
      onchange: () => go(path, query, name, [input.value]),
    });
    return h('div', { class: 'field' }, h('label', { for: id }, label), input);
  };
  const [sign = ''] = money(0, currency).match(/[^\d\s.,]+/) ?? [];
  return group(`${t.price} (${sign})`, h('div', { class: 'range' }, field('from', t.from), field('to', t.to)));
}

function go(path: string, query: URLSearchParams, name: string, values: readonly string[]): void {
  const next = new URLSearchParams([...query].filter(([each]) => each !== name));
  for (const value of values) if (value !== '') next.append(name, value);
  navigate(next.size === 0 ? path : `${path}?${next}`);
}

export function withoutFilters(path: string, query: URLSearchParams): string {
  return `${path}?${new URLSearchParams([...query].filter(([name]) => !filterNames.includes(name)))}`;
}
