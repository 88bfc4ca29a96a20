// The operator's functions of the services. They are loaded when a command runs, because its help needs none of them.
import type { Environment } from '@shop/shared/runtime';
import { withShop } from './open-shop.ts';
import { operatorEnvironment } from './processes.ts';

export const operators = {
  accounts: () => import('@shop/accounts/operator'),
  catalogue: () => import('@shop/catalogue/operator'),
  changes: () => import('@shop/changes/operator'),
  notifications: () => import('@shop/notifications/operator'),
  orders: () => import('@shop/orders/operator'),
} as const;

type Service = keyof typeof operators;

export type Operator<Name extends Service> = Awaited<ReturnType<(typeof operators)[Name]>>;

/** Runs `use` with the functions of a service of the shop, and with the environment that they get. */
export async function withOperator<Name extends Service, Result>(
  service: Name,
  use: (operator: Operator<Name>, environment: Environment) => Promise<Result>,
): Promise<Result> {
  const operator = (await operators[service]()) as Operator<Name>;
  return withShop((shop) => use(operator, operatorEnvironment(shop, service)));
}
