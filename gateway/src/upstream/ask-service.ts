// Requests of the board to the services, with the operator's own token: the services check the permission.
import type { BoardOptions } from '@shop/web';
import type { GatewayConfig } from '../entry/gateway-config.ts';
import { openUpstream } from './forward.ts';
import type { UpstreamDirectory } from './upstream.ts';

const answerWithin = 3_000;
const ofEmails = {
  serviceEndpoint: 'notifications',
  connections: 4,
  connectTimeout: 1_000,
  bodyTimeout: answerWithin,
  isNeeded: false,
} as const;

/** Opens the upstream that serves only the board. Without it, the board shows no e-mails. */
export function openEmailUpstream(upstreams: UpstreamDirectory, config: GatewayConfig): void {
  if (config.serviceEndpoints[ofEmails.serviceEndpoint] !== undefined)
    openUpstream(upstreams, ofEmails, config, answerWithin);
}

/** Returns the function with which the board calls the active upstreams. */
export function askService(upstreams: UpstreamDirectory): BoardOptions['ask'] {
  return async (service, path, { authorization = '', id, traceparent }) => {
    const upstream = upstreams.all.find(({ name }) => name === service);
    if (upstream === undefined) throw new Error(`the configuration has no service ${service}`);
    const host = upstream.choose();
    if (host === undefined) throw upstream.unavailable();
    try {
      const { statusCode, body } = await host.pool.request({
        method: 'GET',
        path,
        headers: { authorization, 'x-request-id': id, traceparent },
        signal: AbortSignal.timeout(answerWithin),
      });
      const text = await body.text();
      if (statusCode === 404) return undefined;
      if (statusCode !== 200) throw new Error(`${service} answered ${statusCode}`);
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw upstream.unavailable(cause);
    }
  };
}
