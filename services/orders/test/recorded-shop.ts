// Runs orders alone, with the recordings of the catalogue in its place.
import { newId } from '@shop/shared/runtime';
import {
  type RecordedService,
  startRecordedService,
  startServices,
  type TestAnswer,
  type TestServices,
} from '@shop/shared/testing';

export interface RecordedShop {
  readonly services: TestServices;
  readonly catalogue: RecordedService;
  /** The ids of the products in the recordings. */
  readonly lamp: string;
  readonly chair: string;
  /** Orders two lamps and a chair, with further members of the request. */
  order(accountId: string, more?: object): Promise<TestAnswer>;
  /** Asks for the price of two lamps and a chair, without a token unless there is an account. */
  quote(accountId?: string): Promise<TestAnswer>;
  /** Sends a request about an order as its customer. */
  asCustomer(accountId: string, orderId: string, action: string, body?: object): Promise<TestAnswer>;
  /** Sends a request about an order or a return with all scopes. */
  asStaff(id: string, action: string, body?: object, of?: 'orders' | 'returns'): Promise<TestAnswer>;
  stop(): Promise<void>;
}

export async function startRecordedShop(environment: Readonly<Record<string, string>> = {}): Promise<RecordedShop> {
  const [lamp, chair] = [newId(), newId()];
  const texts = { lamp, chair, detail: 'The catalogue refuses.', reason: 'is not possible' };
  const catalogue = await startRecordedService('orders', 'catalogue', texts);
  const services = await startServices(['orders'], {
    environment: { CATALOGUE_URL: catalogue.url, HOLD_ORDERS: '2', HOLD_UNITS: '100', ...environment },
  });
  const { client } = services.service('orders');
  const items = [
    { productId: lamp, quantity: 2 },
    { productId: chair, quantity: 1 },
  ];
  return {
    services,
    catalogue,
    lamp,
    chair,
    async order(accountId, more) {
      const token = await services.issuer.sign({ accountId });
      return client.post('/v1/orders', { token, body: { items, ...more } });
    },
    async quote(accountId) {
      const token = accountId === undefined ? undefined : await services.issuer.sign({ accountId });
      return client.post('/v1/quotes', { body: { items }, ...(token !== undefined && { token }) });
    },
    async asCustomer(accountId, orderId, action, body) {
      return client.post(`/v1/orders/${orderId}/${action}`, { token: await services.issuer.sign({ accountId }), body });
    },
    async asStaff(id, action, body, of = 'orders') {
      const scopes = ['orders:fulfil', 'orders:read-all', 'payments:write'];
      return client.post(`/v1/${of}/${id}/${action}`, { token: await services.issuer.sign({ scopes }), body });
    },
    async stop() {
      await services.stop();
      await catalogue.close();
    },
  };
}
