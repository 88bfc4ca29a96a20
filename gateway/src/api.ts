// Policy `api`: the one path of every API request, from the contract of its operation to the upstream.
import { resolve } from 'node:path';
import type { TokenVerifier } from '@shop/shared/auth';
import type { Log } from '@shop/shared/runtime';
import { authenticate } from './entry/authenticate.ts';
import type { GatewayRequest, GatewayResponse } from './entry/gateway-request.ts';
import type { GuardOptions } from './entry/guard.ts';
import { matchOperation, readPublicOperations } from './entry/match-operation.ts';
import { actionSchema, type Policy, type Step } from './entry/policy.ts';
import { sendProblem } from './entry/send-response.ts';
import { limitFailedAttempts } from './limits/failed-attempts.ts';
import { type ApiLimit, apiLimitSchema } from './limits/limit-config.ts';
import type { OpenStreams } from './limits/open-streams.ts';
import { limitRate } from './limits/rate-limit.ts';
import type { RateLimitStore } from './limits/rate-limit-store.ts';
import { limitRefusals } from './limits/refusal-limit.ts';
import { type ForwardConfig, forward, forwardSchema, openUpstream } from './upstream/forward.ts';
import type { UpstreamDirectory } from './upstream/upstream.ts';

export interface ApiOptions {
  /** The configuration folder. Contracts are named relative to it. */
  readonly folder: string;
  readonly verifier: TokenVerifier;
  readonly store: RateLimitStore;
  readonly streams: OpenStreams;
  readonly upstreams: UpstreamDirectory;
  /** The maximum size of a request's body, and the deadline for its arrival. */
  readonly guard: GuardOptions;
  /** Gets the paths of the operations that are forwarded. */
  readonly addresses: Set<string>;
  readonly log: Log;
}

interface ApiAction {
  readonly contract: string;
  readonly limit: ApiLimit;
  /** The upstream. Without it, the next policy of the pipeline responds to the admitted requests. */
  readonly forward?: ForwardConfig;
}

const required = actionSchema('api', { contract: { type: 'string' }, limit: apiLimitSchema });
const schema = { ...required, properties: { ...(required.properties as object), forward: forwardSchema } };

export function api(options: ApiOptions): Policy {
  const { folder, verifier, store, streams, upstreams, guard, addresses, log } = options;
  return {
    name: 'api',
    schema,
    policy({ contract, limit, forward: target }: ApiAction, { gatewayConfig }) {
      const operations = readPublicOperations(resolve(folder, contract));
      const unknown = Object.keys(limit.operations ?? {}).find((id) => !operations.ids.has(id));
      if (unknown !== undefined) throw new Error(`the limit of ${unknown} belongs to no operation of ${contract}`);
      const takeFromLimit = limitRate(store, limit);
      const checks: readonly Step[] = [
        matchOperation(operations, guard.maximumBody),
        authenticate(verifier, takeFromLimit),
        takeFromLimit,
        limitRefusals(store, limit),
        limitFailedAttempts(store, limit, guard.maximumBody),
        streams.limit(limit),
      ];
      if (target === undefined) {
        return (request, response, next) => {
          run(checks, request, response).then(() => next(), next);
        };
      }
      for (const path of operations.paths) addresses.add(path);
      const upstream = openUpstream(upstreams, target, gatewayConfig, guard.deadline);
      const steps = [...checks, forward(upstream, guard.maximumBody)];
      return (request, response) => {
        request.leaveEngine();
        run(steps, request, response).catch((error: unknown) => sendProblem(request, response, error, log));
      };
    },
  };
}

/**
 * Runs the steps in order. A step that returns no promise does not delay the request to another turn of the event loop.
 */
async function run(steps: readonly Step[], request: GatewayRequest, response: GatewayResponse): Promise<void> {
  for (const step of steps) {
    const pending = step(request, response);
    if (pending !== undefined) await pending;
  }
}
