// Shows the page of an address. Back and forward show what was there, at the same place.
import { notFoundView, refusedView } from './states.ts';
import { t } from './texts.ts';

export interface Address {
  readonly path: string;
  /** The variable part of the path, such as the id of a product; empty without one. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Is aborted when the visitor leaves the page, unless Back may show it again. */
  readonly signal: AbortSignal;
}

export interface View {
  readonly title: string;
  readonly content: HTMLElement;
  /** Whether Back shows this content again without another request. */
  readonly keep?: boolean;
}

export type Page = (address: Address) => Promise<View>;

export interface Route {
  /** The path. A group is the id of the address. */
  readonly path: RegExp;
  readonly page: Page;
  /** What is shown until the page has its data. */
  readonly loading: () => HTMLElement;
}

interface Kept {
  readonly view: View;
  readonly scroll: number;
  readonly focused: Element | null;
}

interface Shown {
  readonly key: string;
  readonly path: string;
  readonly view: View;
  /** What leads away from it. */
  readonly leave: AbortController;
}

/** The contents to which Back may return. */
const kept = new Map<string, Kept>();
const mostKept = 20;
/** Milliseconds for which the page before stays, so that a quick answer does not flicker. */
const patience = 100;

let routes: readonly Route[] = [];
let main: HTMLElement;
let leave = new AbortController();
let shown: Shown | undefined;

/** Shows the page of the present address in an element, and those of all links from now on. */
export function startRouter(given: readonly Route[], element: HTMLElement): void {
  routes = given;
  main = element;
  history.scrollRestoration = 'manual';
  addEventListener('popstate', () => void show('back'));
  document.addEventListener('click', followLink);
  void show('first');
}

/** Goes to an address of the storefront. `replace` leaves no entry for Back. */
export function navigate(address: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  void show('link');
}

/** Shows the present page again, as after a change of the language. */
export function refresh(): void {
  kept.clear();
  void show('refresh');
}

function newKey(): string {
  return `${Date.now()} ${Math.random()}`;
}

/** Returns the key of the present entry of the history. A new one, which the browser makes for another `#`, too, gets a key. */
function keyNow(): string {
  const { key = newKey() } = (history.state ?? {}) as { readonly key?: string };
  history.replaceState({ key }, '');
  return key;
}

function pathNow(): string {
  return location.pathname.replace(/(?<=.)\/$/, '');
}

/** Keeps what is shown, if Back may show it again. */
function keepShown(): void {
  if (shown?.view.keep !== true) return;
  kept.delete(shown.key);
  kept.set(shown.key, { view: shown.view, scroll: scrollY, focused: document.activeElement });
  for (const key of [...kept.keys()].slice(0, -mostKept)) kept.delete(key);
}

function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (link === null || !isPlain || event.defaultPrevented || link.target !== '' || link.origin !== location.origin)
    return;
  if (link.hash !== '' || !routes.some(({ path }) => path.test(link.pathname))) return;
  event.preventDefault();
  navigate(link.pathname + link.search, { replace: link.dataset.replace !== undefined });
}

async function show(how: 'first' | 'link' | 'back' | 'refresh'): Promise<void> {
  const key = keyNow();
  if (how !== 'refresh') keepShown();
  const isKept = shown !== undefined && shown.leave === leave && kept.has(shown.key);
  // An abort costs time at the first view, when there is nothing to leave.
  if (how !== 'first' && !isKept) leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const before = how === 'back' ? kept.get(key) : undefined;
  if (before !== undefined) {
    put(before.view, key);
    scrollTo(0, before.scroll);
    if (before.focused instanceof HTMLElement && main.contains(before.focused))
      before.focused.focus({ preventScroll: true });
    else focusHeading(true);
    return;
  }
  const focused = document.activeElement?.id ?? '';
  const isSame = shown?.path === pathNow();
  const route = routes.find(({ path }) => path.test(pathNow()));
  main.setAttribute('aria-busy', 'true');
  // Other filters change what is there, and the focus stays.
  const showLoading = (): void => {
    if (isSame || signal.aborted) return;
    main.replaceChildren(route?.loading() ?? '');
    shown = undefined;
  };
  if (how === 'first') showLoading();
  const wait = how === 'first' ? undefined : setTimeout(showLoading, patience);
  const view = await viewOf(route, signal).catch((error: unknown) => {
    return refusedView(error, () => void show('refresh'), signal);
  });
  clearTimeout(wait);
  if (signal.aborted) return;
  put(view, key);
  const again = focused === '' ? null : document.getElementById(focused);
  if (again !== null && main.contains(again)) again.focus({ preventScroll: true });
  else if (how !== 'first') focusHeading(how === 'refresh');
}

/** @throws URIError when the path cannot be decoded; what the page throws */
async function viewOf(route: Route | undefined, signal: AbortSignal): Promise<View> {
  if (route === undefined) return notFoundView();
  const path = pathNow();
  const id = decodeURIComponent(route.path.exec(path)?.[1] ?? '');
  return route.page({ path, id, query: new URLSearchParams(location.search), signal });
}

/** Moves the focus to the heading, so that a screen reader reads it. */
function focusHeading(stay: boolean): void {
  if (!stay) scrollTo(0, 0);
  const heading = main.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}

function put(view: View, key: string): void {
  shown = { key, path: pathNow(), view, leave };
  main.removeAttribute('aria-busy');
  main.replaceChildren(view.content);
  document.title = view.title === '' ? t.shopName : `${view.title} · ${t.shopName}`;
}
