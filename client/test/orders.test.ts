// The client places and cancels orders, and waits for their states and effects.
import { afterEach, describe, expect, it } from '@jest/globals';
import { createShop, type OrderEffect, type OrderStatus } from '../src/index.ts';
import { type FaultyShop, type Reaction, refused, startFaultyShop } from './faulty-shop.ts';

const id = '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01';
let server: FaultyShop;
afterEach(() => server.close());

interface State {
  readonly history: readonly object[];
  readonly cancellation?: object;
}

/**
 * Returns a client of a shop whose order has the given states, one for each request for its history. The last one
 * stays.
 */
async function clientOf(...states: readonly State[]) {
  let state: State | undefined;
  let read = 0;
  server = await startFaultyShop(({ line }): Reaction => {
    if (!line.endsWith('/history')) return { status: 200, body: { id, cancellation: state?.cancellation } };
    state = states[Math.min(read, states.length - 1)];
    read += 1;
    return { status: 200, body: { items: state?.history } };
  });
  return createShop({ baseUrl: server.url, attempts: 1 });
}

const reached = (...statuses: OrderStatus[]): State => ({ history: statuses.map((status) => ({ status })) });
const cancelled = (effect: OrderEffect, state: string): State => ({
  ...reached('pending', 'cancelled'),
  cancellation: { [effect]: { state } },
});
/** Some units of the order are cancelled, and the order continues with the others. */
const reduced = (effect: OrderEffect, state: string): State => ({
  history: [{ status: 'pending' }, { status: 'pending', cancelledLines: [], [effect]: { state } }],
});

