// The settings of prices, for tests: a valid body of each kind, and staff who may change them.
import { newId } from '@shop/shared/runtime';
import {
  type CallOptions,
  startServices,
  type TestAnswer,
  type TestClient,
  type TestServices,
} from '@shop/shared/testing';

export const kinds = {
  'shipping-methods': { name: { en: 'Standard', de: 'Standardversand' }, price: 7.9 },
  'tax-rates': { country: 'CH', rate: 8.1, name: 'VAT' },
  discounts: { name: 'Sale', kind: 'percent', value: 10 },
} as const;
export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as Kind[];

export interface SettingShop {
  readonly services: TestServices;
  readonly orders: TestClient;
  /** The access token of staff who may change settings, and their account. */
  readonly token: string;
  readonly accountId: string;
  /** Sends a body that has the members of a valid one and these. A member that is undefined is left out. */
  create(kind: Kind, change?: object, headers?: CallOptions['headers']): Promise<TestAnswer>;
  patch(kind: Kind, id: string, body: unknown, headers?: CallOptions['headers']): Promise<TestAnswer>;
  get(kind: Kind, id: string): Promise<TestAnswer>;
  archive(kind: Kind, id: string, headers?: CallOptions['headers']): Promise<TestAnswer>;
  /** Lists with a query string such as `?limit=2`. */
  list(kind: Kind, query?: string): Promise<TestAnswer>;
}

export async function startSettingShop(environment: Record<string, string> = {}): Promise<SettingShop> {
  const services = await startServices(['orders'], { environment });
  const orders = services.service('orders').client;
  const accountId = newId();
  const token = await services.issuer.sign({ accountId, scopes: ['settings:write'] });
  return {
    services,
    orders,
    token,
    accountId,
    create: (kind, change = {}, headers = {}) =>
      orders.post(`/v1/${kind}`, { token, body: { ...body(kind), ...change }, headers }),
    patch: (kind, id, change, headers = {}) =>
      orders.call('PATCH', `/v1/${kind}/${id}`, { token, body: change, headers }),
    get: (kind, id) => orders.get(`/v1/${kind}/${id}`, { token }),
    archive: (kind, id, headers = {}) => orders.call('DELETE', `/v1/${kind}/${id}`, { token, headers }),
    list: (kind, query = '') => orders.get(`/v1/${kind}${query}`, { token }),
  };
}

/** Each tax rate has a region of its own, because two equal ones are refused. */
function body(kind: Kind): object {
  return kind === 'tax-rates' ? { ...kinds[kind], region: newId() } : kinds[kind];
}
