// An endpoint of a webhook that accepts everything.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@shop/shared/testing';
import type { BenchShop } from '../orders/shop.ts';

/** The network that the shop under test must allow: `WEBHOOKS_ALLOW`. */
export const endpointNetwork = '127.0.0.0/8';

export class Endpoint {
  readonly #server: Server;
  #onEvent: (subject: string) => void = () => {};

  constructor() {
    this.#server = createServer(async (request, response) => {
      const { type, subject } = JSON.parse(await text(request)) as { readonly type: string; readonly subject: string };
      response.writeHead(204).end();
      if (type.startsWith('product.')) this.#onEvent(subject);
    });
  }

  /** Adds a webhook for products, and waits until it is active. */
  async open(shop: BenchShop): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
    const { id } = await shop.post('/v1/webhooks', await shop.grant('webhooks:write'), { url, types: ['product'] });
    await eventually(async () => {
      const { rows } = await shop.changes.query('SELECT status FROM webhooks WHERE id = $1', [id]);
      if (rows[0]?.status !== 'active') throw new Error('the webhook is not active');
    });
  }

  /** @returns a function that resolves with the time at which the event of the subject arrived */
  next(): (subject: string) => Promise<number> {
    const arrived = new Promise<{ readonly at: number; readonly subject: string }>((resolve) => {
      this.#onEvent = (subject) => resolve({ at: performance.now(), subject });
    });
    return async (wanted) => {
      const { at, subject } = await arrived;
      if (subject !== wanted) throw new Error('another change came first');
      return at;
    };
  }

  /** Resolves when so many further events have arrived. */
  receive(count: number): Promise<void> {
    let left = count;
    return new Promise((resolve) => {
      this.#onEvent = () => {
        left -= 1;
        if (left === 0) resolve();
      };
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