describe('an order', () => {
  it('an order is placed and cancelled with the caller’s own key', async () => {
    const shop = await clientOf();
    const item = { productId: id, quantity: 2 };
    const placed = await shop.orders.place({ items: [item] }, { idempotencyKey: 'mine' });
    expect(placed.id).toBe(id);
    await shop.orders.cancel(placed.id, { cancellation_reason: 'Ordered twice' }, { idempotencyKey: 'mine too' });
    await shop.orders.cancel(placed.id);
    expect(server.seen.map(({ line, body }) => [line, JSON.parse(body)])).toEqual([
      ['POST /v1/orders', { items: [item] }],
      [`POST /v1/orders/${id}/cancel`, { cancellation_reason: 'Ordered twice' }],
      [`POST /v1/orders/${id}/cancel`, {}],
    ]);
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(['mine', 'mine too', expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });
});

describe('waiting for an order', () => {
  it.each<[string, OrderStatus | OrderEffect | OrderStatus[], State]>([
    ['has a status', 'shipped', reached('pending', 'processing', 'shipped')],
    ['had the status before', 'processing', reached('pending', 'processing', 'shipped')],
    ['has one of several statuses', ['shipped', 'cancelled'], reached('pending', 'cancelled')],
    ['has an effect', 'stockReleased', cancelled('stockReleased', 'done')],
    ['has an effect of cancelled units', 'customerNotified', reduced('customerNotified', 'done')],
  ])('waiting for an order ends when it %s', async (_name, goal, state) => {
    const shop = await clientOf(reached('pending'), state);
    const { cancellation } = state;
    expect(await shop.orders.waitFor(id, goal)).toEqual({ id, ...(cancellation && { cancellation }) });
    expect(server.seen.filter(({ line }) => line.endsWith('/history'))).toHaveLength(2);
    expect(server.seen.at(-1)?.line).toBe(`GET /v1/orders/${id}`);
  });

  it.each<[string, OrderStatus | OrderEffect, State, string]>([
    [
      'is cancelled instead',
      'shipped',
      reached('pending', 'cancelled'),
      'The order is cancelled: shipped cannot follow.',
    ],
    [
      'is delivered instead',
      'stockReleased',
      reached('delivered'),
      'The order is delivered: stockReleased cannot follow.',
    ],
    [
      'is shipped instead',
      'cancelled',
      reached('pending', 'shipped'),
      'The order is shipped: cancelled cannot follow.',
    ],
    [
      'is shipped, and so is not cancelled',
      'customerNotified',
      reached('pending', 'shipped'),
      'The order is shipped: customerNotified cannot follow.',
    ],
    [
      'has an effect that failed',
      'customerNotified',
      cancelled('customerNotified', 'failed'),
      'The order is cancelled, and customerNotified has failed: customerNotified cannot follow.',
    ],
  ])('waiting for an order fails when it %s', async (_name, goal, state, message) => {
    const shop = await clientOf(state);
    const { history } = state;
    await expect(shop.orders.waitFor(id, goal)).rejects.toMatchObject({ reason: 'unreachable', message, history });
    expect(server.seen.filter(({ line }) => line.endsWith('/history'))).toHaveLength(1);
  });

  it('waiting for an order fails after its time limit, with the present history', async () => {
    const shop = await clientOf(cancelled('stockReleased', 'pending'));
    await expect(shop.orders.waitFor(id, 'stockReleased', { timeout: 600 })).rejects.toMatchObject({
      name: 'WaitError',
      reason: 'timeout',
      message: 'The order did not reach stockReleased within 0.6 s.',
      history: [{ status: 'pending' }, { status: 'cancelled', stockReleased: { state: 'pending' } }],
    });
    const { length } = server.seen;
    expect(length).toBeGreaterThan(1);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(server.seen).toHaveLength(length);
  });

  it('waiting for an order fails after its time limit when the order service does not respond', async () => {
    server = await startFaultyShop(({ line }) =>
      line.endsWith('/history') ? { status: 200, body: { items: [{ status: 'shipped' }] } } : 'silent',
    );
    const shop = createShop({ baseUrl: server.url });
    await expect(shop.orders.waitFor(id, 'shipped', { timeout: 300 })).rejects.toMatchObject({
      reason: 'timeout',
      message: 'The order could not be read within 0.3 s.',
    });
  });

  it.each([Number.POSITIVE_INFINITY, 2 ** 31])(
    'waiting for an order does not fail early with a timeout of %d',
    async (timeout) => {
      const shop = await clientOf(reached('pending'), reached('shipped'));
      expect(await shop.orders.waitFor(id, 'shipped', { timeout })).toEqual({ id });
    },
  );

  it('waiting for an order outlasts an outage', async () => {
    const outage: Reaction[] = ['break', 'cut', refused(502, 'bad-gateway'), refused(429, 'too-many-requests')];
    const history: Reaction = { status: 200, body: { items: [{ status: 'cancelled' }] } };
    const order: Reaction = { status: 200, body: { id } };
    // The order is read after its history.
    const reactions = [...outage, history, order, refused(503, 'service-unavailable'), history, order, order];
    server = await startFaultyShop((_, count) => reactions[count - 1] ?? 'break');
    const shop = createShop({ baseUrl: server.url, attempts: 1 });
    expect(await shop.orders.waitFor(id, 'cancelled')).toEqual({ id });
    expect(server.seen).toHaveLength(reactions.length);
  });

  it('waiting for an order names the failure of its last request when the time is over', async () => {
    server = await startFaultyShop(() => refused(503, 'service-unavailable'));
    const shop = createShop({ baseUrl: server.url, attempts: 1 });
    await expect(shop.orders.waitFor(id, 'shipped', { timeout: 400 })).rejects.toMatchObject({
      reason: 'timeout',
      cause: { name: 'ShopError', status: 503 },
    });
  });

  it.each([
    ['before it begins', 0],
    ['between two requests', 100],
  ])('waiting for an order ends with the reason of the caller who aborts it %s', async (_name, after) => {
    const shop = await clientOf(reached('pending'));
    const caller = new AbortController();
    const waiting = expect(shop.orders.waitFor(id, 'shipped', { signal: caller.signal })).rejects.toThrow('enough');
    if (after > 0) await new Promise((resolve) => setTimeout(resolve, after));
    caller.abort(new Error('enough'));
    await waiting;
    expect(server.seen.length).toBeLessThanOrEqual(1);
  });

  it('waiting for an order fails with the error response of the shop', async () => {
    server = await startFaultyShop(() => ({ status: 404, body: { code: 'not-found', detail: 'No such order.' } }));
    const shop = createShop({ baseUrl: server.url });
    await expect(shop.orders.waitFor(id, 'shipped')).rejects.toMatchObject({
      name: 'ShopError',
      operation: 'getOrderHistory',
      code: 'not-found',
    });
  });
});
