// Which request is being worked on: what runs for it finds its id and trace without being handed them. Meant for the log and
// for spans; an operation takes what it needs from its arguments.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface RequestScope {
  /** The request id; for what an event causes, that of the request behind the event. */
  readonly id: string;
  /** W3C trace context of the present step. */
  readonly traceparent: string | undefined;
}

const scopes = new AsyncLocalStorage<RequestScope>();
const atStart = AsyncLocalStorage.snapshot();

/** Runs `work`, and everything that it waits for, as part of the request. */
export function inRequest<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/**
 * Runs what a request set going but what is not about it, such as the end of a connection that it happened to open. What
 * outlives the request, a timer or a connection, keeps nothing of it.
 */
export function outsideRequests<T>(work: () => T): T {
  return atStart(work);
}

/** The request that this runs for; undefined for what the process does by itself. */
export function requestNow(): RequestScope | undefined {
  return scopes.getStore();
}
