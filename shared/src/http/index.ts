// The HTTP layer of a service: everything between the socket and the operations.
export { etagOf, requireMatch, requireNoneMatch, weakEtagOf } from './conditional.ts';
export { type AppOptions, createApp } from './create-app.ts';
export { expiredResponses, type IdempotencyContext, idempotent, problemReply, storedResponse } from './idempotent.ts';
export { createInternalClient, type InternalClient } from './internal-client.ts';
export {
  callerOf,
  type OperationRequest,
  type Operations,
  type Reply,
  type TypedOperation,
  type TypedRequest,
} from './operation.ts';
export { parseBody } from './read-body.ts';
export { requestIdentity } from './request-identity.ts';
export type { CachedResponse, ResponseCache } from './response-cache.ts';
export { serve } from './serve.ts';
