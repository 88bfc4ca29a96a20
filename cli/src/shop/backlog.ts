// How the events are getting on: what waits in each outbox, and what no consumer could take.

import { withClient } from '@shop/shared/database';
import { BrokerUnavailableError, shopTopology, waitingSince } from '@shop/shared/events';
import { serviceNames } from '@shop/shared/runtime';
import { connectWithin } from './database.ts';
import { deadLettersPerRead, withDeadLetters } from './dead-letters.ts';
import type { OpenShop } from './open-shop.ts';

export interface Outbox {
  readonly service: string;
  /** Events that are not published yet. */
  readonly waiting: number;
  /** For how long the oldest of them has been due, in seconds; 0 when there is none. */
  readonly lagSeconds: number;
}

export interface DeadLetters {
  readonly consumer: string;
  readonly letters: number;
}

const waiting = `
  SELECT count(*)::int AS waiting,
    coalesce(extract(epoch FROM clock_timestamp() - min(${waitingSince})), 0)::float8 AS lag
  FROM outbox WHERE published_at IS NULL`;

/** Each outbox is read as the role that owns it. */
export async function readOutboxes({ databases }: OpenShop): Promise<Outbox[]> {
  return Promise.all(
    serviceNames.map(async (service) => {
      const { rows } = await withClient({ url: databases[service], connectWithin }, (client) =>
        client.query<{ waiting: number; lag: number }>(waiting),
      );
      return { service, waiting: rows[0]?.waiting ?? 0, lagSeconds: Math.max(0, Math.round(rows[0]?.lag ?? 0)) };
    }),
  );
}

/** Undefined when the broker does not answer. */
export async function countDeadLetters(shop: OpenShop): Promise<DeadLetters[] | undefined> {
  try {
    return await withDeadLetters(shop, async (deadLetters) => {
      const letters = await deadLetters.list(undefined, deadLettersPerRead);
      return Object.keys(shopTopology.consumers).map((consumer) => ({
        consumer,
        letters: letters.filter((letter) => letter.consumer === consumer).length,
      }));
    });
  } catch (error) {
    if (error instanceof BrokerUnavailableError) return undefined;
    throw error;
  }
}
