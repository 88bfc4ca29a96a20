// Events: publishes them together with a change, and handles each of them once.
export { appendEvent, appendEvents, type NewEvent } from './append-event.ts';
export { connectTransport } from './connect-transport.ts';
export { type ConsumeOptions, consume, type Handlers } from './consume.ts';
export { type ConsumerName, consumers, type HandlersOf } from './consumers.ts';
export { type DeadLetterStore, openDeadLetters, type ReadableDeadLetter } from './dead-letters.ts';
export {
  type BatchHandler,
  type EventHandler,
  PoisonError,
  type SelectiveHandler,
  type ShopEvent,
} from './event.ts';
export { eventHistory, type HistoryStep, toTraceStep } from './event-history.ts';
export { eventsUrl } from './events-url.ts';
export type { EventPayloads, EventType } from './generated.ts';
export { type AddedListener, eventTypes, type Listener, type Listeners, openListeners } from './listeners.ts';
export { type BrokerUser, brokerDefinitions, brokerUsers } from './rabbitmq/definitions.ts';
export { type Backlog, longestLag, readBacklog } from './relay/outbox.ts';
export { type Relay, startRelay } from './relay/relay.ts';
export { republishEvents } from './republish-events.ts';
export { expiredEvents } from './retention.ts';
export { shopTopology } from './retry-policy.ts';
export { type Events, startEvents } from './start-events.ts';
export { BrokerUnavailableError, type Topology, type Transport } from './transport.ts';
