// The interface that RabbitMQ and pg-boss both implement.
import type { Log, StartError } from '../runtime/index.ts';

/** One event to publish. */
export interface Message {
  readonly id: string;
  readonly type: string;
  /** The event as CloudEvents JSON. */
  readonly content: string;
}

/**
 * The outcome of publishing a message: `confirmed` is in every queue of its type, `unroutable` is in no queue, and
 * `unknown` may be in a queue. All messages that are not confirmed have to be published again.
 */
export type Outcome = 'confirmed' | 'unroutable' | 'unknown';

/** One delivery of a message to a consumer. */
export interface Delivery {
  readonly content: string;
  /** The number of the attempt, from 1. It counts failed attempts, but not rescheduled ones. */
  readonly attempt: number;
}

/**
 * The consumer's verdict on a delivery: handled; to be retried because this attempt failed (`failed`, counted) or
 * because a dependency is unavailable (`later`, not counted); or never to be retried (`dead`).
 */
export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed' | 'later' | 'dead'; readonly reason: string };

export interface Subscription {
  /** The name of the consumer in the topology. */
  readonly consumer: string;
  /** The maximum number of concurrent deliveries. */
  readonly prefetch: number;
  /** Never rejects. */
  readonly handle: (delivery: Delivery) => Promise<Verdict>;
}

export interface DeadLetter {
  readonly consumer: string;
  /** The id for `replay` and `discard`. It is the event's id when the content is an event. */
  readonly id: string;
  readonly reason: string;
  readonly attempts: number;
  /** The time in RFC 3339; undefined when the broker has not recorded it. */
  readonly deadAt: string | undefined;
  readonly content: string;
}

/** The numbers of messages that are ready, that wait for a retry, and that are dead letters. */
export interface QueueDepth {
  readonly waiting: number;
  readonly delayed: number;
  readonly dead: number;
}

export interface Transport {
  /**
   * Publishes a batch and waits for the confirms. Returns outcomes in the order of the messages. Rejects when the
   * broker is unavailable.
   */
  publish(messages: readonly Message[]): Promise<readonly Outcome[]>;
  /**
   * Starts a consumer. It survives every loss of the broker. The returned function stops it and waits for deliveries in
   * progress.
   */
  subscribe(subscription: Subscription): Promise<() => Promise<void>>;
  /** Returns the number of messages in a consumer's queues. */
  depth(consumer: string): Promise<QueueDepth>;
  /** Returns the oldest dead letters of a consumer. They stay in their queue. */
  deadLetters(consumer: string, limit: number): Promise<readonly DeadLetter[]>;
  /**
   * Returns one dead letter to its consumer's queue, and resets its attempts. Resolves to false when no dead letter has
   * that id.
   */
  replay(consumer: string, id: string): Promise<boolean>;
  /** Deletes one dead letter. Resolves to false when no dead letter has that id. */
  discard(consumer: string, id: string): Promise<boolean>;
  /** Rejects with the reason when publishing or consuming is not possible at present. Otherwise it resolves. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Consumer → event types that it handles, and the retries of failed deliveries. */
export interface Topology {
  readonly consumers: Readonly<Record<string, readonly string[]>>;
  /** The number of retries after the first attempt. Then the message becomes a dead letter. */
  readonly retries: number;
  /** The delay before the first retry, in whole seconds, at least 1. It doubles with each retry. */
  readonly retryDelay: number;
}

export interface TransportOptions {
  /**
   * `amqp://`, `amqps://` (RabbitMQ, with one host or several, separated by commas) or `postgres://` (pg-boss). The
   * query parameter `namespace` separates several shops on one server: it is the prefix of the names in RabbitMQ
   * (default `shop`) and the schema of pg-boss (default `events`). With `declare=own`, this process declares only the
   * queues that it consumes from, as a RabbitMQ user with no further rights must.
   */
  readonly url: string;
  /** The name of the connections at the broker. */
  readonly name: string;
  readonly topology: Topology;
  readonly log: Log;
  /** Milliseconds to wait for each connection before the start continues without it; default 5000. */
  readonly connectTimeout?: number;
  /**
   * Called when the broker rejects the connection for a reason that retrying cannot fix, such as a wrong password.
   * Retries continue.
   */
  readonly refused?: (error: StartError) => void;
}

/** The default of `connectTimeout`. */
export const usualConnectTimeout = 5_000;

/** The broker is unavailable, blocked or silent: the same call may succeed later. */
export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError';
}
