// Changes of orders that were cancelled a while ago: a repeated cancellation, money that arrives late, and refunds.
import { type Buyer, type Journal, type OrderOutcome, type ReportedMoney, untilClear } from './journal.ts';
import type { Random } from './random.ts';

/** Changes one of the orders that the buyer has cancelled. */
export async function changeLate(
  { gatewayUrl, payer }: { readonly gatewayUrl: string; readonly payer: Buyer },
  journal: Journal,
  { accountId, token }: Buyer,
  random: Random,
): Promise<void> {
  const cancelled = journal.orders.filter((each) => each.accountId === accountId && each.cancelled === 200);
  if (cancelled.length === 0) return;
  const outcome = random.pick(cancelled);
  const address = `${gatewayUrl}/v1/orders/${outcome.orderId}`;
  const mark = `${outcome.key}-late-${random.integer(0, 2 ** 31)}`;
  if (random.chance(0.5)) {
    const again = await untilClear(journal, 'cancel', `${address}/cancel`, { token, key: `${mark}-cancel` });
    if (outcome.cancelledAgain === undefined || again.status !== 200) outcome.cancelledAgain = again.status;
  }
  if (random.chance(0.5))
    await reportMoney(journal, outcome, address, payer, { kind: 'received', reference: mark, amount: 1 });
  if (random.chance(0.3)) return; // the refund stays due
  const view = await untilClear(journal, 'view', address, { token });
  const { payment } = JSON.parse(view.body) as { payment?: { refundDue?: number } };
  if (payment?.refundDue === undefined) return;
  const refund = { kind: 'refunded', reference: mark, amount: payment.refundDue } as const;
  await reportMoney(journal, outcome, address, payer, refund);
  if (random.chance(0.5)) await reportMoney(journal, outcome, address, payer, refund, '-again');
}

/** Reports money until the reply is clear, and records the reply in the outcome. */
export async function reportMoney(
  journal: Journal,
  outcome: OrderOutcome,
  address: string,
  payer: Buyer,
  { kind, reference, amount }: Omit<ReportedMoney, 'status'> & { readonly amount: number },
  keySuffix = '',
): Promise<void> {
  const body = { reference, amount, currency: 'EUR' };
  const [asked, path] = kind === 'received' ? (['pay', 'payments'] as const) : (['refund', 'refunds'] as const);
  const key = `${reference}-${path}${keySuffix}`;
  const { status } = await untilClear(journal, asked, `${address}/${path}`, { token: payer.token, key, body });
  outcome.reported = [...(outcome.reported ?? []), { kind, reference, status }];
}
