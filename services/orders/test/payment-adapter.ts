// Connects a payment provider with the shop. It is an example of the adapter that a shop has to write.
//   webhook   records each report of the provider in the shop before it confirms the report
//   reconcile records the movements that the webhook never reported
//   pay back  requests each refund that is due from the provider, with a key, so that it is paid once
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestClient } from '@shop/shared/testing';
import type { Movement } from './payment-provider.ts';

export interface AdapterOptions {
  readonly shop: TestClient;
  /** A token with the scope payments:write. */
  readonly token: string;
  readonly webhookSecret: string;
}

/** The data of the event refund.due.v1. A real adapter consumes this event from a queue. */
export interface RefundDueEvent {
  readonly refundId: string;
  readonly orderId: string;
  readonly amount: number;
  readonly currency: string;
}

export interface Adapter {
  /** The address of the webhook. */
  readonly url: string;
  reconcile(providerUrl: string): Promise<void>;
  payBack(providerUrl: string, events: readonly RefundDueEvent[]): Promise<void>;
  close(): void;
}

export async function startAdapter(options: AdapterOptions): Promise<Adapter> {
  const server = createServer((request, response) => {
    onReport(options, request).then(
      (status) => response.writeHead(status).end(),
      // The status 503 makes the provider send the report again.
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async reconcile(providerUrl) {
      const movements = (await (await fetch(`${providerUrl}/movements`)).json()) as Movement[];
      for (const movement of movements) await record(options, movement);
    },
    async payBack(providerUrl, events) {
      for (const { refundId: key, orderId, amount, currency } of events) {
        const body = JSON.stringify({ key, orderId, amount, currency });
        await fetch(`${providerUrl}/refunds`, { method: 'POST', body });
      }
    },
    close: () => server.close(),
  };
}

async function onReport(options: AdapterOptions, request: IncomingMessage): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const expected = createHmac('sha256', options.webhookSecret).update(body).digest();
  const given = Buffer.from(String(request.headers['x-signature']), 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 401;
  await record(options, JSON.parse(body.toString()) as Movement);
  return 204;
}

/**
 * Records a movement under the provider's id. It may be recorded any number of times.
 * @throws when the shop has not recorded it: try again later
 */
async function record({ shop, token }: AdapterOptions, movement: Movement): Promise<void> {
  const { id: reference, kind, orderId, amount, currency } = movement;
  const path = `/v1/orders/${orderId}/${kind}s`;
  const { status, body } = await shop.post(path, { token, body: { reference, amount, currency } });
  if (status === 200 || body.code === 'payment-amount-differs') return;
  throw new Error(`${kind} ${reference} of order ${orderId} is not recorded: ${status} ${body.code}`);
}
