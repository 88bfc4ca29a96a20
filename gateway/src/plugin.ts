// The shop's plugin for express-gateway: the guard in front of every pipeline, the policy of the API, and those of the
// pages.
import { createPages, type MetricsAddresses, type ShownEmails } from '@shop/web';
import { type ApiOptions, api } from './api.ts';
import type { EnginePlugin } from './engine/engine.ts';
import { guard } from './entry/guard.ts';
import type { Middleware } from './entry/policy.ts';
import { Traffic } from './entry/traffic.ts';
import { health } from './health.ts';
import { pageLimit } from './limits/rate-limit.ts';
import { openRateLimitStore } from './limits/rate-limit-store.ts';
import { pagePolicies, withHelp } from './pages.ts';
import { askService } from './upstream/ask-service.ts';
import { observeUpstreams } from './upstream/measure-attempt.ts';
import { UpstreamDirectory } from './upstream/upstream.ts';

export interface PluginOptions extends Omit<ApiOptions, 'upstreams' | 'addresses'> {
  /** Whether the process is stopping. */
  readonly draining: () => boolean;
  /** Whether the board is shown, and where it reads the metrics of all processes. */
  readonly board: boolean;
  readonly metrics?: MetricsAddresses | undefined;
  /** Whether browsers get the example storefront at `/`. */
  readonly storefront: boolean;
  /** The e-mails that are shown to clients on this machine; undefined for none. */
  readonly emails?: ShownEmails | undefined;
}

export interface GatewayPlugin extends EnginePlugin {
  /** Adds the pages for browsers at addresses where nothing is. */
  withHelp(handle: Middleware): Middleware;
}

export function createPlugin(options: PluginOptions): GatewayPlugin {
  const { store, verifier, draining, metrics, emails, storefront, log } = options;
  const upstreams = new UpstreamDirectory(log);
  const addresses = new Set<string>();
  observeUpstreams(upstreams);
  const traffic = options.board ? new Traffic() : undefined;
  const board = traffic && {
    upstreams: () => upstreams.views,
    traffic: () => traffic.figures(performance.now()),
    isValid: (authorization: string) => verifier.known(authorization) !== undefined,
    ask: askService(upstreams),
    draining,
    metrics,
  };
  const pages = createPages({ board, emails, storefront });
  return {
    name: 'shop',
    upstreams,
    policies: [
      api({ ...options, upstreams, addresses }),
      pageLimit(store),
      health(upstreams, draining, openRateLimitStore(undefined, log)),
      ...pagePolicies(pages, { ...options, upstreams }),
    ],
    middleware: [guard(options.guard), ...(traffic === undefined ? [] : [traffic.middleware])],
    withHelp: (handle) => withHelp(handle, pages, addresses),
  };
}
