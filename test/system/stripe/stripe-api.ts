// A stand-in for Stripe, which runs as a process of its own. It implements what the adapter uses of the documented API:
// form-encoded requests, payment intents, refunds, lists with `has_more`, the search, idempotency keys, and webhooks
// with signatures that are sent again until they are accepted. Paths under /test/ are what customers, banks and staff
// do, and what a test plans. With FAULTS=on, faults happen without a plan:
//   responses: every sixth change is made, but its response is lost; every sixth gets 503 before it is made, and every
//     sixth gets 500 when it creates a payment intent
//   webhooks: late, twice, out of order, or never
//   refunds: succeeded at once, after a while, or failed after a while
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answers, nextFault, notifyWith, send, type WebhookFault } from './stripe-webhooks.ts';

const { SECRET_KEY = '', FAULTS = 'off' } = process.env;

export interface Intent {
  readonly id: string;
  readonly object: 'payment_intent';
  readonly client_secret: string;
  readonly amount: number;
  amount_received: number;
  readonly currency: string;
  status: 'requires_payment_method' | 'succeeded';
  readonly metadata: Readonly<Record<string, string>>;
  readonly created: number;
}

export interface Refund {
  readonly id: string;
  readonly object: 'refund';
  readonly amount: number;
  readonly currency: string;
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  readonly payment_intent: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created: number;
}

export interface Ledger {
  readonly intents: readonly Intent[];
  readonly refunds: readonly Refund[];
  /** The statuses with which the webhook answered. */
  readonly answers: Readonly<Record<string, number>>;
  /** How often the payments of each order were searched. */
  readonly searches: Readonly<Record<string, number>>;
  /** The intents that the search finds. */
  readonly searchable: readonly string[];
}

/** What happens to the requests with a key: the change is made without a response, or the response is 503 or 500. */
export type KeyFault = 'none' | 'lost' | 'refused' | 'broken';

type Parameters = Readonly<Record<string, string>>;
interface Answer {
  readonly status: number;
  readonly body: object;
}
interface KeptAnswer {
  readonly request: string;
  readonly fault: KeyFault;
  answer?: Answer;
  /** The next requests with this key whose response is lost or 503. The package of Stripe sends each request thrice. */
  faulty: number;
}

const intents = new Map<string, Intent>();
const refunds = new Map<string, Refund>();
const keys = new Map<string, KeptAnswer>();
/** When each payment intent succeeded. */
const succeededAt = new Map<string, number>();
const searches: Record<string, number> = {};
const keyFaults: readonly KeyFault[] = ['none', 'none', 'lost', 'none', 'refused', 'broken'];
const largestPage = 20;
const searchIsBehind = 500;
let isUnavailable = false;
/** Whether new refunds stay pending until a test changes them. */
let isHolding = false;
let plannedFault: KeyFault | undefined;
/** The refunds that are requested at the same time: none is made before all of them are requested. */
let meeting: { missing: number; readonly complete: PromiseWithResolvers<void> } | undefined;

const seconds = (): number => Math.floor(Date.now() / 1_000);
const failure = (status: number, type: string, message: string): Answer => ({
  status,
  body: { error: { type, message } },
});

const usual = (): WebhookFault => (FAULTS === 'on' ? nextFault() : 'none');

function createIntent(amount: number, currency: string, metadata: Parameters): Intent {
  const id = `pi_${intents.size + 1}`;
  const secret = { client_secret: `${id}_secret_1`, amount_received: 0, status: 'requires_payment_method' as const };
  const intent: Intent = { id, object: 'payment_intent', ...secret, amount, currency, metadata, created: seconds() };
  intents.set(id, intent);
  return intent;
}

function pay(intent: Intent, fault: WebhookFault): void {
  intent.status = 'succeeded';
  intent.amount_received = intent.amount;
  succeededAt.set(intent.id, Date.now());
  void notifyWith(fault, 'payment_intent.succeeded', intent);
}

const refundsOf = (intent: string): Refund[] => [...refunds.values()].filter((one) => one.payment_intent === intent);

