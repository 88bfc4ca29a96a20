// Starts the relay and the consumer of a service, and their connection to the broker.
import type { Database } from '../database/index.ts';
import type { Log, StartError } from '../runtime/index.ts';
import { observe } from '../telemetry/index.ts';
import { connectTransport } from './connect-transport.ts';
import { consume } from './consume.ts';
import type { ConsumerName, HandlersOf } from './consumers.ts';
import { waitingSince } from './relay/outbox.ts';
import { startRelay } from './relay/relay.ts';
import { shopTopology } from './retry-policy.ts';
import type { Transport } from './transport.ts';
import { loadEventSchemas } from './validate-event.ts';

export interface EventsOptions<Name extends ConsumerName> {
  /** The name of the service, such as `orders`: the source of its events and the name of its connections. */
  readonly service: string;
  /** The value of EVENTS_URL: `amqp://…` or `postgres://…`. */
  readonly url: string;
  /** The service's DATABASE_URL, for the relay's own connection. */
  readonly databaseUrl: string;
  readonly database: Database;
  readonly log: Log;
  /**
   * Called when the broker rejects the credentials, or its topology exists with other arguments. Retrying cannot fix
   * that.
   */
  readonly refused: (error: StartError) => void;
  /** The consumer; absent in a service that only sends events. */
  readonly consume?: { readonly name: Name; readonly handlers: HandlersOf<Name> } | undefined;
}

export interface Events {
  /** Rejects with the reason unless the broker can be reached. Used by the readiness check. */
  ping(): Promise<void>;
  /** Returns the seconds since the oldest unpublished event became due; 0 without one. */
  lag(): Promise<number>;
  /** Stops consuming, and waits for the deliveries and the batch in progress. */
  close(): Promise<void>;
}

/** Starts relay and consumer, and waits for neither: a service also starts while the broker is unavailable or slow. */
export async function startEvents<Name extends ConsumerName>(options: EventsOptions<Name>): Promise<Events> {
  const { service, database, databaseUrl, log } = options;
  loadEventSchemas();
  const transport = await connectTransport({
    url: options.url,
    name: service,
    topology: shopTopology,
    log,
    connectTimeout: 0,
    refused: options.refused,
  });
  const relay = startRelay({ databaseUrl, transport, source: `/${service}`, log });
  const taking = options.consume;
  const stopConsuming =
    taking === undefined
      ? undefined
      : await consume({ name: taking.name, handlers: taking.handlers, transport, database, log });
  const lag = async (): Promise<number> => {
    // The oldest events are among the first rows, because an event that no queue accepts is rescheduled by only a few
    // seconds.
    const { rows } = await database.pool.query<{ lag: number }>(
      `SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(since))), 0)::float8 AS lag
       FROM (
         SELECT ${waitingSince} AS since FROM outbox WHERE published_at IS NULL ORDER BY next_attempt_at, id LIMIT 1000
       ) AS first`,
    );
    return rows[0]?.lag ?? 0;
  };
  observeEvents(lag, transport, taking?.name);
  return {
    ping: () => transport.ping(),
    lag,
    async close() {
      await stopConsuming?.();
      await relay.close();
      await transport.close();
    },
  };
}

/** Reports the outbox of the service, and the queues that it consumes from. */
function observeEvents(lag: () => Promise<number>, transport: Transport, consumer: string | undefined): void {
  const age = {
    unit: 's',
    description: 'Seconds for which the oldest unpublished event in the outbox has been due.',
  };
  observe('shop.outbox.lag', age, async (report) => report(await lag()));
  if (consumer === undefined) return;
  const messages = { unit: '{message}', description: 'Messages in the queues of a consumer, by their state.' };
  observe('shop.queue.depth', messages, async (report) => {
    const about = { 'messaging.consumer.group.name': consumer };
    for (const [state, count] of Object.entries(await transport.depth(consumer))) {
      report(count, { ...about, 'shop.state': state });
    }
  });
}
