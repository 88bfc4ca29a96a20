// Policy `health`: whether the gateway lives, and whether it is worth sending requests to.

import { clientNetwork } from '../entry/client-network.ts';
import { actionSchema, type GatewayRequest, type GatewayResponse, type Policy } from '../entry/gateway-request.ts';
import { sendDocument } from '../entry/send-response.ts';
import type { RateLimitStore } from '../limits/rate-limit-store.ts';
import { type Rate, TokenBucket } from '../limits/token-bucket.ts';
import type { UpstreamDirectory } from '../upstream/upstream.ts';
import { isRead } from './read-only.ts';

/** For each address, and counted apart from all else: a balancer's probes come once a second, or a few times. */
const rate: Rate = { steady: 100, seconds: 1, reserve: 1_000, reserveSeconds: 60 };

/**
 * @param draining true from the moment the process was told to stop
 * @param counters of this process: a probe does not wait for Redis
 */
export function health(services: UpstreamDirectory, draining: () => boolean, counters: RateLimitStore): Policy {
  const allowance = new TokenBucket(counters, 'health', rate);

  const answer = (request: GatewayRequest, response: GatewayResponse): void => {
    if (!isRead(request, response)) return;
    const headers = ['Cache-Control', 'no-store'];
    if (request.path === '/health/live') {
      sendDocument(request, response, { text: JSON.stringify({ status: 'live' }), headers });
      return;
    }
    const states = [...services.states];
    const ready = !draining() && states.every(([, up]) => up);
    const checks = Object.fromEntries(states.map(([name, up]) => [name, up ? 'ok' : 'failing']));
    const text = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks });
    sendDocument(request, response, { status: ready ? 200 : 503, text, headers });
  };

  return {
    name: 'health',
    schema: actionSchema('health'),
    policy: () => (request, response, next) => {
      allowance
        .take(request, clientNetwork(request.client))
        .then(() => answer(request, response))
        .catch(next);
    },
  };
}
