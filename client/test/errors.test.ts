// The errors of the client: their messages, and the types that `instanceof` gives.
import { afterEach, describe, expect, it } from '@jest/globals';
import { createShop, isShopError, ShopError } from '../src/index.ts';
import { type FaultyShop, type Reaction, refused, startFaultyShop } from './faulty-shop.ts';

const order = { items: [{ productId: '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01', quantity: 1 }] };
let server: FaultyShop;
afterEach(async () => {
  Reflect.deleteProperty(globalThis, 'location');
  await server.close();
});

async function errorOf(reaction: Reaction, attempts = 1): Promise<unknown> {
  server = await startFaultyShop(() => reaction);
  const shop = createShop({ baseUrl: server.url, attempts });
  return shop.orders.place(order).catch((error: unknown) => error);
}

const problem = (detail: string, ...errors: object[]): Reaction => ({
  status: 400,
  body: { type: '/problems/invalid-request', title: '', status: 400, code: 'invalid-request', detail, errors },
});

describe('the message of a refusal', () => {
  it.each<[string, string, Reaction]>([
    [
      'the first fault, its place and the number of others',
      'The request is invalid. /items/0/quantity: must be at most 999 (and 1 more)',
      problem(
        'The request is invalid.',
        { pointer: '/items/0/quantity', detail: 'must be at most 999' },
        { parameter: 'x', detail: 'is unknown' },
      ),
    ],
    [
      'a fault once, when the detail is the fault',
      'price: is no number',
      problem('price: is no number', { parameter: 'price', detail: 'is no number' }),
    ],
    ['the detail, when there is no fault', 'Try later.', problem('Try later.')],
  ])('the message of an error response contains %s', async (_name, message, reaction) => {
    expect(await errorOf(reaction)).toMatchObject({ name: 'ShopError', message });
  });

  it('the message of an error response contains the address when another server responds', async () => {
    const error = await errorOf({ status: 404, headers: { 'Content-Type': 'text/html' }, body: '<h1>' });
    expect(error).toMatchObject({ message: `The answer of ${server.url}/v1/orders was 404 Not Found` });
  });
});

describe('the error of a request without a response', () => {
  it('the error of a request without a response is a TypeError with the address, the reason and the error of fetch', async () => {
    const error = await errorOf('break');
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({
      message: `POST ${server.url}/v1/orders got no response: fetch failed (other side closed)`,
      cause: expect.objectContaining({ message: 'fetch failed' }),
    });
  });

  it('the error of a request without a response contains the reason when the port is closed', async () => {
    server = await startFaultyShop(() => 'break');
    await server.close();
    const { host } = new URL(server.url);
    const failed = createShop({ baseUrl: server.url, attempts: 1 }).brands.page();
    await expect(failed).rejects.toThrow(
      `GET http://${host}/v1/brands got no response: fetch failed (connect ECONNREFUSED ${host})`,
    );
  });

  it('the error of a request without a response has the address as it was given, when its scheme is missing', async () => {
    const failed = createShop({ baseUrl: 'localhost:8080', attempts: 1 }).brands.page();
    await expect(failed).rejects.toThrow('GET localhost:8080/v1/brands got no response');
  });

  it('the error of a request without a response names CORS_ORIGINS and the origin only in a page of another origin', async () => {
    const open = (origin: string) =>
      Object.defineProperty(globalThis, 'location', { value: { origin }, configurable: true });
    open('http://localhost:5173');
    expect(String(await errorOf('break'))).toMatch(
      /does not allow pages of http:\/\/localhost:5173: CORS_ORIGINS of its gateway/,
    );
    open(server.url);
    const own = await createShop({ baseUrl: server.url, attempts: 1 }).me().catch(String);
    expect(own).not.toContain('CORS_ORIGINS');
  });
});

describe('instanceof ShopError', () => {
  it('instanceof ShopError narrows as isShopError does, and further by the operation', async () => {
    const error = await errorOf(refused(409, 'insufficient-stock'));
    if (!(error instanceof ShopError)) throw error;
    // @ts-expect-error no operation has this code
    expect(error.code === 'no-such-code').toBe(false);
    // @ts-expect-error nor is there such an operation
    expect(error.operation === 'noSuchOperation').toBe(false);
    if (error.operation === 'createOrder') {
      // @ts-expect-error createOrder never returns this code
      expect(error.code === 'email-already-registered').toBe(false);
      expect(error.code === 'insufficient-stock').toBe(true);
    }
    expect(error.operation).toBe('createOrder');
    if (isShopError(error, 'createOrder')) {
      // @ts-expect-error createOrder never returns this code
      expect(error.code === 'email-already-registered').toBe(false);
    }
  });

  it('instanceof ShopError is false for other errors and values, and for an error of another subclass', async () => {
    const error = await errorOf(refused(409, 'insufficient-stock'));
    class OwnError extends ShopError {}
    expect([error instanceof ShopError, error instanceof Error, error instanceof OwnError]).toEqual([
      true,
      true,
      false,
    ]);
    expect([undefined, {}, new Error('another')].some((each: unknown) => each instanceof ShopError)).toBe(false);
  });
});
