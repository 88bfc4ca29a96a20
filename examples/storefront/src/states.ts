// What a page shows when it has nothing else to show: it is loading, empty, refused, offline or not found.
import { isShopError } from '@shop/client';
import { type Child, h, replaceContent } from './dom.ts';
import { t } from './texts.ts';

/** Grey blocks in place of the content. Their sizes are those of the content, so that nothing moves later. */
export function skeleton(...blocks: readonly (string | HTMLElement)[]): HTMLElement {
  return h('div', { class: 'page skeleton', 'aria-busy': 'true' }, [
    h('p', { class: 'unseen', role: 'status' }, t.loading),
    blocks.map((block) => (typeof block === 'string' ? h('div', { class: block }) : block)),
  ]);
}

/** A page with a title, one sentence, and what to do next. */
export function message(title: string, text: Child, ...actions: readonly Child[]): HTMLElement {
  return h(
    'div',
    { class: 'page message' },
    h('h1', {}, title),
    h('p', { dir: 'auto' }, text),
    h('div', { class: 'actions' }, actions),
  );
}

/** A note inside a page that has more to show. */
export function notice(kind: 'info' | 'success' | 'warning' | 'danger', ...children: readonly Child[]): HTMLElement {
  return h('div', { class: `notice ${kind}`, role: kind === 'danger' ? 'alert' : 'status' }, children);
}

/**
 * Shows a part of a page when its data is there.
 * @param placeholder is shown until then, in the size of the part
 * @param failed what is shown without the data; nothing by default, because the page is complete without the part
 */
export function later<Data>(
  data: Promise<Data>,
  placeholder: HTMLElement,
  show: (data: Data) => Child,
  failed: (error: unknown) => Child = () => undefined,
): HTMLElement {
  const part = h('div', { class: 'part', 'aria-busy': 'true' }, placeholder);
  const put = (content: Child): void => {
    part.removeAttribute('aria-busy');
    replaceContent(part, content);
  };
  data.then(
    (given) => put(show(given)),
    (error: unknown) => put(failed(error)),
  );
  return part;
}

export function notFoundView(): { title: string; content: HTMLElement } {
  const home = h('a', { class: 'button primary', href: '/' }, t.toHome);
  return { title: t.notFoundTitle, content: message(t.notFoundTitle, t.notFoundText, home) };
}

/**
 * The page of a failure: what the shop's problem document says, or that the shop is unreachable.
 * @param retry called by the button, and when the browser is online again
 */
export function refusedView(
  error: unknown,
  retry: () => unknown,
  signal: AbortSignal,
): { title: string; content: HTMLElement } {
  // An id that no product can have is refused as invalid.
  const isInvalidId = isShopError(error) && error.status === 400 && error.operation.startsWith('get');
  const isMissing = isInvalidId || error instanceof URIError || (isShopError(error) && error.status === 404);
  if (isMissing) return notFoundView();
  // Any other error is one of this page, such as a module that a new version no longer has.
  const isOfRequest = isShopError(error) || isConnectionError(error);
  const again = isOfRequest ? retry : () => location.reload();
  const button = h('button', { type: 'button', class: 'primary', onclick: again }, t.tryAgain);
  if (isConnectionError(error) || !navigator.onLine) {
    addEventListener('online', again, { once: true, signal });
    return { title: t.offlineTitle, content: message(t.offlineTitle, t.offlineText, button) };
  }
  const text = isOfRequest ? explain(error) : t.loadAgainText;
  return { title: t.refusedTitle, content: message(t.refusedTitle, text, button) };
}

/** Whether a request of the client got no response. The error of `fetch` is the cause. */
function isConnectionError(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof TypeError;
}

/** Returns why a request failed, with the id by which the shop finds it in its logs. */
export function explain(error: unknown): Child {
  if (isConnectionError(error)) return t.offlineText;
  if (!isShopError(error)) return error instanceof Error ? error.message : String(error);
  const id = error.requestId === undefined ? undefined : [' ', h('small', {}, t.requestId(error.requestId))];
  return [error.message, id];
}
