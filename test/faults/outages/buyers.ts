// Buyers that order, pay, read, cancel in whole or in part and send units back by a seeded schedule, repeat requests
// without a clear reply with the same key, and record everything.

import { type Buyer, type Journal, type OrderOutcome, untilClear } from './journal.ts';
import { changeLate } from './late-changes.ts';
import type { Sale } from './prices.ts';
import { createRandom, type Random } from './random.ts';
import { shipAndReturn, unitsOf } from './shipments.ts';

export interface Shopping {
  readonly journal: Journal;
  /** Resolves when all requests in progress have a clear reply. */
  stop(): Promise<void>;
}

export interface ShoppingOptions {
  readonly gatewayUrl: string;
  readonly buyers: readonly Buyer[];
  /** Reports the payments. */
  readonly payer: Buyer;
  readonly productIds: readonly string[];
  readonly seed: number;
  /** Without one, orders cost their products, and none of them ships. */
  readonly sale?: Sale;
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Each buyer places one order after the other, and often cancels it, until stopped. */
export function startShopping(options: ShoppingOptions): Shopping {
  const journal: Journal = { answers: [], orders: [], accounts: [] };
  let stopping = false;
  const running = options.buyers.map(async (buyer, index) => {
    const random = createRandom(options.seed * 1_000 + index);
    for (let count = 0; !stopping; count += 1) {
      await buyOnce(options, journal, buyer, random, `${options.seed}-${index}-${count}`);
      if (random.chance(0.3)) await changeLate(options, journal, buyer, random);
      await pause(random.integer(0, 30));
    }
  });
  // `stop` reports what has failed meanwhile.
  for (const each of running) each.catch(() => {});
  return {
    journal,
    async stop() {
      stopping = true;
      await Promise.all(running);
    },
  };
}

async function buyOnce(
  { gatewayUrl, productIds, payer, sale }: ShoppingOptions,
  journal: Journal,
  buyer: Buyer,
  random: Random,
  key: string,
): Promise<void> {
  const { accountId, token } = buyer;
  const products = new Set(Array.from({ length: random.integer(1, 3) }, () => random.pick(productIds)));
  const lines = [...products].map((productId) => ({ productId, quantity: random.integer(1, 3) }));
  const outcome: OrderOutcome = { key, accountId, lines };
  journal.orders.push(outcome);
  await placeOrder(journal, gatewayUrl, token, outcome, sale && wishesOf(sale, random));
  if (outcome.orderId === undefined) return;
  const address = `${gatewayUrl}/v1/orders/${outcome.orderId}`;
  if (random.chance(0.3)) await untilClear(journal, 'view', address, { token });
  const payment = random.chance(0.5) ? payOrder(journal, gatewayUrl, payer, outcome) : undefined;
  // Half of the payments race with what follows.
  if (random.chance(0.5)) await payment;
  if (random.chance(0.2)) {
    const body = { lines: [{ productId: lines[0]?.productId, quantity: 1 }] };
    const shortened = await untilClear(journal, 'cancel', `${address}/cancel`, { token, key: `${key}-shorten`, body });
    outcome.shortened = shortened.status;
  }
  if (random.chance(0.5)) {
    const cancelled = await untilClear(journal, 'cancel', `${address}/cancel`, { token, key: `${key}-cancel` });
    outcome.cancelled = cancelled.status;
  }
  await payment;
  if (sale === undefined || outcome.paid !== 200 || outcome.cancelled !== undefined) return;
  if (unitsOf(outcome).size > 0 && random.chance(0.7))
    await shipAndReturn({ gatewayUrl, payer, staff: sale.staff }, journal, buyer, random, outcome);
}

/** What an order has beside its products. */
export interface Wishes {
  readonly members: Readonly<Record<string, unknown>>;
  /** Whether the customer asks for the price first, and orders only for it. */
  readonly isQuoted: boolean;
}

function wishesOf({ codes }: Sale, random: Random): Wishes {
  const country = random.pick(['', 'DE', 'AT', 'CH']);
  const members = {
    ...(random.chance(0.4) && { discountCode: random.pick(codes) }),
    ...(country !== '' && { shipping_address: { country } }),
  };
  return { members, isQuoted: random.chance(0.3) };
}

/** Reports the payment of an order until the reply is clear, and records the reply in the outcome. */
export async function payOrder(
  journal: Journal,
  gatewayUrl: string,
  payer: Buyer,
  outcome: OrderOutcome,
): Promise<void> {
  const { key, orderId, total } = outcome;
  const body = { reference: key, amount: total, currency: 'EUR' };
  const address = `${gatewayUrl}/v1/orders/${orderId}/payments`;
  const answer = await untilClear(journal, 'pay', address, { token: payer.token, key: `${key}-pay`, body });
  outcome.paid = answer.status;
}

/** Sends the order until the reply is clear, and records the reply in the outcome. */
export async function placeOrder(
  journal: Journal,
  gatewayUrl: string,
  token: string,
  outcome: OrderOutcome,
  { members, isQuoted }: Wishes = { members: {}, isQuoted: false },
): Promise<void> {
  const { key, lines } = outcome;
  let body: object = { items: lines, ...members };
  if (isQuoted) {
    const quoted = await untilClear(journal, 'quote', `${gatewayUrl}/v1/quotes`, { token, key, body });
    const { quote } = JSON.parse(quoted.body) as { quote?: string };
    body = { ...body, ...(quote !== undefined && { quote }) };
  }
  const answer = await untilClear(journal, 'order', `${gatewayUrl}/v1/orders`, { token, key, body });
  if (answer.status !== 201) {
    outcome.refused = answer.status;
    return;
  }
  const { id, totalCost } = JSON.parse(answer.body) as { id: string; totalCost: number };
  outcome.orderId = id;
  outcome.total = totalCost;
}

/** Sends an order once and never asks about it again, as a buyer whose own machine dies. */
export function orderAndVanish(journal: Journal, gatewayUrl: string, buyer: Buyer, outcome: OrderOutcome): void {
  outcome.vanished = true;
  journal.orders.push(outcome);
  fetch(`${gatewayUrl}/v1/orders`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${buyer.token}`,
      'Idempotency-Key': outcome.key,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ items: outcome.lines }),
  }).catch(() => {});
}
