// Clocks that are hours apart: of two processes of a service one is an hour ahead and the other an hour behind.
import type { ProblemCode } from '@shop/shared/problem';
import { orderAndVanish } from './buyers.ts';
import type { Deployment } from './deployment.ts';
import { countRows, type Fault, seen } from './fault.ts';

const hour = 3_600_000;
/** A quote of a process whose clock is behind has expired for one whose clock is ahead. */
const expired: readonly ProblemCode[] = ['quote-expired'];

/**
 * Sets the clocks, which stay wrong until everything was counted. At first there is no other fault, and no order may be
 * affected. In another round a reservation is left without an order, which processes with wrong clocks have to resolve.
 * The gateway's clock is right, and access tokens are older and valid for longer than an hour, because RFC 7519 and not
 * the shop decides how a wrong clock affects tokens of usual length.
 * @returns whether every process has the wrong time
 */
function setApart(system: Deployment): Promise<boolean> {
  const wrong = system.services().map((process, index) => ({ process, ahead: index % 2 === 0 ? hour : -hour }));
  for (const { process, ahead } of wrong) process.setClock(ahead);
  return seen(() => wrong.every(({ process, ahead }) => Math.abs(process.clockAhead() - ahead) < hour / 10));
}

async function setRight(system: Deployment): Promise<void> {
  for (const process of system.services()) process.setClock(0);
}

const apart: Fault = {
  name: "the services' clocks are two hours apart",
  interrupts: 'nothing',
  refusals: expired,
  async inject({ system, journal }) {
    const set = await setApart(system);
    const since = performance.now();
    const done = (asked: string) =>
      journal.answers.filter((each) => each.asked === asked && each.at > since && each.status < 300);
    const used = await seen(() => done('order').length >= 40 && done('cancel').length >= 10);
    return set && used ? `${done('order').length} orders and ${done('cancel').length} cancellations` : undefined;
  },
  removeEffects: setRight,
};

const abandoned: Fault = {
  name: 'a reservation expires while the clocks are two hours apart',
  interrupts: 'service',
  refusals: expired,
  async inject({ system, productIds, journal, random }) {
    const buyer = await system.buyer(`late-${random.integer(0, 2 ** 31)}`);
    const mine = `catalogue.reservations WHERE account_id = '${buyer.accountId}'`;
    const set = await setApart(system);
    const orders = system.processes('orders');
    const before = orders.map((each) => each.deaths());
    for (const each of orders) each.crashAt('between reservation and order', buyer.accountId);
    const lines = [{ productId: productIds[0] ?? '', quantity: 1 }];
    const key = `late-${buyer.accountId}`;
    orderAndVanish(journal, system.gatewayUrl, buyer, { key, accountId: buyer.accountId, lines });
    const died = await seen(() => orders.some((each, index) => each.deaths() > (before[index] ?? 0)));
    const settled = await seen(async () => (await countRows(system, `${mine} AND state = 'released'`)) > 0);
    return set && died && settled ? 'its stock was given back' : undefined;
  },
  removeEffects: setRight,
};

export const clockFaults: readonly Fault[] = [apart, abandoned];
