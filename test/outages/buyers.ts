// Buyers that order and cancel by a seeded schedule, repeat what had no clear answer with the same key, and record everything.
import { createRandom, type Random } from './random.ts';

/** One answer, or the lack of one (`status` 0). */
export interface Recorded {
  readonly at: number;
  readonly operation: 'order' | 'cancel' | 'ship';
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** What a buyer was told in the end about one order. */
export interface OrderOutcome {
  readonly key: string;
  readonly accountId: string;
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[];
  /** Set when the order was accepted. */
  orderId?: string;
  /** The status of the refusal, when it was refused. */
  refused?: number;
  /** The status of the answer to the cancellation, when it was cancelled. */
  cancelled?: number;
}

export interface Buyer {
  readonly accountId: string;
  readonly token: string;
}

export interface Journal {
  readonly answers: Recorded[];
  readonly orders: OrderOutcome[];
}

export interface Shopping {
  readonly journal: Journal;
  /** Lets what is under way come to a clear answer, then resolves. */
  stop(): Promise<void>;
}

const answerWithin = 15_000;
const clearWithin = 60_000;
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const password = 'a long password for tests';
const emailOf = (name: string): string => `${name}@example.com`;

async function post(url: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/** A new account with a token. */
export async function registerBuyer(gatewayUrl: string, name: string): Promise<Buyer> {
  await post(`${gatewayUrl}/v1/accounts`, { email: emailOf(name), password, name });
  return logIn(gatewayUrl, name);
}

export async function logIn(gatewayUrl: string, name: string): Promise<Buyer> {
  const { access_token: token = '' } = await post(`${gatewayUrl}/v1/tokens`, { email: emailOf(name), password });
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { accountId: string };
  return { accountId: claims.accountId, token };
}

/** Sends the request until its answer is clear: neither lost, nor 429, nor 5xx, nor "still in progress". */
export async function untilClear(
  journal: Journal,
  operation: Recorded['operation'],
  url: string,
  request: { readonly token: string; readonly key: string; readonly body?: object },
): Promise<{ status: number; body: string }> {
  const deadline = performance.now() + clearWithin;
  for (;;) {
    const at = performance.now();
    const recorded = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${request.token}`,
        'Idempotency-Key': request.key,
        ...(request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      signal: AbortSignal.timeout(answerWithin),
    })
      .then(
        async (answer) => ({
          status: answer.status,
          type: answer.headers.get('content-type') ?? '',
          body: await answer.text(),
        }),
        (error: unknown) => ({ status: 0, type: '', body: String(error) }),
      )
      .catch((error: unknown) => ({ status: 0, type: '', body: String(error) }));
    journal.answers.push({ at, operation, ...recorded });
    const unclear =
      recorded.status === 0 ||
      recorded.status === 429 ||
      recorded.status >= 500 ||
      recorded.body.includes('request-in-progress');
    if (!unclear) return recorded;
    if (performance.now() > deadline)
      throw new Error(`no clear answer within ${clearWithin / 1000} s: ${recorded.status} ${recorded.body}`);
    await pause(100 + Math.random() * 100);
  }
}

/** Each buyer orders, and often cancels, one thing after the other until stopped. */
export function startShopping(options: {
  readonly gatewayUrl: string;
  readonly buyers: readonly Buyer[];
  readonly productIds: readonly string[];
  readonly seed: number;
}): Shopping {
  const journal: Journal = { answers: [], orders: [] };
  let stopping = false;
  const running = options.buyers.map(async (buyer, index) => {
    const random = createRandom(options.seed * 1_000 + index);
    for (let count = 0; !stopping; count += 1) {
      await buyOnce(options, journal, buyer, random, `${options.seed}-${index}-${count}`);
      await pause(random.integer(0, 30));
    }
  });
  return {
    journal,
    async stop() {
      stopping = true;
      await Promise.all(running);
    },
  };
}

async function buyOnce(
  { gatewayUrl, productIds }: { readonly gatewayUrl: string; readonly productIds: readonly string[] },
  journal: Journal,
  buyer: Buyer,
  random: Random,
  key: string,
): Promise<void> {
  const products = new Set(Array.from({ length: random.integer(1, 3) }, () => random.pick(productIds)));
  const lines = [...products].map((productId) => ({ productId, quantity: random.integer(1, 3) }));
  const outcome: OrderOutcome = { key, accountId: buyer.accountId, lines };
  journal.orders.push(outcome);
  const answer = await untilClear(journal, 'order', `${gatewayUrl}/v1/orders`, {
    token: buyer.token,
    key,
    body: { items: lines },
  });
  if (answer.status !== 201) {
    outcome.refused = answer.status;
    return;
  }
  const orderId = (JSON.parse(answer.body) as { id: string }).id;
  outcome.orderId = orderId;
  if (!random.chance(0.5)) return;
  const cancelled = await untilClear(journal, 'cancel', `${gatewayUrl}/v1/orders/${orderId}/cancel`, {
    token: buyer.token,
    key: `${key}-cancel`,
  });
  outcome.cancelled = cancelled.status;
}
