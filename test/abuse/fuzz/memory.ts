// What a run has seen in responses and e-mails, so that later requests reach deep states.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isNode, type Node, toNode } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';

/** The number of values that are remembered under one name. Older ones are forgotten. */
const most = 64;
/** The number of names, tags and totals that are remembered. */
const mostNames = 5_000;

export class Memory {
  readonly #values = new Map<string, string[]>();
  readonly #tags = new Map<string, string>();
  readonly #totals = new Map<string, number>();
  readonly #lines = new Map<string, readonly Line[]>();

  remember(name: string, value: unknown): void {
    if (typeof value !== 'string' || value === '') return;
    const values = this.#values.get(name) ?? [];
    keepIn(this.#values, name, values);
    if (values.includes(value)) return;
    values.push(value);
    if (values.length > most) values.shift();
  }

  /**
   * @returns the newest of the remembered values in half of the cases, because older ones are often used up, and
   *   otherwise any of them; a new id when there is none
   */
  pick(name: string, share: number): string {
    const values = this.#values.get(name) ?? [];
    const place = share < 0.5 ? values.length - 1 : Math.floor((2 * share - 1) * values.length);
    return values[place] ?? newId();
  }

  /** @returns one of the values under the first name that has any */
  pickFirst(names: readonly string[], share: number): string {
    const known = names.find((name) => this.#values.has(name)) ?? names.at(-1) ?? '';
    return this.pick(known, share);
  }

  /** The total cost of an order, as it was last seen. */
  totalOf(orderId: string): number {
    return this.#totals.get(orderId) ?? 10;
  }

  /** The lines of an order or of a return, as they were last seen. */
  linesOf(id: string): readonly Line[] {
    return this.#lines.get(id) ?? [];
  }

  /** The entity tag that the resource at a path had when it was last seen. */
  tagOf(path: string): string {
    return this.#tags.get(path) ?? '"1"';
  }

  /** Learns ids, cursors, tags and tokens from a response to a request. */
  learn(path: string, status: number, headers: Readonly<Record<string, string>>, body: unknown): void {
    if (status >= 300 || !isNode(body)) return;
    if (headers.etag !== undefined) this.#keepTag(path, headers.etag);
    const next = /<([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1];
    this.remember(`next ${path}`, next);
    this.remember('cursor', toNode(body.pagination).nextCursor);
    if (path === '/v1/changes') this.remember('changesCursor', body.nextCursor);
    this.remember('refreshToken', body.refresh_token);
    this.remember('quote', body.quote);
    const items = Array.isArray(body.items) ? body.items.filter(isNode) : [body];
    const kind = kindOf(path);
    for (const { id, email, code, totalCost, accountId, status, inStock, archived, itemsSummary, lines } of items) {
      if (kind !== undefined) this.remember(kind, id);
      if (kind === 'discountId') this.remember('discountCode', code);
      if (kind === 'returnId') {
        this.remember(`${status} returnId`, id);
        this.remember(`${status} returnId of ${accountId}`, id);
      }
      const units = kind === 'orderId' ? itemsSummary : lines;
      if (typeof id === 'string' && Array.isArray(units)) keepIn(this.#lines, id, units.filter(isLine));
      if (kind === 'orderId') this.remember(`orderId of ${accountId}`, id);
      if (kind === 'orderId') this.remember(`${status} orderId`, id);
      if (kind === 'productId' && status !== 'pending' && inStock === true && archived !== true)
        this.remember('sellable', id);
      if (kind === 'accountId') this.remember('email', email);
      if (kind === 'orderId' && typeof id === 'string' && typeof totalCost === 'number')
        keepIn(this.#totals, id, totalCost);
    }
  }

  #keepTag(path: string, tag: string): void {
    keepIn(this.#tags, path, tag);
    this.remember('etag', tag);
  }

  /** Learns the tokens of new e-mails, and deletes the files. */
  async readMail(folder: string): Promise<void> {
    for (const name of await readdir(folder)) {
      const file = join(folder, name);
      const kind = Object.keys(tokenPaths).find((each) => name.endsWith(`.${each}.eml`));
      const text = kind === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
      // Quoted-printable, with soft line breaks.
      const token = /#token=([\w-]+)/.exec(text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='))?.[1];
      if (kind !== undefined) this.remember(`token ${tokenPaths[kind]}`, token);
      await rm(file, { force: true });
    }
  }
}

/** A line of an order or of a return. */
interface Line extends Node {
  readonly productId: string;
}

const isLine = (value: unknown): value is Line => isNode(value) && typeof value.productId === 'string';

/** Keeps the value as the newest one. The oldest one is forgotten when there are too many. */
function keepIn<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > mostNames ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}

/** The kind of an e-mail → the operation that takes its token. */
const tokenPaths: Readonly<Record<string, string>> = {
  'email-verification': '/v1/email-verifications',
  'email-change-undo': '/v1/email-verifications/undo',
  'password-reset': '/v1/password-resets/confirm',
};

const settingIds: Readonly<Record<string, string>> = {
  'shipping-methods': 'shippingMethodId',
  'tax-rates': 'taxRateId',
  discounts: 'discountId',
};

function kindOf(path: string): string | undefined {
  if (/^\/v1\/accounts(\/[^/]+(\/erase)?)?$/.test(path)) return 'accountId';
  if (/^\/v1\/(orders\/[^/]+\/)?returns(\/[^/]+(\/(approve|refuse|receive|withdraw))?)?$/.test(path)) return 'returnId';
  const setting = /^\/v1\/(shipping-methods|tax-rates|discounts)(\/[^/]+)?$/.exec(path)?.[1];
  if (setting !== undefined) return settingIds[setting];
  if (/^\/v1\/orders(\/[^/]+(\/(cancel|process|ship|deliver))?)?$/.test(path)) return 'orderId';
  if (path === '/v1/products/imports' || path.startsWith('/v1/products-imports/')) return 'importId';
  if (/^\/v1\/products(\/[^/]+)?$/.test(path)) return 'productId';
  if (/^\/v1\/webhooks(\/[^/]+)?$/.test(path)) return 'webhookId';
  if (path === '/v1/changes') return 'changeId';
  return path === '/v1/sessions' ? 'sessionId' : undefined;
}
