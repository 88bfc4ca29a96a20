// Helpers for the tests of the inventory: internal calls, a substitute for the orders service, stock figures, and the
// verification of the ledger.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@jest/globals';
import { createServiceTokens } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import {
  eventually,
  lockWaits,
  type StartOptions,
  startServices,
  type TestAnswer,
  type TestServices,
  testSecret,
} from '@shop/shared/testing';
import { type StockReport, verifyStock } from '../src/operator/index.ts';
import { addProducts } from './products.ts';

/** The reply of the orders service about a reservation; undefined closes the connection. */
export type Verdict = { state: 'exists'; orderId: string } | { state: 'absent' } | undefined;

export interface HoldLimits {
  readonly orders?: number;
  readonly units?: number;
}

export interface Inventory {
  readonly services: TestServices;
  /** Sets the reply to the catalogue's request; default absent. */
  answer(verdict: (reservationId: string) => Verdict): void;
  /** Reservations about which the catalogue has asked. */
  readonly asked: string[];
  product(stock: number, status?: string): Promise<string>;
  /** Reserves quantities of products under an id. Without limits the reservation is not counted. */
  reserve(
    id: string,
    items: Readonly<Record<string, number>>,
    accountId?: string,
    holdLimits?: HoldLimits,
  ): Promise<TestAnswer>;
  /** `orders/units` that an account holds; undefined when none was ever counted. */
  held(accountId: string): Promise<string | undefined>;
  release(id: string): Promise<TestAnswer>;
  allocate(id: string): Promise<TestAnswer>;
  /** The headers by which the orders service authenticates such a call. */
  headersFor(path: string, body?: object): Readonly<Record<string, string>>;
  /** The figures of a product as `stock/reserved/oversold`. */
  figures(productId: string): Promise<string>;
  /** The kinds and quantities of a product's movements, in order. */
  book(productId: string): Promise<string>;
  state(reservationId: string): Promise<string | undefined>;
  /** Verifies the stock of this or another database. */
  verify(url?: string): Promise<StockReport>;
  stop(): Promise<void>;
}

/**
 * Runs `change` while the product with the lowest id is locked. Returns the other products that are locked when
 * `change` waits for the first one. A change that locks in the order of ids has locked none of them.
 */
export async function lockedMeanwhile(
  { services }: Inventory,
  productIds: readonly string[],
  change: () => Promise<unknown>,
): Promise<string[]> {
  const { database } = services.service('catalogue');
  const client = await database.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT id FROM products WHERE id = ANY ($1::uuid[]) ORDER BY id LIMIT 1 FOR UPDATE', [
      productIds,
    ]);
    const changed = change();
    await eventually(async () => expect(await lockWaits(database)).toBe(1));
    const free = 'SELECT id FROM products WHERE id = ANY ($1::uuid[]) FOR UPDATE SKIP LOCKED';
    const { rows } = await database.query<{ id: string }>(free, [productIds]);
    await client.query('ROLLBACK');
    await changed;
    const [, ...others] = [...productIds].sort();
    return others.filter((id) => !rows.some((row) => row.id === id));
  } finally {
    client.release();
  }
}

/** The substitute of the orders service. The files of a worker share it with the processes that call it. */
let substitute: Promise<string> | undefined;
let replyOfFile: (reservationId: string) => Verdict;

export async function startInventory(options: StartOptions = {}): Promise<Inventory> {
  let verdict: (reservationId: string) => Verdict = () => ({ state: 'absent' });
  const asked: string[] = [];
  replyOfFile = (reservationId) => {
    asked.push(reservationId);
    return verdict(reservationId);
  };
  substitute ??= standIn((reservationId) => replyOfFile(reservationId));
  const environment = { ORDERS_URL: await substitute, ...options.environment };
  const shared = Object.keys(options).length === 0;
  const services = await startServices(['catalogue'], { shared, ...options, environment });
  const { client, database } = services.service('catalogue');
  const tokens = createServiceTokens({ secrets: [testSecret], name: 'orders' });
  const headersFor = (path: string, body?: object) => {
    const call = { method: 'POST', path, body: body === undefined ? '' : JSON.stringify(body) };
    return { Authorization: tokens.sign('catalogue', call) };
  };
  const internal = (path: string, body?: object): Promise<TestAnswer> =>
    client.post(path, { body, headers: headersFor(path, body) });
  return {
    services,
    asked,
    headersFor,
    answer(next) {
      verdict = next;
    },
    async product(stock, status = 'active') {
      return String((await addProducts(services, [{ name: 'Cup', stock, status }]))[0]);
    },
    reserve(reservationId, items, accountId = defaultAccount, holdLimits = undefined) {
      const lines = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
      return internal('/internal/reservations', { reservationId, accountId, lines, holdLimits });
    },
    async held(accountId) {
      const text = "SELECT orders || '/' || units AS held FROM account_holds WHERE account_id = $1";
      return (await database.query(text, [accountId])).rows[0]?.held;
    },
    release: (id) => internal(`/internal/reservations/${id}/release`),
    allocate: (id) => internal(`/internal/reservations/${id}/allocate`),
    async figures(productId) {
      const { rows } = await database.query(
        "SELECT concat_ws('/', stock, reserved, oversold) AS figures FROM products WHERE id = $1",
        [productId],
      );
      return rows[0].figures;
    },
    async book(productId) {
      const { rows } = await database.query(
        "SELECT string_agg(kind || ' ' || quantity, ', ' ORDER BY id) AS book FROM stock_ledger WHERE product_id = $1",
        [productId],
      );
      return rows[0].book;
    },
    async state(reservationId) {
      return (await database.query('SELECT state FROM reservations WHERE id = $1', [reservationId])).rows[0]?.state;
    },
    verify: (url = services.database.urls.catalogue) => verifyStock({ DATABASE_URL: url }),
    stop: () => services.stop(),
  };
}

const defaultAccount = newId();

/** A server that replies in place of the orders service, so that a test can choose the reply. */
function standIn(verdict: (reservationId: string) => Verdict): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const answer = verdict(JSON.parse(text).reservationId);
      if (answer === undefined) return request.socket.destroy();
      response.setHeader('Content-Type', 'application/json');
      return response.end(JSON.stringify(answer));
    });
  });
  server.on('connection', (socket) => socket.unref()).unref();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}
