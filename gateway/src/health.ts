// Policy `health`: whether the gateway is alive, whether it accepts requests, and whether the services are ready, too.
import { clientNetwork } from '@shop/shared/runtime';
import type { GatewayRequest, GatewayResponse } from './entry/gateway-request.ts';
import { actionSchema, type Policy } from './entry/policy.ts';
import { isRead } from './entry/read-only.ts';
import { sendDocument } from './entry/send-response.ts';
import type { RateLimitStore } from './limits/rate-limit-store.ts';
import { type Rate, TokenBucket } from './limits/token-bucket.ts';
import type { UpstreamDirectory } from './upstream/upstream.ts';

/**
 * The rate for each client network, separate from all other limits. A load balancer probes once or a few times a
 * second.
 */
const rate: Rate = { steady: 100, seconds: 1, reserve: 1_000, reserveSeconds: 60 };

/**
 * @param draining true after the process was told to stop
 * @param store of this process, so that a probe does not wait for Redis
 */
export function health(upstreams: UpstreamDirectory, draining: () => boolean, store: RateLimitStore): Policy {
  const bucket = new TokenBucket(store, 'health', rate);

  const answer = (request: GatewayRequest, response: GatewayResponse): void => {
    if (!isRead(request, response)) return;
    const headers = ['Cache-Control', 'no-store'];
    if (request.path === '/health/live') {
      sendDocument(request, response, { body: JSON.stringify({ status: 'live' }), headers });
      return;
    }
    const accepts = !draining();
    if (request.path === '/health/accepting') {
      const body = JSON.stringify({ status: accepts ? 'accepting' : 'stopping' });
      sendDocument(request, response, { status: accepts ? 200 : 503, body, headers });
      return;
    }
    const states = [...upstreams.states];
    const ready = accepts && states.every(([, up]) => up);
    const checks = Object.fromEntries(states.map(([name, up]) => [name, up ? 'ok' : 'failing']));
    const body = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks });
    sendDocument(request, response, { status: ready ? 200 : 503, body, headers });
  };

  return {
    name: 'health',
    schema: actionSchema('health'),
    policy: () => (request, response, next) => {
      bucket
        .take(request, clientNetwork(request.client))
        .then(() => answer(request, response))
        .catch(next);
    },
  };
}
