// An endpoint of a webhook of staff that fails at random while a round lasts: it refuses, asks to wait, hangs, and closes
// connections before and in the middle of its response.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@shop/shared/testing';
import type pg from 'pg';
import type { Buyer } from './journal.ts';
import type { Random } from './random.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
}

interface Progress {
  readonly isDone: boolean;
  readonly first: string;
}

/** Milliseconds. The lease of a process that was killed ends after a minute. */
const sentWithin = 120_000;

type Failure = (response: ServerResponse) => void;

const failures: readonly Failure[] = [
  (response) => response.writeHead(500).end(),
  (response) => response.writeHead(429, { 'Retry-After': '1' }).end(),
  (response) => void response.socket?.destroy(),
  (response) => {
    response.writeHead(200, { 'Content-Length': '10' }).write('half');
    response.socket?.destroySoon();
  },
  (response) => void setTimeout(() => response.socket?.destroy(), 2_000),
];

export class WebhookEndpoint {
  readonly #gatewayUrl: string;
  readonly #admin: pg.Pool;
  readonly #owner: Buyer;
  /** The events that were answered with 204. */
  readonly #accepted: Event[] = [];
  #server: Server | undefined;
  #webhookId = '';
  /** The probability of a failure. */
  #failing = 0.2;
  /** Whether a failover of the database has ended the cursor of the webhook. */
  #isReset = false;

  constructor(gatewayUrl: string, admin: pg.Pool, owner: Buyer) {
    this.#gatewayUrl = gatewayUrl;
    this.#admin = admin;
    this.#owner = owner;
  }

  /** Adds the webhook. It begins at the present position. */
  async start(random: Random): Promise<void> {
    const server = createServer(async (request, response) => {
      const event = JSON.parse(await text(request)) as Event;
      if (random.chance(this.#failing)) return random.pick(failures)(response);
      this.#isReset ||= event.type === 'webhook.reset.v1';
      if (!event.type.startsWith('webhook.')) this.#accepted.push(event);
      response.writeHead(204).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    const answer = await this.#call('POST', '/v1/webhooks', {
      url: `http://127.0.0.1:${port}/shop`,
      types: ['product', 'order'],
    });
    if (answer.status !== 201) throw new Error(`the webhook was refused: ${await answer.text()}`);
    this.#webhookId = ((await answer.json()) as { id: string }).id;
  }

  /**
   * Accepts all requests from now on, lets the shop send the rest at once, and removes the webhook.
   * @returns violations when an event is missing, or when one of a subject came before its predecessor
   */
  async end(): Promise<string[]> {
    this.#failing = 0;
    try {
      const { first } = await eventually(() => this.#untilSent(), sentWithin);
      if (this.#isReset) return [];
      const { rows } = await this.#admin.query<{ id: string }>(
        `SELECT event_id AS id FROM changes.changes
         WHERE position > $1 AND (kind = 'order' OR (kind = 'product' AND is_public)) ORDER BY position`,
        [first],
      );
      return this.#violations(rows.map(({ id }) => id));
    } finally {
      await this.#call('DELETE', `/v1/webhooks/${this.#webhookId}`);
      this.#server?.closeAllConnections();
      this.#server?.close();
    }
  }

  async #untilSent(): Promise<Progress> {
    await this.#admin.query('UPDATE changes.parked_subjects SET next_attempt_at = now() WHERE webhook_id = $1', [
      this.#webhookId,
    ]);
    await this.#admin.query('UPDATE changes.webhooks SET next_attempt_at = now() WHERE id = $1', [this.#webhookId]);
    const { rows } = await this.#admin.query<Progress>(
      `SELECT first_position AS first, status = 'active' AND position = (SELECT head FROM changes.feed)
         AND NOT EXISTS (SELECT FROM changes.parked_subjects WHERE webhook_id = w.id) AS "isDone"
       FROM changes.webhooks w WHERE id = $1`,
      [this.#webhookId],
    );
    const [progress] = rows;
    if (progress?.isDone !== true) throw new Error('the webhook has not sent everything');
    return progress;
  }

  /** @param wanted the events in the order of the feed */
  #violations(wanted: readonly string[]): string[] {
    const places = new Map(wanted.map((id, index) => [id, index]));
    const newest = new Map<string, number>();
    const seen = new Set<string>();
    const found: string[] = [];
    for (const { id, type, subject } of this.#accepted) {
      // A process that dies before it has stored a response sends the event again.
      if (seen.has(id)) continue;
      seen.add(id);
      const place = places.get(id);
      if (place === undefined) found.push(`the webhook got ${type} ${id}, which its owner does not follow`);
      else if (place < (newest.get(subject) ?? 0)) found.push(`the webhook got ${type} ${id} after its successor`);
      else newest.set(subject, place);
    }
    const missing = wanted.filter((id) => !seen.has(id));
    if (missing.length > 0)
      found.push(`the webhook did not get ${missing.length} of ${wanted.length} events: ${missing[0]}`);
    return found;
  }

  #call(method: string, path: string, body?: object): Promise<Response> {
    return fetch(`${this.#gatewayUrl}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.#owner.token}`,
        'Idempotency-Key': randomUUID(),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}
