// The HTTP interface: POST /payments for customers, and POST /webhook for the provider.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Shop } from '@shop/client';
import type { Adapter } from './adapter.ts';
import { toMinor } from './money.ts';
import { type Provider, UnverifiedError } from './provider.ts';

export interface ServerOptions {
  /** A client without a log-in, so that a request has the customer's token or none. */
  readonly shop: Shop;
  readonly adapter: Adapter;
  readonly provider: Provider;
  readonly log: (text: string) => void;
}

/** A response with a problem document (RFC 9457), or a body. */
interface Reply {
  readonly status: number;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bytes. Stripe's events are smaller. */
const longestBody = 1_000_000;

const problem = (status: number, code: string, detail: string): Reply => ({
  status,
  body: { type: 'about:blank', title: code.replaceAll('-', ' '), status, code, detail },
});
const unavailable: Reply = {
  ...problem(503, 'temporarily-unavailable', 'The shop or the payment provider is unavailable. Try again later.'),
  headers: { 'Retry-After': '5' },
};

export function createPaymentServer(options: ServerOptions): Server {
  const routes: Readonly<Record<string, (request: IncomingMessage) => Promise<Reply>>> = {
    'POST /payments': (request) => beginPayment(request, options),
    'POST /webhook': (request) => receiveReport(request, options),
  };
  return createServer((request, response) => {
    const route = routes[`${request.method} ${request.url?.split('?', 1)[0]}`];
    const reply =
      route?.(request) ?? Promise.resolve(problem(404, 'not-found', 'There are POST /payments and /webhook.'));
    reply
      .catch((error: Error) => {
        options.log(`${request.method} ${request.url} failed: ${error.message}`);
        return unavailable;
      })
      .then((done) => send(response, done));
  });
}

async function beginPayment(request: IncomingMessage, { shop, provider }: ServerOptions): Promise<Reply> {
  const orderId = orderIdIn(await bodyOf(request));
  if (orderId === undefined) return problem(400, 'invalid-request', 'The body must be {"orderId": "…"}, in JSON.');
  const { authorization } = request.headers;
  const { data, error, response } = await shop.call.GET('/v1/orders/{orderId}', {
    params: { path: { orderId } },
    headers: { ...(authorization !== undefined && { Authorization: authorization }) },
  });
  // The shop decides whether the order is visible: 401, 404 and others are passed on.
  if (data === undefined) {
    const challenge = response.headers.get('www-authenticate');
    if (typeof error !== 'object' || error === null) return unavailable;
    return { status: response.status, body: error, ...(challenge && { headers: { 'WWW-Authenticate': challenge } }) };
  }
  const { totalCost, currency, payment } = data;
  if (payment?.status !== 'due' || totalCost === undefined || currency === undefined) {
    return problem(
      409,
      'order-not-due',
      `The order is ${payment?.status ?? 'not to be paid'}. Only a due order can be paid.`,
    );
  }
  const amount = toMinor(totalCost, provider.decimalsOf(currency));
  return { status: 200, body: await provider.createPayment({ orderId, amount, currency }) };
}

async function receiveReport(request: IncomingMessage, { adapter, provider }: ServerOptions): Promise<Reply> {
  try {
    const movement = await provider.readReport(await bodyOf(request), String(request.headers['stripe-signature']));
    // After 503, Stripe sends the event again for three days.
    return (movement && (await adapter.report(movement))) === 'refused' ? unavailable : { status: 204 };
  } catch (error) {
    if (error instanceof UnverifiedError) return problem(400, 'unverified', 'The signature of the event is not valid.');
    throw error;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) throw new Error('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function orderIdIn(body: Buffer): string | undefined {
  try {
    const { orderId } = (JSON.parse(body.toString()) ?? {}) as { orderId?: unknown };
    return typeof orderId === 'string' && orderId !== '' ? orderId : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { ...(body && { 'Content-Type': type }), 'Cache-Control': 'no-store', ...headers });
  response.end(body && JSON.stringify(body));
}