function createRefund(intentId: string, amount: number, metadata: Parameters): Answer {
  const intent = intents.get(intentId);
  if (intent?.status !== 'succeeded') return failure(400, 'invalid_request_error', 'This PaymentIntent has no charge.');
  const others = refundsOf(intentId);
  const left = others.reduce((sum, one) => (one.status === 'failed' ? sum : sum - one.amount), intent.amount_received);
  if (amount < 1 || amount > left) {
    return failure(
      400,
      'invalid_request_error',
      `Refund amount (${amount}) is greater than unrefunded amount (${left})`,
    );
  }
  const id = `re_${refunds.size + 1}`;
  const course = FAULTS === 'on' ? refunds.size % 4 : 0;
  const willFail = course === 2 && others.every(({ status }) => status === 'succeeded');
  const status = isHolding || course === 1 || course === 2 ? 'pending' : 'succeeded';
  const { currency } = intent;
  const refund: Refund = {
    id,
    object: 'refund',
    amount,
    currency,
    status,
    payment_intent: intentId,
    metadata,
    created: seconds(),
  };
  refunds.set(id, refund);
  void notifyWith(usual(), 'refund.created', refund);
  if (status === 'pending' && !isHolding) void sleep(700).then(() => change(refund, willFail ? 'failed' : 'succeeded'));
  return { status: 200, body: structuredClone(refund) };
}

function change(refund: Refund, status: Refund['status']): void {
  refund.status = status;
  void notifyWith(usual(), 'refund.updated', refund);
  if (status === 'failed') void notifyWith(usual(), 'refund.failed', refund);
}

const metadataIn = (body: Parameters): Parameters =>
  Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (/^metadata\[/.test(name) ? [[name.slice(9, -1), value]] : [])),
  );

function execute(path: string, body: Parameters): Answer {
  if (path === '/v1/refunds') return createRefund(body.payment_intent ?? '', Number(body.amount), metadataIn(body));
  return { status: 200, body: { ...createIntent(Number(body.amount), body.currency ?? '', metadataIn(body)) } };
}

/** Executes a change once for each key, as https://docs.stripe.com/api/idempotent_requests describes. */
function executeOnce(path: string, body: Parameters, key: string): Answer | 'lost' {
  const request = `${path} ${JSON.stringify(body)}`;
  const known = keys.get(key);
  if (known !== undefined && known.request !== request) {
    return failure(
      400,
      'idempotency_error',
      `Keys for idempotent requests can only be used with the same parameters: ${key}`,
    );
  }
  const kept = known ?? { request, fault: nextKeyFault(path), faulty: 3 };
  keys.set(key, kept);
  const isFaulty = kept.faulty > 0;
  kept.faulty -= 1;
  if (kept.fault === 'refused' && isFaulty) return failure(503, 'api_error', 'Stripe is overloaded. Nothing was done.');
  // Stripe also keeps a 500 for its key.
  kept.answer ??=
    kept.fault === 'broken' ? failure(500, 'api_error', 'An unknown error occurred') : execute(path, body);
  return kept.fault === 'lost' && isFaulty ? 'lost' : kept.answer;
}

function nextKeyFault(path: string): KeyFault {
  const planned = plannedFault;
  plannedFault = undefined;
  if (planned !== undefined) return planned;
  const usualFault = (FAULTS === 'on' && keyFaults[keys.size % keyFaults.length]) || 'none';
  return usualFault === 'broken' && path === '/v1/refunds' ? 'none' : usualFault;
}

function expanded(refund: Refund, query: Parameters): object {
  const isExpanded = Object.values(query).some((value) => /(^|\.)payment_intent$/.test(value));
  return isExpanded ? { ...refund, payment_intent: intents.get(refund.payment_intent) } : refund;
}

