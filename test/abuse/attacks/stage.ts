// Accounts, orders and the catalogue as real processes, with a customer, staff, and an order and a product to attack.
import { join } from 'node:path';
import { staffScopes } from '@shop/accounts/operator/values';
import type { Node } from '@shop/shared/contract';
import { readDocument } from '@shop/shared/contract';
import {
  type CallOptions,
  serviceFolder,
  startServices,
  type TestAnswer,
  type TestServices,
} from '@shop/shared/testing';

export const serviceNames = ['accounts', 'orders', 'catalogue'] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface Stage {
  readonly services: TestServices;
  readonly accountId: string;
  readonly customer: string;
  readonly staff: string;
  readonly productId: string;
  readonly orderId: string;
  /** Sends a request directly to a service. @returns the fault of the reply, or undefined */
  attack(service: ServiceName, method: string, path: string, options: CallOptions): Promise<string | undefined>;
  /** Another order of the customer. */
  order(): Promise<string>;
  stop(): Promise<void>;
}

/** The parsed contract of a service. */
export const documentOf = (service: ServiceName): Node => readDocument(join(serviceFolder(service), 'openapi.yaml'));

/** The fault of a reply: a failure of the shop, or a 503 without Retry-After. */
export function flawOf({ status, headers, text }: TestAnswer): string | undefined {
  if (status < 500 || (status === 503 && headers['retry-after'] !== undefined)) return undefined;
  return `${status} ${text.slice(0, 200)}`;
}

export async function startStage(): Promise<Stage> {
  const services = await startServices(serviceNames, { shared: false });
  const accounts = services.service('accounts').client;
  const email = 'attacked@shop.test';
  const registered = await accounts.post('/v1/accounts', {
    body: { email, name: 'Attacked', password: 'a long and quiet river' },
  });
  const accountId = String(registered.body.id);
  const customer = await services.issuer.sign({ accountId });
  const staff = await services.issuer.sign({
    scopes: staffScopes,
  });
  const product = { name: 'Cup', brand: 'Acme', category: 'kitchen', price: 9.99, status: 'active', stock: 1_000_000 };
  const created = await services.service('catalogue').client.post('/v1/products', { token: staff, body: product });
  const productId = String(created.body.id);
  const order = async (): Promise<string> => {
    const body = { items: [{ productId, quantity: 1 }] };
    return String((await services.service('orders').client.post('/v1/orders', { token: customer, body })).body.id);
  };
  return {
    services,
    accountId,
    customer,
    staff,
    productId,
    orderId: await order(),
    order,
    async attack(service, method, path, options) {
      try {
        return flawOf(await services.service(service).client.call(method, path, options));
      } catch (error) {
        return String(error);
      }
    },
    stop: () => services.stop(),
  };
}

/** Runs `work` for each item, eight at a time. @returns what it returned, without the undefined */
export async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<string | undefined>,
): Promise<string[]> {
  const through: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const flaw = await work(items[index] as Item, index);
      if (flaw !== undefined) through.push(flaw);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return through;
}
