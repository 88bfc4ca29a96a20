// The HTTP layer of a service: everything between the socket and the operations.
export { requireMatch, requireNoneMatch, toEtag, toWeakEtag } from './conditional.ts';
export { type AppOptions, createApp } from './create-app.ts';
export { expiredResponses, type IdempotencyContext, idempotent, problemResult, storedResponse } from './idempotent.ts';
export { createInternalClient, type InternalClient } from './internal-client.ts';
export {
  type OperationRequest,
  type Operations,
  type Result,
  requireCaller,
  type TypedOperation,
  type TypedRequest,
} from './operation.ts';
export { parseBody } from './read-body.ts';
export { requestIdentity } from './request-identity.ts';
export type { CachedResponse, ResponseCache } from './response-cache.ts';
export { serve } from './serve.ts';
