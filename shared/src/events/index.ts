// The door of events: sending them with a change, and taking each of them once.
export { appendEvent, appendEvents, type NewEvent } from './append-event.ts';
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
export {
  byTime,
  eventSteps,
  readEvents,
  type SentEvent,
  type TakenEvent,
  type TraceStep,
  tellEvent,
  toStep,
} from './event-steps.ts';
export { expiredEvents } from './prune.ts';
export { type BrokerDefinitions, type BrokerUser, brokerDefinitions } from './rabbitmq-definitions.ts';
export { longestLag, type Relay, type RelayOptions, startRelay, waitingSince } from './relay.ts';
export { type Events, type EventsOptions, shopTopology, startEvents } from './start-events.ts';
export {
  BrokerAwayError,
  connectTransport,
  type DeadLetter,
  type QueueDepth,
  type Topology,
  type Transport,
  type TransportOptions,
} from './transport.ts';
