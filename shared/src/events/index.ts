// The door of events: sending them with a change, and taking each of them once.
export { appendEvent, appendEvents } from './append-event.ts';
export { type ConsumeOptions, consume, type Handlers } from './consume.ts';
export type { ConsumerName, HandlersOf } from './consumers.ts';
export { type DeadLetterDesk, openDeadLetters, type ReadableDeadLetter } from './dead-letters.ts';
export type * from './definitions.ts';
export {
  type EventHandler,
  type GatheringHandler,
  PoisonError,
  type SelectiveHandler,
  type ShopEvent,
} from './event.ts';
export { byTime, eventSteps, readEvents, type SentEvent, type TakenEvent, tellEvent, toStep } from './event-steps.ts';
export { expiredEvents } from './prune.ts';
export { type BrokerUser, brokerDefinitions } from './rabbitmq-definitions.ts';
export { longestLag, type Relay, startRelay, waitingSince } from './relay.ts';
export { type Events, shopTopology, startEvents } from './start-events.ts';
export { BrokerAwayError, connectTransport, type Topology, type Transport } from './transport.ts';
