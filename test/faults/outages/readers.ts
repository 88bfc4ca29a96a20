// Customers that look at products and at their orders all the time, so that each round has many requests.
import { setTimeout as pause } from 'node:timers/promises';
import { send } from '../../abuse/raw-http/send.ts';
import { answerWithin, type Buyer, type Journal, type Recorded } from './journal.ts';
import { createRandom, type Random } from './random.ts';

export interface ReadingOptions {
  readonly gatewayUrl: string;
  /** One reader reads as each of them. */
  readonly buyers: readonly Buyer[];
  readonly productIds: readonly string[];
  readonly seed: number;
  /** Gets the replies, and has the orders that are read. */
  readonly journal: Journal;
}

/** Milliseconds between a reply and the next request. */
const between = { least: 0, most: 20 };
/** After a failure, so that a shop that is unavailable is not asked all the time. */
const afterFailure = 200;

/**
 * Reads until the signal.
 * @returns when all requests have a reply
 */
export async function keepReading(options: ReadingOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    options.buyers.map(async (buyer, index) => {
      const random = createRandom(options.seed * 1_000 + 500 + index);
      while (!signal.aborted) {
        const reply = await read(options.gatewayUrl, targetOf(options, buyer, random), buyer);
        options.journal.answers.push(reply);
        await pause(reply.status === 200 ? random.integer(between.least, between.most) : afterFailure);
      }
    }),
  );
}

function targetOf({ productIds, journal }: ReadingOptions, { accountId }: Buyer, random: Random): string {
  const own = journal.orders.filter((order) => order.accountId === accountId && order.orderId !== undefined);
  const products = ['/v1/products?limit=10', `/v1/products/${random.pick(productIds)}`];
  if (own.length === 0) return random.pick([...products, '/v1/orders?limit=10']);
  const order = `/v1/orders/${random.pick(own).orderId}`;
  return random.pick([...products, '/v1/orders?limit=10', order, `${order}/history`]);
}

async function read(gatewayUrl: string, target: string, { token }: Buyer): Promise<Recorded> {
  const at = performance.now();
  const nothing = { type: '', retryAfter: null, replayed: false };
  const headers = { Authorization: `Bearer ${token}` };
  try {
    const sent = { method: 'GET', target, headers, body: undefined, chunked: false };
    const { status, headers: fields, text } = await send(gatewayUrl, sent, answerWithin());
    // The body of a success is not judged, and would take most of the journal's memory.
    const body = status === 200 ? '' : text;
    const [type, retryAfter] = [fields['content-type'] ?? '', fields['retry-after'] ?? null];
    return { ...nothing, at, until: performance.now(), asked: 'view', status, body, type, retryAfter };
  } catch (error) {
    return { ...nothing, at, until: performance.now(), asked: 'view', status: 0, body: String(error) };
  }
}
