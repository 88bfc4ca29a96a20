// Step `rate-limit` of API requests, and policy `limit` of pages: how many requests one account or client network may
// send.
import { clientNetwork } from '@shop/shared/runtime';
import type { GatewayRequest } from '../entry/gateway-request.ts';
import { actionSchema, type Policy } from '../entry/policy.ts';
import { type ApiLimit, rateSchema } from './limit-config.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import { type Rate, TokenBucket } from './token-bucket.ts';

/** Pages and OPTIONS requests do not belong to an operation. All of them share one bucket for each client network. */
const noOperation = 'others';

/**
 * Takes a request from the bucket of its operation.
 * @returns a function that rejects with Problem 429 when the bucket is empty
 */
export function limitRate(store: RateLimitStore, limit: ApiLimit): (request: GatewayRequest) => Promise<void> {
  const buckets = new Map<string, TokenBucket>();
  for (const [id, own] of Object.entries(limit.operations ?? {})) buckets.set(id, new TokenBucket(store, id, own.rate));
  return (request) => {
    const id = request.operation?.operationId ?? noOperation;
    let bucket = buckets.get(id);
    if (bucket === undefined) {
      bucket = new TokenBucket(store, id, limit.rate);
      buckets.set(id, bucket);
    }
    return bucket.take(request, clientNetwork(request.client), request.caller?.accountId);
  };
}

/** Returns the policy `limit`, which limits the rate of page requests of each client network. */
export function pageLimit(store: RateLimitStore): Policy {
  return {
    name: 'limit',
    schema: actionSchema('limit', { rate: rateSchema }),
    policy(action: { readonly rate: Rate }) {
      const take = limitRate(store, action);
      return (request, _response, next) => {
        take(request).then(() => next(), next);
      };
    },
  };
}
