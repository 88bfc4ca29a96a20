// The present request, in asynchronous context. The log and spans read its id and trace from here. Operations read them
// from their arguments.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface RequestScope {
  /** The request id. While an event is handled, the id of the request that caused the event. */
  readonly id: string;
  /** W3C trace context of the present step. */
  readonly traceparent: string | undefined;
}

const scopes = new AsyncLocalStorage<RequestScope>();
const atStart = AsyncLocalStorage.snapshot();

/** Runs `work` and its asynchronous continuations as part of the request. */
export function inRequest<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/**
 * Runs `work` outside the request that started it. For example, a connection may close long after the request that
 * opened it. Timers and connections that outlive the request then retain no reference to it.
 */
export function outsideRequests<T>(work: () => T): T {
  return atStart(work);
}

/** Returns the present request; undefined for work that no request caused. */
export function requestNow(): RequestScope | undefined {
  return scopes.getStore();
}
