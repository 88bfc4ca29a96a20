// The events that wait in each outbox, and the dead letters of each consumer.

import { withClient } from '@shop/shared/database';
import { type Backlog, BrokerUnavailableError, readBacklog, shopTopology } from '@shop/shared/events';
import { serviceNames } from '@shop/shared/shop';
import { connectWithin } from './database.ts';
import { deadLettersPerRead, withDeadLetters } from './dead-letters.ts';
import type { OpenShop } from './open-shop.ts';

export interface Outbox extends Backlog {
  readonly service: string;
}

export interface DeadLetters {
  readonly consumer: string;
  readonly letters: number;
  /** Its events that failed and wait for another attempt. */
  readonly retrying: number;
}

/** Reads the outbox of each service with the role that owns it. */
export async function readOutboxes({ databases }: OpenShop): Promise<Outbox[]> {
  return Promise.all(
    serviceNames.map(async (service) => ({
      service,
      ...(await withClient({ url: databases[service], connectWithin }, readBacklog)),
    })),
  );
}

/** Returns undefined when the broker does not respond. */
export async function countDeadLetters(shop: OpenShop): Promise<DeadLetters[] | undefined> {
  try {
    return await withDeadLetters(shop, async (deadLetters) => {
      const [letters, retrying] = await Promise.all([
        deadLetters.list(undefined, deadLettersPerRead),
        deadLetters.retrying(),
      ]);
      return Object.keys(shopTopology.consumers).map((consumer) => ({
        consumer,
        letters: letters.filter((letter) => letter.consumer === consumer).length,
        retrying: retrying[consumer] ?? 0,
      }));
    });
  } catch (error) {
    if (error instanceof BrokerUnavailableError) return undefined;
    throw error;
  }
}
