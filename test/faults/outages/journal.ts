// The journal of the customers: every reply, and the outcome of each order and registration.
import { atThisPace } from '@shop/shared/testing';

export type Asked =
  | 'quote'
  | 'order'
  | 'view'
  | 'cancel'
  | 'ship'
  | 'return'
  | 'register'
  | 'pay'
  | 'refund'
  | 'settings';

/** One reply, or a missing one (`status` 0). Times are milliseconds of `performance.now()`. */
export interface Recorded {
  readonly at: number;
  readonly until: number;
  readonly asked: Asked;
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly retryAfter: string | null;
  /** Whether it was the stored reply to an earlier request with the same key. */
  readonly replayed: boolean;
}

/** A customer or a machine, with its access token. */
export interface Buyer {
  readonly accountId: string;
  readonly token: string;
}

/** A movement of money that was reported, and the status of the reply. */
export interface ReportedMoney {
  readonly kind: 'received' | 'refunded';
  readonly reference: string;
  readonly status: number;
}

/** Units of a product that a customer sends back. */
export interface ReturnedUnits {
  readonly productId: string;
  readonly quantity: number;
  /** The units that arrived, and whether they are sold again; absent until then. */
  readonly received?: number;
  readonly restock?: boolean;
}

/** The outcome of a return as its customer and staff observe it. */
export interface ReturnOutcome {
  readonly id: string;
  status: 'requested' | 'approved' | 'refused' | 'withdrawn' | 'received';
  lines: readonly ReturnedUnits[];
}

/** The outcome of one order as its buyer observes it. */
export interface OrderOutcome {
  readonly key: string;
  readonly accountId: string;
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[];
  /** Set when the order was accepted. */
  orderId?: string;
  /** The status of the refusal, when it was refused. */
  refused?: number;
  /** The status of the reply to the cancellation, when one was requested. */
  cancelled?: number;
  /** The status of the reply to a repeated cancellation, when one was requested later with another key. */
  cancelledAgain?: number;
  /** The amount of the order, in major units. */
  total?: number;
  /** The status of the reply to the payment, when one was made. Its reference is the key. */
  paid?: number;
  /** Money that was reported after the cancellation, or after units came back. */
  reported?: ReportedMoney[];
  /** The status of the reply to the shipment, when one was requested. */
  shipped?: number;
  returns?: ReturnOutcome[];
  /** The status of the reply to the cancellation of one unit, when one was requested. */
  shortened?: number;
  /** The buyer got no clear reply, so the order may exist or not. */
  vanished?: boolean;
}

export interface AccountOutcome {
  readonly email: string;
  readonly accountId: string;
}

export interface Journal {
  readonly answers: Recorded[];
  readonly orders: OrderOutcome[];
  readonly accounts: AccountOutcome[];
}

export interface ClearRequest {
  readonly token?: string;
  /** The key of a POST; a request without a key is a GET. */
  readonly key?: string;
  readonly body?: object;
}

/** Milliseconds, longer than the time limit of a request at the gateway. */
export const answerWithin = (): number => atThisPace(30_000);

/** Whether there is no reply, or the reply is a failure of the shop. */
export function isFailure({ status }: Pick<Recorded, 'status'>): boolean {
  return status === 0 || status >= 500;
}

/** Sends the request until its reply is clear: not lost, not 429, not 5xx, and not "still in progress". */
export async function untilClear(
  journal: Journal,
  asked: Asked,
  url: string,
  request: ClearRequest,
): Promise<Recorded> {
  const clearWithin = atThisPace(120_000);
  const deadline = performance.now() + clearWithin;
  for (;;) {
    const recorded = await askOnce(asked, url, request);
    journal.answers.push(recorded);
    const unclear = isFailure(recorded) || recorded.status === 429 || recorded.body.includes('request-in-progress');
    if (!unclear) return recorded;
    if (performance.now() > deadline)
      throw new Error(`no clear answer within ${clearWithin / 1000} s: ${recorded.status} ${recorded.body}`);
    await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 100));
  }
}

async function askOnce(asked: Asked, url: string, { token, key, body }: ClearRequest): Promise<Recorded> {
  const at = performance.now();
  try {
    const answer = await fetch(url, {
      method: key === undefined ? 'GET' : 'POST',
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerWithin()),
    });
    const { status, headers } = answer;
    const text = await answer.text();
    return {
      at,
      until: performance.now(),
      asked,
      status,
      type: headers.get('content-type') ?? '',
      body: text,
      retryAfter: headers.get('retry-after'),
      replayed: headers.get('idempotency-replayed') === 'true',
    };
  } catch (error) {
    const nothing = { status: 0, type: '', retryAfter: null, replayed: false };
    // The cause tells what became of the connection.
    const reason = error instanceof Error ? `${String(error)}: ${String(error.cause)}` : String(error);
    return { at, until: performance.now(), asked, body: reason, ...nothing };
  }
}
