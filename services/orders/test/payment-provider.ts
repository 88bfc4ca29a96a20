// A payment provider for tests, which runs as a process of its own. Customers pay here. The provider has its own
// ledger, and reports payments and refunds to the address of the webhook with a signature, as providers do. A test
// selects the faults of each payment: a report that is late, sent twice, out of order, or never sent, and an
// amount that is wrong.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const { WEBHOOK_URL = '', WEBHOOK_SECRET = '' } = process.env;

export type ProviderFault = 'none' | 'late' | 'twice' | 'out-of-order' | 'silent';

export interface Movement {
  readonly id: string;
  readonly kind: 'payment' | 'refund';
  readonly orderId: string;
  readonly amount: number;
  readonly currency: string;
}

interface Request {
  readonly orderId: string;
  readonly amount: number;
  readonly currency: string;
  readonly fault?: ProviderFault;
  /** The key of a refund. Requests with the same key refund the payment once. */
  readonly key?: string;
}

const movements: Movement[] = [];
const refunds = new Map<string, Movement>();
/** Reports that are delayed until another report has been sent. */
const overtaken: Movement[] = [];

/** Sends a report again and again until it is accepted. Real providers do so for some days. */
async function report(movement: Movement): Promise<void> {
  const body = JSON.stringify(movement);
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex');
  for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
    try {
      const { ok } = await fetch(WEBHOOK_URL, { method: 'POST', body, headers: { 'X-Signature': signature } });
      if (ok) return;
    } catch {
      // The webhook is unavailable, so the report is sent again later.
    }
    await sleep(pause);
  }
}

async function reportWith(fault: ProviderFault, movement: Movement): Promise<void> {
  if (fault === 'silent') return;
  if (fault === 'out-of-order' && overtaken.length < 5) {
    overtaken.push(movement);
    return;
  }
  if (fault === 'late') await sleep(1_500);
  await Promise.all(fault === 'twice' ? [report(movement), report(movement)] : [report(movement)]);
  await Promise.all(overtaken.splice(0).toReversed().map(report));
}

function move(kind: Movement['kind'], { orderId, amount, currency, fault = 'none', key }: Request): Movement {
  const kept = key === undefined ? undefined : refunds.get(key);
  if (kept !== undefined) return kept;
  const movement = { id: `${kind}_${movements.length + 1}`, kind, orderId, amount, currency };
  movements.push(movement);
  if (key !== undefined) refunds.set(key, movement);
  void reportWith(fault, movement);
  return movement;
}

async function bodyOf(request: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Request;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const route = `${request.method} ${request.url}`;
  const send = (body: unknown) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  if (route === 'GET /movements') send(movements);
  else if (route === 'POST /payments') send(move('payment', await bodyOf(request)));
  else if (route === 'POST /refunds') send(move('refund', await bodyOf(request)));
  else response.writeHead(404).end();
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(400).end());
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
