// The attacked operations: those with a body or filters, each with the cheapest request that it accepts.
import { loadContract, maxBodyBytes } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import { serviceFolder } from '@shop/shared/testing';
import type { BenchShop } from '../orders/shop.ts';

export interface Asked {
  readonly path: string;
  readonly body?: string;
}

export interface AttackedOperation {
  readonly operationId: string;
  readonly service: 'accounts' | 'orders' | 'catalogue';
  readonly method: string;
  readonly mediaType: string;
  readonly token: string;
  /** Bytes of the body, or of the query when there is no body. */
  readonly bytes: number;
  /** The path that the attacks request, without its query. */
  readonly path: string;
  /** Returns the cheapest accepted request of that size. */
  accepted(turn: number): Asked;
}

type Described = Pick<AttackedOperation, 'operationId' | 'service' | 'token' | 'path'> & {
  /** JSON of the cheapest accepted body. */
  readonly body?: (turn: number) => object;
};

const queryBytes = 7_500;
const moments = Array.from({ length: 100 }, (_, index) => `2026-11-21T00:00:00.${String(index).padStart(3, '0')}Z`);
const escaped = (text: string): string => [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

export async function attackedOperations(shop: BenchShop): Promise<AttackedOperation[]> {
  const staff = await shop.grant('catalogue:write');
  const [, customer = ''] = shop.customers;
  const [product = ''] = shop.products;
  const { id = '' } = await shop.post('/v1/orders', customer, { items: [{ productId: product, quantity: 1 }] });
  await shop.post(`/v1/orders/${id}/cancel`, customer);
  const person = { email: 'customer-1@shop.example', password: 'only for the benchmark' };
  const fresh = (): string => `${newId()}@shop.example`;
  const described: Described[] = [
    { ...at('accounts', 'registerAccount', '/v1/accounts'), body: () => ({ ...person, name: 'Kim', email: fresh() }) },
    { ...at('accounts', 'updateAccount', '/v1/accounts/me', customer), body: (turn) => ({ name: `Kim ${turn}` }) },
    { ...at('accounts', 'issueToken', '/v1/tokens'), body: () => person },
    { ...at('accounts', 'revokeToken', '/v1/tokens/revoke'), body: () => ({ refresh_token: newId() }) },
    {
      ...at('orders', 'createOrder', '/v1/orders', customer),
      body: () => ({ items: [{ productId: product, quantity: 1 }] }),
    },
    { ...at('orders', 'cancelOrder', `/v1/orders/${id}/cancel`, customer), body: () => ({}) },
    { ...at('orders', 'listOrders', '/v1/orders', customer) },
    {
      ...at('catalogue', 'createProduct', '/v1/products', staff),
      body: () => ({ name: 'Cup', brand: 'Acme', category: 'Kitchen', price: 9.99 }),
    },
    {
      ...at('catalogue', 'updateProduct', `/v1/products/${product}`, staff),
      body: (turn) => ({ stock: 10_000_000 + turn }),
    },
    { ...at('catalogue', 'searchProducts', '/v1/products/search'), body: () => ({}) },
    { ...at('catalogue', 'listProducts', '/v1/products') },
  ];
  return described.map(complete);
}

function at(service: AttackedOperation['service'], operationId: string, path: string, token = '') {
  return { service, operationId, path, token };
}

function complete({ body, ...described }: Described): AttackedOperation {
  const { operations } = loadContract(`${serviceFolder(described.service)}/openapi.yaml`);
  const operation = operations.find(({ operationId }) => operationId === described.operationId);
  if (operation === undefined) throw new Error(`there is no operation ${described.operationId}`);
  const bytes = body === undefined ? queryBytes : (operation.maxBytes ?? maxBodyBytes);
  const query = `createdAt=${moments.map(escaped).join()}`;
  return {
    ...described,
    method: operation.method.toUpperCase(),
    mediaType: operation.body?.mediaTypes[0] ?? '',
    bytes,
    accepted: (turn) =>
      body === undefined
        ? { path: `${described.path}?${query}` }
        : { path: described.path, body: JSON.stringify(body(turn)).padEnd(bytes) },
  };
}
