// The consumers that the services' asyncapi.yaml define; each has one durable queue. Every process declares the queues
// of all consumers, so that an event that is published before its consumer first runs waits in a queue. With
// `declare=own` a process declares its own queue only, and the broker's definitions contain the others.
import type { Handler } from './event.ts';
import { consumers } from './generated.ts';

export { consumers };

export type ConsumerName = keyof typeof consumers;

/** Exactly one handler for each event type that the consumer handles. */
export type HandlersOf<Name extends ConsumerName> = {
  readonly [Type in (typeof consumers)[Name][number]]: Handler<Type>;
};
