// The interface that RabbitMQ and pg-boss both implement.
import type { Log, StartError } from '../runtime/index.ts';

/** One event to publish. */
export interface Message {
  readonly id: string;
  readonly type: string;
  /** CloudEvents JSON. */
  readonly content: string;
}

/**
 * What became of a message: `confirmed` lies in every queue that takes it, `unroutable` lies in none, of `unknown` nothing is
 * known. All but the confirmed have to be published again.
 */
export type Outcome = 'confirmed' | 'unroutable' | 'unknown';

/** One arrival of a message at a consumer. */
export interface Delivery {
  readonly content: string;
  /** 1 at the first delivery; counts failures, not the times that it was put off. */
  readonly attempt: number;
}

/**
 * What the consumer made of it: taken; to come again because this attempt failed (`failed`, counted) or because something that
 * it needs is away (`later`, not counted); or never to come again (`dead`).
 */
export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed' | 'later' | 'dead'; readonly reason: string };

export interface Subscription {
  /** The consumer, one of the topology. */
  readonly consumer: string;
  /** How many deliveries are in work at once. */
  readonly prefetch: number;
  /** Never rejects. */
  readonly take: (delivery: Delivery) => Promise<Verdict>;
}

export interface DeadLetter {
  readonly consumer: string;
  /** What `replay` and `discard` take. The event's id, where the content is an event. */
  readonly id: string;
  readonly reason: string;
  readonly attempts: number;
  /** RFC 3339, or undefined when the broker does not know. */
  readonly deadAt: string | undefined;
  readonly content: string;
}

/** Messages that wait to be taken, that come again after a delay, and that were given up. */
export interface QueueDepth {
  readonly waiting: number;
  readonly delayed: number;
  readonly dead: number;
}

export interface Transport {
  /** Publishes a batch and waits for the confirms; outcomes in the order of the messages. Rejects when the broker is away. */
  publish(messages: readonly Message[]): Promise<readonly Outcome[]>;
  /** Starts a consumer; it goes on after every loss of the broker. The returned function stops it and waits for what is in work. */
  subscribe(subscription: Subscription): Promise<() => Promise<void>>;
  /** How many messages lie in a consumer's queues. */
  depth(consumer: string): Promise<QueueDepth>;
  /** The oldest dead letters of a consumer; they stay where they are. */
  deadLetters(consumer: string, limit: number): Promise<readonly DeadLetter[]>;
  /** Puts one dead letter into its consumer's queue again, with its attempts forgotten; false when there is none of that id. */
  replay(consumer: string, id: string): Promise<boolean>;
  /** Deletes one dead letter; false when there is none of that id. */
  discard(consumer: string, id: string): Promise<boolean>;
  /** Rejects, saying why, unless the broker can be published to and consumed from now. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Consumer → event types that it takes, and how failed deliveries are repeated. */
export interface Topology {
  readonly consumers: Readonly<Record<string, readonly string[]>>;
  /** Retries after the first attempt; then the dead letter. */
  readonly retries: number;
  /** Delay before the first retry in seconds (whole, at least 1); doubles with each. */
  readonly retryDelay: number;
}

/** The delay before each retry, in seconds. */
export function retryDelays({ retries, retryDelay }: Topology): number[] {
  return Array.from({ length: retries }, (_, index) => retryDelay * 2 ** index);
}

/**
 * When a delivery that was not taken comes again: in how many seconds, and as which attempt. Undefined when it is a dead letter.
 * @param attempt which it was, from 1
 */
export function nextTry(
  topology: Topology,
  attempt: number,
  kind: Exclude<Verdict['kind'], 'done'>,
): { readonly delay: number; readonly attempt: number } | undefined {
  const delays = retryDelays(topology);
  const delay = kind === 'failed' ? delays[attempt - 1] : kind === 'later' ? delays[0] : undefined;
  return delay === undefined ? undefined : { delay, attempt: kind === 'failed' ? attempt + 1 : attempt };
}

export interface TransportOptions {
  /**
   * `amqp://`, `amqps://` (RabbitMQ) or `postgres://` (pg-boss). The query parameter `namespace` keeps several shops on one
   * server apart: it begins the names in RabbitMQ (default `shop`) and is the schema of pg-boss (default `events`). With
   * `declare=own` this process makes only the queues that it consumes from: for a user of RabbitMQ with no further rights.
   */
  readonly url: string;
  /** Shown by the broker beside the connections. */
  readonly name: string;
  readonly topology: Topology;
  readonly log: Log;
  /**
   * Publishes again what these consumers take: one of their queues was found gone, and what it held with it. Given by processes
   * that have an outbox. RabbitMQ only: in PostgreSQL a queue is as durable as the outbox.
   */
  readonly repeat?: (consumers: readonly string[]) => Promise<void>;
  /** How long to wait for each connection before going on without it, in milliseconds; default 5000. */
  readonly patience?: number;
  /** Told at each attempt after the wait that the broker refuses what no waiting mends. It is tried again in any case. */
  readonly refused?: (error: StartError) => void;
}

/** The default of `patience`. */
export const usualPatience = 5_000;

/** The broker is away, blocked or silent: the same call may succeed later. */
export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError';
}
