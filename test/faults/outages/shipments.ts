// Shipments of paid orders, and returns of their units in parts.
import { type Buyer, type Journal, type OrderOutcome, type ReturnOutcome, untilClear } from './journal.ts';
import { reportMoney } from './late-changes.ts';
import type { Random } from './random.ts';

export interface Shipping {
  readonly gatewayUrl: string;
  readonly staff: Buyer;
  /** Reports the refunds. */
  readonly payer: Buyer;
}

/** Ships a paid order; its customer then sends some units back, in up to three parts. */
export async function shipAndReturn(
  { gatewayUrl, staff, payer }: Shipping,
  journal: Journal,
  buyer: Buyer,
  random: Random,
  outcome: OrderOutcome,
): Promise<void> {
  const address = `${gatewayUrl}/v1/orders/${outcome.orderId}`;
  const advance = (step: string) =>
    untilClear(journal, 'ship', `${address}/${step}`, { token: staff.token, key: `${outcome.key}-${step}` });
  await advance('process');
  outcome.shipped = (await advance('ship')).status;
  if (random.chance(0.6)) await advance('deliver');
  const left = unitsOf(outcome);
  for (let part = random.integer(0, 3); part > 0 && left.size > 0; part -= 1) {
    const asked = [...left].filter((_, index) => index === 0 || random.chance(0.5));
    const lines = asked.map(([productId, most]) => ({ productId, quantity: random.integer(1, most) }));
    const returned = await returnUnits({ gatewayUrl, staff }, journal, buyer, random, outcome, `part-${part}`, lines);
    const isOver = returned?.status === 'refused' || returned?.status === 'withdrawn';
    for (const { productId, quantity, received } of isOver ? [] : (returned?.lines ?? [])) {
      const remaining = (left.get(productId) ?? 0) - (received ?? quantity);
      if (remaining > 0) left.set(productId, remaining);
      else left.delete(productId);
    }
  }
  if ((outcome.returns ?? []).length === 0 || random.chance(0.4)) return; // the refund stays due
  const view = await untilClear(journal, 'view', address, { token: buyer.token });
  const { payment } = JSON.parse(view.body) as { payment?: { refundDue?: number } };
  if (payment?.refundDue === undefined) return;
  const refund = { kind: 'refunded', reference: `${outcome.key}-returned`, amount: payment.refundDue } as const;
  await reportMoney(journal, outcome, address, payer, refund);
}

/** The units that the order has. */
export function unitsOf({ lines, shortened }: OrderOutcome): Map<string, number> {
  const units = lines.map(({ productId, quantity }, index): [string, number] => [
    productId,
    quantity - (index === 0 && shortened === 200 ? 1 : 0),
  ]);
  return new Map(units.filter(([, quantity]) => quantity > 0));
}

/** Requests a return, moves it on, and records the replies. Returns undefined when the request was refused. */
async function returnUnits(
  { gatewayUrl, staff }: Omit<Shipping, 'payer'>,
  journal: Journal,
  buyer: Buyer,
  random: Random,
  outcome: OrderOutcome,
  name: string,
  lines: ReturnOutcome['lines'],
): Promise<ReturnOutcome | undefined> {
  const mark = `${outcome.key}-${name}`;
  const request = await untilClear(journal, 'return', `${gatewayUrl}/v1/orders/${outcome.orderId}/returns`, {
    token: buyer.token,
    key: mark,
    body: { lines: lines.map((line) => ({ ...line, reason: 'other' })) },
  });
  if (request.status !== 201) return undefined;
  const { id } = JSON.parse(request.body) as { id: string };
  const returned: ReturnOutcome = { id, status: 'requested', lines };
  outcome.returns = [...(outcome.returns ?? []), returned];
  const act = async (action: string, to: ReturnOutcome['status'], body?: object, { token } = staff) => {
    const address = `${gatewayUrl}/v1/returns/${id}/${action}`;
    // A repetition with another key changes nothing.
    for (const key of [`${mark}-${action}`, ...(random.chance(0.3) ? [`${mark}-${action}-again`] : [])])
      await untilClear(journal, 'return', address, { token, key, ...(body && { body }) });
    returned.status = to;
  };
  const course = random.integer(1, 10);
  if (course === 1) return returned; // it stays open
  if (course === 2) await act('withdraw', 'withdrawn', undefined, buyer);
  else if (course === 3) await act('refuse', 'refused', { reason: 'The seal is broken.' });
  else {
    if (random.chance(0.5)) await act('approve', 'approved');
    returned.lines = lines.map((line) => ({
      ...line,
      received: random.integer(random.chance(0.3) ? 0 : line.quantity, line.quantity),
      restock: random.chance(0.6),
    }));
    const arrived = returned.lines.map(({ productId, received: quantity, restock }) => ({
      productId,
      quantity,
      restock,
    }));
    await act('receive', 'received', { lines: arrived });
  }
  return returned;
}
