// Takes events from a queue, each once: inbox row and effect in one transaction, the acknowledgement after COMMIT.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'sequelize';
import { type Database, isDatabaseAway, sql } from '../database/index.ts';
import type { Log } from '../runtime/index.ts';
import type { EventType } from './definitions.ts';
import { type EventHandler, PoisonError, parseEvent, type ShopEvent } from './event.ts';
import type { Delivery, Transport, Verdict } from './transport.ts';

export type Handlers = { readonly [Type in EventType]?: EventHandler<Type> };

export interface ConsumeOptions {
  /** The consumer: its queue, and its name in the inbox. */
  readonly name: string;
  readonly handlers: Handlers;
  readonly transport: Transport;
  readonly database: Database;
  readonly log: Log;
  /** Events handled at once; default 10. Each holds a database connection while it runs. */
  readonly prefetch?: number;
}

// While the database is away each delivery is held this long before it is put off: the queue must not spin.
const holdWhileAway = 1_000;

/** Starts the consumer. The returned function stops it and waits for what is in work. */
export function consume(options: ConsumeOptions): Promise<() => Promise<void>> {
  const { name, transport, log } = options;
  return transport.subscribe({
    consumer: name,
    prefetch: options.prefetch ?? 10,
    async take(delivery): Promise<Verdict> {
      try {
        const event = parseEvent(delivery.content);
        await takeOnce(options, event, delivery);
        return { kind: 'done' };
      } catch (error) {
        const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        if (error instanceof PoisonError) {
          log.error({ err: error, consumer: name }, 'an event became a dead letter');
          return { kind: 'dead', reason };
        }
        if (isDatabaseAway(error)) {
          log.warn({ err: error, consumer: name }, 'an event waits for the database');
          await sleep(holdWhileAway);
          return { kind: 'later', reason };
        }
        log.error({ err: error, consumer: name, attempt: delivery.attempt }, 'an event could not be handled');
        return { kind: 'failed', reason };
      }
    },
  });
}

async function takeOnce(options: ConsumeOptions, event: ShopEvent, delivery: Delivery): Promise<void> {
  const { name, database, log } = options;
  const handler = options.handlers[event.type] as EventHandler<EventType> | undefined;
  if (handler === undefined) throw new PoisonError(`${name} has no handler for ${event.type}`);
  const first = await database.transaction(async (tx) => {
    if (!(await enterInbox(tx, name, event, delivery.attempt))) return false;
    await handler(event, tx);
    return true;
  });
  log.info(
    { consumer: name, event: event.id, type: event.type, subject: event.subject, requestId: event.requestId },
    first ? 'event taken' : 'event was taken before',
  );
}

/** False when the event was taken before. The same event in work elsewhere is waited for: the primary key holds the second back. */
async function enterInbox(tx: Transaction, consumer: string, event: ShopEvent, attempt: number): Promise<boolean> {
  const rows = await sql(
    tx,
    `INSERT INTO inbox (consumer, event_id, type, subject, request_id, attempt) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING RETURNING event_id`,
    [consumer, event.id, event.type, event.subject, event.requestId, attempt],
  );
  return rows.length === 1;
}
