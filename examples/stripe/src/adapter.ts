// The work of the adapter: it records the movements of the provider in the shop, and pays back what is due.
import { isShopError, type Shop } from '@shop/client';
import { toMajor, toMinor } from './money.ts';
import type { Movement, Payment, Provider } from './provider.ts';

/** Runs work with a client of the shop that is logged in as the machine. */
export type AsMachine = <Result>(work: (shop: Shop) => Promise<Result>) => Promise<Result>;

export interface AdapterOptions {
  readonly asMachine: AsMachine;
  readonly provider: Provider;
  /** The days of which each start and each reconciliation reads everything. */
  readonly lookBackDays: number;
  readonly log: (text: string) => void;
}

/**
 * `foreign`: the money is not for an order of the shop. `refused`: the shop did not record it; the reason is logged.
 */
export type Outcome = 'recorded' | 'foreign' | 'refused';

export type Adapter = ReturnType<typeof createAdapter>;

/** Milliseconds that a run reads again, because the clocks of the shop and of this process may differ. */
const overlap = 5 * 60_000;
/** Refunds of an order that may fail. After these, a person pays the customer back in another way. */
const failuresAllowed = 3;

export function createAdapter({ asMachine, provider, lookBackDays, log }: AdapterOptions) {
  const lookBack = (): Date => new Date(Date.now() - lookBackDays * 86_400_000);

  /** The orders for which a refund has to be requested. */
  const open = new Set<string>();
  /** The refunds whose failure is in the log. */
  const failed = new Set<string>();
  let since = lookBack();

  /**
   * Records a movement that is done. It may be recorded any number of times, because the shop counts a reference once.
   * @throws when the shop is unavailable
   */
  async function record({ kind, reference, orderId, amount, currency }: Movement): Promise<Outcome> {
    if (orderId === undefined) return 'foreign';
    const about = `The ${kind} ${reference} for the order ${orderId}`;
    const body = { reference, amount: toMajor(amount, provider.decimalsOf(currency)), currency };
    try {
      await asMachine(({ orders }) => (kind === 'payment' ? orders.pay(orderId, body) : orders.refund(orderId, body)));
      return 'recorded';
    } catch (error) {
      if (!isShopError(error)) throw error;
      if (error.code === 'payment-amount-differs') return 'recorded';
      if (![400, 404, 409, 422].includes(error.status)) throw error;
      log(`${about} is not recorded: ${error.message} (${error.status} ${error.code})`);
      return error.status === 404 ? 'foreign' : 'refused';
    }
  }

  /** A refund that failed is requested again, unless the shop has recorded it before. */
  function onFailure({ reference, orderId }: Movement): void {
    if (orderId === undefined) return;
    open.add(orderId);
    if (failed.has(reference)) return;
    failed.add(reference);
    log(
      `The refund ${reference} for the order ${orderId} failed. If the shop shows it as refunded, pay it in another way.`,
    );
  }

  /** Handles a report of the provider. @throws when the shop is unavailable */
  async function report(movement: Movement): Promise<Outcome> {
    if (movement.orderId === undefined) log(`The ${movement.kind} ${movement.reference} is not for an order.`);
    if (movement.state === 'done') return record(movement);
    if (movement.state === 'failed') onFailure(movement);
    return 'recorded';
  }

  /**
   * Handles everything of the last days that a report may have missed. @throws when the shop or the provider is
   * unavailable
   */
  async function reconcile(): Promise<void> {
    for await (const movement of provider.movementsSince(lookBack())) {
      if (movement.state === 'done') await record(movement);
      if (movement.state === 'failed') onFailure(movement);
    }
  }

  /**
   * Requests one refund after another, until those of the provider cover what is due. Before each of them, the provider
   * is asked which refunds exist. So nothing is lost or paid twice after a timeout or a crash.
   * @throws when the shop or the provider is unavailable, and when no payment is left: try again later
   */
  async function payBack(orderId: string): Promise<void> {
    for (;;) {
      const payments = await provider.paymentsOf(orderId);
      const refunds = payments.flatMap((payment) => payment.refunds);
      // The shop does not subtract these from what is due.
      let unrecorded = 0;
      for (const refund of refunds) {
        if (refund.state === 'failed') continue;
        if (refund.state === 'open' || (await record(refund)) !== 'recorded') unrecorded += refund.amount;
      }
      // The order is read after the refunds. A refund that another process makes in between reduces what is due, or has
      // the key of this request.
      const order = await asMachine(({ orders }) => orders.get(orderId));
      const due = toMinor(order.payment?.refundDue ?? 0, provider.decimalsOf(order.currency));
      const missing = due - unrecorded;
      if (missing <= 0) return;
      if (refunds.filter(({ state }) => state === 'failed').length >= failuresAllowed) {
        log(`${failuresAllowed} refunds for the order ${orderId} failed. Pay the customer in another way.`);
        return;
      }
      const payment = choose(payments, missing);
      if (payment === undefined) throw new Error(`no payment is left for ${missing} (${order.currency}, minor units)`);
      // The key names all amounts requested before, also of refunds that failed. While what is due grows, another
      // process has the same key, and the provider refuses its other amount instead of paying both.
      const key = `refund:${orderId}:${refunds.reduce((sum, { amount }) => sum + amount, 0)}`;
      const amount = Math.min(missing, leftOf(payment));
      await provider.refund({ payment: payment.reference, orderId, amount, key });
    }
  }

  /** Pays back what became due since the last run, and what was left. @throws when the shop is unavailable */
  async function payBackAll(): Promise<void> {
    const began = Date.now();
    await asMachine(async ({ orders }) => {
      const criteria = { accountId: 'all', updatedAt: { gte: since.toISOString() } };
      const sort = [{ field: 'updatedAt', direction: 'asc' }] as const;
      for await (const { id, payment } of orders(criteria, { sort, fields: ['id', 'payment'] })) {
        if ((payment?.refundDue ?? 0) > 0) open.add(id);
      }
    });
    since = new Date(began - overlap);
    for (const orderId of open) {
      try {
        await payBack(orderId);
        open.delete(orderId);
      } catch (error) {
        log(`The refund for the order ${orderId} is tried again: ${(error as Error).message}`);
      }
    }
  }

  return { record, report, reconcile, payBackAll };
}

const leftOf = ({ amount, refunds }: Payment): number =>
  refunds.reduce((left, refund) => (refund.state === 'failed' ? left : left - refund.amount), amount);

/** Returns the payment of exactly this amount, or the last one that is not refunded: the one that was not needed. */
function choose(payments: readonly Payment[], amount: number): Payment | undefined {
  const left = payments.filter((payment) => leftOf(payment) > 0);
  return left.find((payment) => leftOf(payment) === amount) ?? left[0];
}
