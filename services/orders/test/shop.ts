// Runs orders and the catalogue as real processes for the tests of orders.
import { createServiceTokens } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import type { ServiceName } from '@shop/shared/shop';
import {
  type CallOptions,
  type StartOptions,
  startServices,
  type TestAnswer,
  type TestClient,
  type TestServices,
  testSecret,
} from '@shop/shared/testing';

export interface Customer {
  readonly accountId: string;
  readonly token: string;
}

export interface Stock {
  readonly stock: number;
  readonly reserved: number;
  readonly oversold: number;
}

export interface NewProduct {
  readonly stock?: number;
  readonly price?: number;
  readonly status?: string;
  readonly name?: string;
  readonly brand?: string;
  readonly category?: string;
  readonly taxCategory?: string;
  readonly weight?: number;
  readonly shipped?: boolean;
}

export interface TestShop {
  readonly services: TestServices;
  readonly orders: TestClient;
  readonly catalogue: TestClient;
  /** Staff with all scopes. */
  readonly staff: Customer;
  customer(...scopes: string[]): Promise<Customer>;
  /**
   * Creates a product.
   * @returns its id
   */
  product(product?: NewProduct): Promise<string>;
  stockOf(productId: string): Promise<Stock>;
  /**
   * Creates a shipping method, a tax rate or a discount.
   * @returns its id
   */
  configure(path: 'shipping-methods' | 'tax-rates' | 'discounts', body: object): Promise<string>;
  /** Places an order; a number stands for one product's quantity. */
  order(customer: Customer, items: Readonly<Record<string, number>>, options?: CallOptions): Promise<TestAnswer>;
  act(who: Customer, orderId: string, action: string, options?: CallOptions): Promise<TestAnswer>;
  view(who: Customer, orderId: string): Promise<TestAnswer>;
  /** Sends a call from one service to another. */
  internal(service: 'orders' | 'catalogue', path: string, body?: unknown): Promise<TestAnswer>;
  stop(): Promise<void>;
}

/** Starts orders, the catalogue, and further services. */
export async function startShop(options: StartOptions = {}, further: readonly ServiceName[] = []): Promise<TestShop> {
  const services = await startServices(['orders', 'catalogue', ...further], options);
  const orders = services.service('orders').client;
  const catalogue = services.service('catalogue').client;
  const tokens = createServiceTokens({ secrets: [testSecret], name: 'tests' });
  const customer = async (...scopes: string[]): Promise<Customer> => {
    const accountId = newId();
    return { accountId, token: await services.issuer.sign({ accountId, scopes }) };
  };
  const staff = await customer(
    'catalogue:write',
    'orders:fulfil',
    'orders:read-all',
    'payments:write',
    'settings:write',
  );
  return {
    services,
    orders,
    catalogue,
    staff,
    customer,
    async product(product = {}) {
      const usual = { name: 'Cup', brand: 'Acme', category: 'Kitchen', price: 9.99, status: 'active', stock: 10 };
      const body = { ...usual, ...product };
      const answer = await catalogue.post('/v1/products', { token: staff.token, body });
      return String(answer.body.id);
    },
    async configure(path, body) {
      const answer = await orders.post(`/v1/${path}`, { token: staff.token, body });
      if (answer.status !== 201) throw new Error(answer.text);
      return String(answer.body.id);
    },
    async stockOf(productId) {
      const { database } = services.service('catalogue');
      const { rows } = await database.query<Stock>('SELECT stock, reserved, oversold FROM products WHERE id = $1', [
        productId,
      ]);
      const [row] = rows;
      if (row === undefined) throw new Error(`there is no product ${productId}`);
      return row;
    },
    order(who, items, more = {}) {
      const lines = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
      return orders.post('/v1/orders', { token: who.token, body: { items: lines }, ...more });
    },
    act: (who, orderId, action, more) => orders.post(`/v1/orders/${orderId}/${action}`, { token: who.token, ...more }),
    view: (who, orderId) => orders.get(`/v1/orders/${orderId}`, { token: who.token }),
    async internal(service, path, body) {
      const client = service === 'orders' ? orders : catalogue;
      const call = { method: 'POST', path, body: body === undefined ? '' : JSON.stringify(body) };
      return client.post(path, { body, headers: { Authorization: tokens.sign(service, call) } });
    },
    stop: () => services.stop(),
  };
}