/** Returns a page, the newest object first. */
function page(path: string, all: Iterable<Intent | Refund>, query: Parameters): Answer {
  const since = Number(query['created[gte]'] ?? 0);
  const found = [...all].reverse().filter(({ created }) => created >= since);
  const start = found.findIndex(({ id }) => id === query.starting_after) + 1;
  const size = Math.min(Number(query.limit ?? 10), largestPage);
  const data = found.slice(start, start + size).map((one) => (one.object === 'refund' ? expanded(one, query) : one));
  return { status: 200, body: { object: 'list', url: path, has_more: start + size < found.length, data } };
}

const isSearchable = (intent: string): boolean => Date.now() - (succeededAt.get(intent) ?? 0) >= searchIsBehind;

function search(query: Parameters): Answer {
  const [, orderId] = /^metadata\['orderId'\]:'([^']+)'$/.exec(query.query ?? '') ?? [];
  if (orderId !== undefined) searches[orderId] = (searches[orderId] ?? 0) + 1;
  const found = [...intents.values()]
    .reverse()
    .filter(({ id, metadata }) => metadata.orderId === orderId && isSearchable(id));
  const start = Number(query.page ?? 0);
  const hasMore = start + 1 < found.length;
  const next = hasMore ? { next_page: String(start + 1) } : { next_page: null };
  const data = found.slice(start, start + 1);
  return {
    status: 200,
    body: { object: 'search_result', url: '/v1/payment_intents/search', has_more: hasMore, ...next, data },
  };
}

function read(path: string, query: Parameters): Answer {
  const missing = failure(404, 'invalid_request_error', `No such object: ${path}`);
  if (path === '/v1/payment_intents/search') return search(query);
  if (path === '/v1/payment_intents') return page(path, intents.values(), query);
  if (path === '/v1/refunds') {
    const { payment_intent: intent } = query;
    return page(path, intent === undefined ? refunds.values() : refundsOf(intent), query);
  }
  const refund = refunds.get(path.slice('/v1/refunds/'.length));
  return refund === undefined ? missing : { status: 200, body: expanded(refund, query) };
}

/** What others do. The body is JSON. */
async function act(path: string, text: string): Promise<object> {
  const given = text === '' ? {} : JSON.parse(text);
  if (path === '/test/ledger')
    return {
      intents: [...intents.values()],
      refunds: [...refunds.values()],
      answers,
      searches,
      searchable: [...intents.keys()].filter(isSearchable),
    } satisfies Ledger;
  if (path === '/test/unavailable') isUnavailable = given.value;
  if (path === '/test/hold') isHolding = given.value;
  if (path === '/test/fault') plannedFault = given.fault;
  if (path === '/test/meet') meeting = { missing: given.requests, complete: Promise.withResolvers() };
  if (path === '/test/intent') return createIntent(given.amount, given.currency, given.metadata ?? {});
  if (path === '/test/event') return { status: await send(given.type, given.object) };
  if (path === '/test/refund') return createRefund(given.intent, given.amount, {}).body;
  const intent = [...intents.values()].find(({ id, client_secret: secret }) => [id, secret].includes(given.intent));
  if (path === '/test/pay' && intent !== undefined) pay(intent, given.fault ?? 'none');
  const refund = refunds.get(given.refund);
  if (path === '/test/change' && refund !== undefined) change(refund, given.status);
  return {};
}

/** Resolves when all requests have come that are to come at the same time. */
async function meet(): Promise<void> {
  const mine = meeting;
  if (mine === undefined) return;
  mine.missing -= 1;
  if (mine.missing === 0) {
    meeting = undefined;
    mine.complete.resolve();
  }
  await mine.complete.promise;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  let answer: Answer | 'lost';
  if (pathname.startsWith('/test/')) answer = { status: 200, body: await act(pathname, text) };
  else if (isUnavailable) answer = 'lost';
  else if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) {
    answer = failure(401, 'invalid_request_error', 'Invalid API Key provided');
  } else if (request.method === 'GET') answer = read(pathname, Object.fromEntries(searchParams));
  else {
    const body = Object.fromEntries(new URLSearchParams(text));
    if (pathname === '/v1/refunds') await meet();
    answer = executeOnce(pathname, body, String(request.headers['idempotency-key']));
  }
  if (answer === 'lost') request.socket.destroy();
  else response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer.body));
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
